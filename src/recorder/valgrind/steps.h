/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Puts into translated code what writes each step to the recorder's stream
 * (recorder/stream.h), and describes the superblock for the trace.
 *
 * Of an address or a value that is the sum of a constant and one that the step
 * already has, nothing is written: the superblock says so.
 */
#ifndef RECORDER_VALGRIND_STEPS_H
#define RECORDER_VALGRIND_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include <pub_tool_basics.h>

#include <pub_tool_tooliface.h>

struct recorder;
struct steps;

/*
 * Of a superblock whose copy is begun; NULL if no steps are recorded, which all
 * functions below take. It lives until the next superblock.
 */
struct steps *steps_create(struct recorder *recorder, const IRSB *in,
			   IRSB *out);

/*
 * Before the first instruction; function: the WATCH_STRING function that it is
 * the entry of, or 0.
 */
void steps_begin(struct steps *steps, uint64_t address, uint32_t function);
/* The next instruction. */
void steps_instruction(struct steps *steps, uint32_t length);

/* After a statement that sets a temporary. */
void steps_assign(struct steps *steps, IRTemp temp, const IRExpr *data);

struct steps_access {
	IRExpr *address;
	uint64_t displacement; /* added to the address */
	IRExpr *value; /* an atom; NULL: none */
	IRExpr *done; /* an I64, an I1, or NULL: always */
	uint32_t size;
	uint32_t flags; /* TRACE_READS or TRACE_WRITES, and TRACE_ATOMIC */
};

/* After the statement that makes it. */
void steps_access(struct steps *steps, const struct steps_access *access);

/* Before a statement by which the superblock may be left. */
void steps_exit(struct steps *steps);
/* Behind the last one. */
void steps_end(struct steps *steps);

#endif

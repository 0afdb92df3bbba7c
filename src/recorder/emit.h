/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns what a recorder keeps into chunks of the trace.
 */
#ifndef RECORDER_EMIT_H
#define RECORDER_EMIT_H

#include <stdbool.h>
#include <stdint.h>

struct block;
struct recorder;
struct thread;
struct trace_lock;
struct use;

void emit_thread(struct recorder *recorder, const struct thread *thread);
void emit_module(struct recorder *recorder, uint32_t module);
/* A block whose module is gone. */
void emit_unload(struct recorder *recorder, uint32_t module);

/* Of the stack of a context only. 0: of none. */
uint32_t emit_stack(struct recorder *recorder, uint32_t context);

/*
 * The granules that [address, address + size) touches, which are forgotten then.
 * block: what has them, or NULL.
 */
void emit_forgotten(struct recorder *recorder, uint64_t address, uint64_t size,
		    struct block *block);
void emit_free(struct recorder *recorder, const struct block *block,
	       const struct thread *thread);

/* Bounded chunks: each counts, written or not. */
void emit_event(struct recorder *recorder, uint32_t kind,
		const struct trace_lock *lock);
void emit_transfer(struct recorder *recorder, struct use *use, uint64_t address,
		   uint64_t size, int number, int fd);
/* unless forced, only when the thread changed, or 1 ms has passed. */
void emit_clock(struct recorder *recorder, bool forced);

/* The recorder cannot record something that the current thread does. */
void emit_unable(struct recorder *recorder, const char *text);

/* All granules, threads and uses: the trace is complete so far. */
void emit_all(struct recorder *recorder);
/* The end, after emit_all(); reason is trace_end's. */
void emit_end(struct recorder *recorder, int status, uint32_t reason);

/* With TRACE_LOSSLESS: an access of the current thread. */
void emit_access(struct recorder *recorder, struct use *use, uint64_t address,
		 uint64_t size);

#endif

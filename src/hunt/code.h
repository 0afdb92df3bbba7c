/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The instructions of recordings, by files and offsets, so that those of several
 * processes are the same: their names, whether they are the program's own, and
 * what their functions look like. Files are opened when something is asked of
 * them; one that is missing, or of another build now, has no names.
 */
#ifndef HUNT_CODE_H
#define HUNT_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "hunt/trace-format.h"

struct code;
struct error;
struct hunt_place;
struct recording;
struct recording_descriptor;

struct error *code_create(struct code **ret);
/* NULL is fine. */
void code_destroy(struct code *code);

/* The number of an instruction of a recording, from 0; the same in each. */
struct error *code_number(struct code *code, const struct recording *recording,
			  const struct trace_place *place, uint32_t *ret);

/*
 * Is it left out: of the loader, of a threading runtime, or of the C library and
 * not in one of its memory and string functions? By the rules of sampling.
 */
bool code_is_runtime(struct code *code, uint32_t number, uint32_t flags);

/* Is it in a program or library that is none of the system's? */
bool code_is_own(struct code *code, uint32_t number);

/* Fill in the file, its build id and the offset; for the caller to free. */
struct error *code_place(const struct code *code, uint32_t number,
			 struct hunt_place *ret);

/* The function, demangled, for the caller to free; *ret NULL: unknown. */
struct error *code_function(struct code *code, uint32_t number, char **ret);

/*
 * A hash of the function: of its name and file, and of its instructions without the
 * distances to other code and data in them, which change when something else does;
 * 0: unknown. *ret_offset: where in the function the instruction is.
 */
void code_function_hash(struct code *code, uint32_t number, uint64_t *ret,
			uint64_t *ret_offset);

/*
 * The same of all calls in the recorded stack of who executed it; 0: one is not
 * known. A caller may take a lock, or not any more.
 */
struct error *code_stack_hash(struct code *code,
			      const struct recording *recording,
			      const struct recording_descriptor *descriptor,
			      uint64_t *ret);

/*
 * The name of bytes of a recording's memory, by the variables of its modules or
 * by their heap block (0: none); *ret NULL: unknown. For the caller to free.
 */
struct error *code_variable(struct code *code,
			    const struct recording *recording, uint64_t address,
			    uint32_t size, uint32_t block, char **ret);

#endif

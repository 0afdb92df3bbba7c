/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Puts calls of the recorder into translated code (libvex_ir.h of Valgrind).
 */
#ifndef RECORDER_VALGRIND_INSTRUMENT_H
#define RECORDER_VALGRIND_INSTRUMENT_H

#include <stdbool.h>
#include <stdint.h>

struct recorder;

/* A superblock of Valgrind's, instrumented: IRSB *, which is returned anew. */
void *instrument_block(struct recorder *recorder, void *block);

/*
 * Does an instruction of AVX-512 begin there? A block that comes to one tells the
 * recorder that Valgrind cannot run it (emit_unable()): the SIGILL that follows
 * may have no handler, and is then seen by no tool.
 */
bool instrument_is_evex(const uint8_t *code);

#endif

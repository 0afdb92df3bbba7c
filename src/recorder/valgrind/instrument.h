/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Puts calls of the recorder into translated code (libvex_ir.h of Valgrind).
 */
#ifndef RECORDER_VALGRIND_INSTRUMENT_H
#define RECORDER_VALGRIND_INSTRUMENT_H

struct recorder;

/* A superblock of Valgrind's, instrumented: IRSB *, which is returned anew. */
void *instrument_block(struct recorder *recorder, void *block);

#endif

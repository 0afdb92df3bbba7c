/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that a detector puts in the place of the C library's, and what lies
 * around a thread's function.
 */
#ifndef FOREIGN_INTERCEPT_H
#define FOREIGN_INTERCEPT_H

#include <stdbool.h>
#include <stddef.h>

struct race_frame;
struct vec;

/* Is it of the detector, or of the C library? */
bool intercept_is(const struct race_frame *frame);

/* The place of the innermost frame (of struct race_frame) that is not; 0: all are. */
size_t intercept_skip(const struct vec *frames);

/* That frame; NULL: there is none. */
const struct race_frame *intercept_caller(const struct vec *frames);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which frames of a stack are one line of text: two and more in a row that are
 * code of libraries and runtimes, if another frame of the stack is the program's
 * own. Their numbers stay with the others.
 */
#ifndef REPORT_FOLDING_H
#define REPORT_FOLDING_H

#include <stddef.h>

struct strbuf;
struct vec;

/* Frames from `at' on that are one line; 1: that frame is shown. */
size_t folding_count(const struct vec *frames, size_t at);

/* "... 5 frames of libstdc++, libc" */
void folding_add(struct strbuf *line, const struct vec *frames, size_t at,
		 size_t count);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stack as lines of text, in columns of its own: for stacks that stand alone
 * (of a crash, of where a thread was created).
 */
#ifndef REPORT_TEXT_STACK_H
#define REPORT_TEXT_STACK_H

#include <stddef.h>

struct text;
struct vec;

/*
 * Of struct race_frame, the innermost `max', and how many more there are;
 * "(no stack)" when there are none.
 */
void text_add_stack(struct text *text, const struct vec *frames, size_t max,
		    int indent);

#endif

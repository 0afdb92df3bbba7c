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
 * Of struct race_frame, the innermost, in `max' lines, and how many more there
 * are; "(no stack)" when there are none. With full stacks, all of them.
 */
void text_add_stack(struct text *text, const struct vec *frames, size_t max,
		    int indent);

/*
 * The same of a call: what is above the first frame of the program's own sources,
 * as the inside of std::lock_guard, is left out; the numbers stay.
 */
void text_add_call(struct text *text, const struct vec *frames, size_t max,
		   int indent);

#endif

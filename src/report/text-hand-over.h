/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hand-overs as text (ATDetector, MICRO 2011, figure 9): the two accesses that are
 * in order, and between them who provided the address, and who received it, each
 * with its stack.
 */
#ifndef REPORT_TEXT_HAND_OVER_H
#define REPORT_TEXT_HAND_OVER_H

struct hunt_side;
struct text;

/* Nothing of a side that no hand-over has ordered. */
void text_hand_overs(struct text *text, const struct hunt_side *side);

#endif

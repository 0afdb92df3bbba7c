/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hand-overs (report/hand-over.h) in words, for every format that people read. As
 * in phrase.h, foreign text comes out visible.
 */
#ifndef REPORT_PHRASE_HAND_OVER_H
#define REPORT_PHRASE_HAND_OVER_H

struct hunt_hand_over;
struct recorded_access;
struct strbuf;

/*
 * "thread 0.1 stored it in `slot`", "thread 0.1 sent it by a system call", "thread
 * 0.1 freed the block at 0x4a4f040"
 */
void phrase_add_sending(struct strbuf *line,
			const struct hunt_hand_over *hand_over);
/* "thread 0.2 loaded it", "thread 0.2 allocated it" */
void phrase_add_receiving(struct strbuf *line,
			  const struct hunt_hand_over *hand_over);

/*
 * Of what comes after the hand-over in the receiver: ", 12 instructions later, 3 of
 * which moved it"; nothing where none are known to lie between
 */
void phrase_add_distance(struct strbuf *line,
			 const struct hunt_hand_over *hand_over);

/* "thread 0.1 wrote 8 bytes": one of the pair that is ordered */
void phrase_add_ordered(struct strbuf *line,
			const struct recorded_access *access);

#endif

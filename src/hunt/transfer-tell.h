/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hand-overs as a report tells them (ATDetector, MICRO 2011, figure 9): who
 * provided the address, who received it, where, and in which memory.
 */
#ifndef HUNT_TRANSFER_TELL_H
#define HUNT_TRANSFER_TELL_H

struct code;
struct error;
struct hunt_side;
struct recording;
struct transfer_pair;

/* Append the pair's example, of this recording, to the side's hand-overs. */
struct error *transfer_tell(const struct transfer_pair *pair,
			    const struct recording *recording,
			    struct code *code, struct hunt_side *side);

/*
 * What put the side in order, by its hand-overs, of which there is one: "its
 * address: thread 0.1 stored it in `slot` (send), thread 0.2 loaded it (receive)".
 * NULL: out of memory. For the caller to free.
 */
char *transfer_text(const struct hunt_side *side);

#endif

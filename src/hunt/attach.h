/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives a race that a hunt has met what the recording knows of its side. */
#ifndef HUNT_ATTACH_H
#define HUNT_ATTACH_H

#include <stdbool.h>

struct error;
struct hunt_side;
struct race;
struct symbolizer;

/*
 * Is the race of the side: one of its accesses is the side's instruction (a thread
 * may have been held at a partner, waiting for the side), and its fingerprint is
 * the one that the side has met; "": that is not known.
 */
bool attach_fits(const struct race *race, const struct hunt_side *side,
		 const char *fingerprint);

/*
 * Fill in race->recorded, which is empty, and that of its sides, with the names
 * of their frames.
 */
struct error *attach_recorded(struct symbolizer *symbolizer,
			      const struct hunt_side *side, struct race *race);

/* Fill in the names of the frames of what has ordered the side. */
struct error *attach_names(struct symbolizer *symbolizer,
			   struct hunt_side *side);

#endif

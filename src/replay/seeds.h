/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages that any race of a program may use: the data of its modules, as locks and
 * the allocator have it. The first instance of a race knows nothing of what it will
 * miss, and where a race happens once in a run, it is the only one.
 */
#ifndef REPLAY_SEEDS_H
#define REPLAY_SEEDS_H

#include "replay/likely.h"

struct mappings;

enum {
	/* the most of a module: of what its file has, and of what begins as zeros */
	SEEDS_DATA = 8,
	SEEDS_ZEROS = 16,
};

/*
 * The first pages of each module's data, by address, until *ret is full. A module is a
 * file of which there is code, with data behind it. What cannot be read of
 * /proc/PID/maps is none. Costs a system call for each mapping (mappings_walk()).
 */
void seeds_find(struct mappings *mappings, struct replay_hints *ret);

#endif

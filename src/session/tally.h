/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was seen of each program, by the path of its executable: a script may
 * run one of them many times.
 */
#ifndef SESSION_TALLY_H
#define SESSION_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct tally {
	char *path;
	uint64_t processes; /* that ran it, by WIRE_PROCESS */
	uint64_t threads; /* of one of them, most at a time */
	uint64_t samples, stalled; /* as in struct wire_stats */
	uint64_t races;
};

/*
 * The position in a vec of struct tally of that path, which is added if need
 * be. SIZE_MAX: out of memory.
 */
size_t tally_find(struct vec *tallies, const char *path);

/* Add what one program came to. False: out of memory. */
bool tally_add(struct vec *tallies, const char *path,
	       const struct tally *figures);

/* Is there something to say of it: had it a second thread, or samples? */
bool tally_is_told(const struct tally *tally);

/* Those with the most samples first, of several as many by their paths. */
void tally_sort(struct vec *tallies);

void tally_deinit(struct vec *tallies);

#endif

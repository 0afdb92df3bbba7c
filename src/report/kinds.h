/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The races of many runs, one of each kind (race_key()): two of a kind are
 * combined. When they exceed their memory, all are written to files, by kind,
 * and combined again at the end; this is correct because combining is
 * associative. Part of merge.h.
 */
#ifndef REPORT_KINDS_H
#define REPORT_KINDS_H

#include <stddef.h>

#include "base/map.h"
#include "base/vec.h"

struct error;
struct race;
struct race_output;
struct sorter;

struct kinds {
	size_t limit; /* bytes of races in memory */
	struct vec table; /* of struct kinds_entry */
	struct map by_hash;
	size_t memory; /* that the table has */
	struct sorter *groups; /* NULL: all are in the table */
};

void kinds_init(struct kinds *kinds, size_t limit);
void kinds_deinit(struct kinds *kinds);

/* A normal race (race_normalize()); it is then empty, but for an error. */
struct error *kinds_add(struct kinds *kinds, struct race *race);

/* The most races that are compared with each other; that takes milliseconds. */
enum { KINDS_RELATED_MAX = 1024 };

/*
 * Return one of each kind, in an arbitrary order; none is left. With what the
 * replays of all races on its bytes say (related_sum_replays()), if there are not
 * too many of them.
 */
struct error *kinds_finish(struct kinds *kinds,
			   const struct race_output *output);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The races of the run that is being read: a run writes a race again when it
 * has seen it again, and the last of each id counts. When they take more than
 * their memory they go to files, by id. Part of merge.h.
 */
#ifndef REPORT_PENDING_H
#define REPORT_PENDING_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct error;
struct race;
struct race_output;
struct sorter;

struct pending {
	size_t limit; /* bytes of races in memory */
	struct vec races; /* of struct race: the last of each id */
	struct map by_id; /* place in races */
	size_t memory; /* that the races have */
	uint64_t order; /* of those in files */
	struct sorter *spilled; /* NULL: all are in memory */
};

void pending_init(struct pending *pending, size_t limit);
void pending_deinit(struct pending *pending);

/* One without an id (0) replaces none. It is then empty, but for an error. */
struct error *pending_add(struct pending *pending, struct race *race);

/* The run has ended: put out its races; none is left. */
struct error *pending_finish(struct pending *pending,
			     const struct race_output *output);

#endif

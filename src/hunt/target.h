/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the traces of a recorded run to the sides that are worth a try, the most
 * promising first. What a side is: report/target-record.h.
 *
 * Two accesses are a pair (RaceHunter, definitions 2 and 10) if they are of
 * different threads of a process, have bytes in common, one writes, one is not
 * atomic, and no creation or join of threads orders them. Locks and times rank
 * pairs, and never drop one: both sides of the paper's listing 1 hold the same
 * lock.
 *
 * Left out are accesses of the dynamic loader, the C library (but for its memory
 * and string functions) and threading runtimes, as in racewatch-run(1), and the
 * pairs of two processes.
 */
#ifndef HUNT_TARGET_H
#define HUNT_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "report/target-record.h"

struct error;

struct hunt_pairing {
	/* only processes whose executable's path or name matches; NULL: all */
	const char *program;
	/*
	 * CPU time of the recorded run by that of a bare one; 0: what the
	 * recorder takes usually.
	 */
	double slow_down;
	/*
	 * sides that are kept, the best of them, at most; 0: all. What is left
	 * out is counted.
	 */
	size_t most;
};

struct hunt_totals {
	uint64_t traces; /* files */
	uint64_t cut; /* of these, without their end: the process crashed */
	uint64_t threads, accesses, cells, dropped;
	uint64_t pairs_all; /* of instructions: with runtimes and loader */
	uint64_t
		pairs_unordered; /* of these, less what create and join order */
	uint64_t pairs; /* and less runtimes and loader: these are searched */
	uint64_t sides, sides_left_out;
};

/*
 * Read DIR/trace.* and append the sides (struct hunt_side) in the order in which
 * to try them, numbered from 1. A trace that was cut short counts as far as it
 * goes, and that is told (base/log). Errors name the file and the place;
 * ERROR_FORMAT: corrupt; ERROR_USAGE: no trace is there, or none matches. The
 * caller ends each side by hunt_side_deinit().
 */
struct error *hunt_targets_from_traces(const char *dir,
				       const struct hunt_pairing *options,
				       struct vec *sides,
				       struct hunt_totals *ret_totals);

#endif

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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/target-record.h"

struct candidates;
struct error;

struct hunt_pairing {
	/* only processes whose executable's path or name matches; NULL: all */
	const char *program;
	/*
	 * CPU time of the recorded run by that of a bare one; 0: the greatest
	 * that recorders are known to take, for which holds are shortest but
	 * for their 10 ms. So measure it.
	 */
	double slow_down;
	/*
	 * sides to be tried that are kept, the best of them, at most; 0: all.
	 * What is left out is counted.
	 */
	size_t most;
	/* only sides of these, which learn of them; NULL: all sides */
	struct candidates *candidates;
	bool quiet; /* no warnings of traces that lack something */
	/*
	 * Pairs that a handed-over address puts in order (hunt/transfer.h) have no
	 * sides that are to be tried: those that they have come last, and their
	 * hand_overs say why. Recordings have steps for that.
	 */
	bool transfer;
	uint64_t window, registers; /* as struct transfers has them */
};

struct hunt_totals {
	uint64_t traces; /* files */
	uint64_t cut; /* of these, without their end: the process was killed */
	uint64_t threads, accesses;
	uint64_t granules; /* that two threads accessed */
	/*
	 * Granules with accesses that the recorder has not kept, since many
	 * instructions made some there: conflicts may be missing.
	 */
	uint64_t crowded;
	uint64_t left_out; /* cells that were not compared: pairs.h */
	uint64_t starved; /* accesses that it has not kept for want of memory */
	/* of instructions that conflict */
	uint64_t pairs_all;
	uint64_t pairs_own; /* less those of runtimes and the loader */
	uint64_t pairs; /* less those that creations and joins order */
	uint64_t transferred; /* of these, ordered by a handed-over address */
	uint64_t unplaced; /* of the rest, accesses that cannot be told apart */
	uint64_t sides, sides_left_out;
};

/* Has the program this path or name? NULL: any has. */
bool hunt_wants_program(const char *pattern, const char *program);

/*
 * Read the traces, path/trace.* or path itself, and append the sides (struct hunt_side) in the order in which
 * to try them, numbered from 1. A trace that was cut short counts as far as it
 * goes, and that is told (base/log). Errors name the file and the place;
 * ERROR_FORMAT: corrupt; ERROR_USAGE: no trace is there, or none matches. The
 * caller ends each side by hunt_side_deinit().
 */
struct error *hunt_targets_from_traces(const char *path,
				       const struct hunt_pairing *options,
				       struct vec *sides,
				       struct hunt_totals *ret_totals);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The crash record: how the watched program died of a signal, and the races
 * that came before it. Owns its strings; NULL means unknown.
 */
#ifndef REPORT_CRASH_H
#define REPORT_CRASH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* A race that came before, and what it has in common with the crash. */
struct crash_race {
	uint64_t id; /* of the race record; 0: it is not in the report */
	char fingerprint[33]; /* and its fingerprint by names */
	uint64_t before_ns; /* from its last sighting to the crash */
	bool same_address; /* the faulting address is among its bytes */
	bool same_object; /* ... or in the same line of 64 bytes */
	/*
	 * a value that was seen there is the pointer that was dereferenced: the
	 * faulting address is it, or that of a member behind it
	 */
	bool same_pointer;
	/*
	 * a function of the race is in the crash's stack, or the other way
	 * round
	 */
	bool same_function;
	char *variable; /* its name */
};

struct race;

struct crash {
	uint64_t time; /* wall clock, ns */
	int signal;
	int pid, tid;
	char *thread; /* its name */
	bool has_address; /* a fault (SIGSEGV, SIGBUS ...) */
	uint64_t address; /* the faulting one */
	struct vec frames; /* of struct race_frame, innermost first */
	struct vec races; /* of struct crash_race, nearest first */
};

/* All zero and empty; end with crash_deinit(). */
void crash_init(struct crash *crash);
void crash_deinit(struct crash *crash);

/*
 * Compare with a race that came before, and append it to races. All but these
 * must be set already. False when out of memory.
 */
bool crash_add_race(struct crash *crash, const struct race *race);

/* The nearest in time first. */
void crash_sort_races(struct crash *crash);

#endif

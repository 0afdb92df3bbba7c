/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the replays of a race came to. An instance is one moment at which both
 * accesses were about to be made; it is run in several orders in a copy of the
 * program, and the states at the end are compared: Narayanasamy et al.,
 * PLDI'07, sections 4.2 and 4.3. Here the instances of a race are counted; the
 * words of racewatch-json(5) name what came out.
 *
 * Fields are read, written and freed by the tables (field.h) as a part of the
 * race record, which owns all of it.
 */
#ifndef REPORT_RACE_REPLAY_H
#define REPORT_RACE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct fields;
struct race;

/* Of one instance, and of all: the gravest of them. */
enum race_replay_outcome {
	RACE_REPLAY_NONE, /* there was no instance */
	RACE_REPLAY_FAILURE, /* the instance could not be run in every order */
	RACE_REPLAY_SAME, /* every order led to the same state */
	RACE_REPLAY_CHANGE, /* some order led to another state */
	RACE_REPLAY_FAULT, /* a signal ended some order, and not another */
};

/* A variable as one order left it. */
struct replay_note_change {
	const char *variable; /* "shards[3].used"; never NULL */
	const char *schedule; /* "ab" */
	const char *value; /* as text, "100" */
	bool beyond; /* it has none of the raced bytes */
	bool overlap; /* the order is an overlap as in struct replay_note */
};

/* The result of one instance. All is borrowed for the call. */
struct replay_note {
	enum race_replay_outcome outcome; /* not RACE_REPLAY_NONE */
	const char *failure; /* of RACE_REPLAY_FAILURE: its name, "rdtsc" */
	/* a change reaches other bytes, or a register */
	bool beyond;
	bool registers; /* a register differs that the caller may read */
	/*
	 * An order in which the two regions overlap leads to what neither of
	 * them whole before the other leads to: they are not atomic, and harm
	 * each other as no lock around them would let them.
	 */
	bool overlap;
	/* that goes beyond the raced bytes: to other memory, to a register */
	bool overlap_memory, overlap_registers;
	/*
	 * In no order did the raced bytes change, and what is stored there is
	 * not always the same: such an instance tells nothing. With bits that
	 * are set already, or a list that has come to contain itself, a store
	 * comes to the same in any order, and not so in another state.
	 */
	bool still;
	/* ... but two stores that depend on no such bytes (replay/instance.h) */
	bool blind;
	bool redone; /* an access was made again, in the copy */
	/*
	 * Both accesses are the first of their functions: orders of the regions
	 * are orders of the functions. In no order did one wait for the other
	 * and that come to something else.
	 */
	bool first;
	int signal; /* of RACE_REPLAY_FAULT, with the next four */
	bool handled; /* the program has a handler for the signal */
	bool executes; /* a jump to the address, where no code is */
	uint64_t fault_address;
	const char *const *fault_schedules; /* ended by NULL */
	/* those of the raced bytes first; what is too much is left out */
	const struct replay_note_change *changes;
	size_t change_count;
};

/* Changes that are kept: some variables in each of eight orders. */
enum { RACE_REPLAY_CHANGES_MAX = 32 };

struct race_replay_failure {
	char *name;
	uint64_t count;
};

/* One of struct replay_note_change. */
struct race_replay_change {
	char *variable, *schedule, *value;
	bool beyond, overlap;
};

struct race_replay_fault {
	int signal; /* the smallest of all; 0: no instance had a fault */
	/* where all faults have the same; else RACE_REPLAY_NOWHERE */
	uint64_t address;
	char **schedules; /* of all faults, sorted, ended by NULL; or NULL */
	bool handled, executes; /* of each; see struct replay_note */
};

#define RACE_REPLAY_NOWHERE UINT64_MAX

struct race_replay {
	uint64_t instances; /* run in every order: the failures are not in it */
	/* of the instances: RACE_REPLAY_CHANGE and RACE_REPLAY_FAULT */
	uint64_t changes, faults;
	/* of the changes and faults: as in struct replay_note */
	uint64_t beyond, registers;
	uint64_t overlaps, overlap_memory, overlap_registers;
	uint64_t still, redone; /* of the instances: the same */
	uint64_t blind; /* of the still ones */
	/*
	 * Of the changes: those without such an overlap, both accesses of which
	 * are the first of their functions. Either function whole before the
	 * other leads to all that came out.
	 */
	uint64_t serial;
	struct vec failures; /* of struct race_replay_failure, by name */
	/*
	 * Of struct race_replay_change: of one instance, so that the values
	 * belong together. Of one with an overlap (struct replay_note), if there
	 * is one; of these one whose change goes beyond, if there is one.
	 */
	struct vec changed;
	struct race_replay_fault fault;
};

/*
 * What the replays of all races on the same bytes say, and those beside and behind
 * against it; related.h sets it.
 */
struct race_replay_related {
	uint64_t instances; /* of all of them */
	uint64_t telling; /* those that are not still */
	uint64_t blind; /* of the still ones */
	uint64_t fewest; /* instances of one of the races */
	uint64_t races;
	bool changed; /* an instance of one came to a change or a fault */
	/*
	 * ... of which each is serial, and of a race between one side that only
	 * reads and one that writes
	 */
	bool serial;
	bool unlike; /* one has a failure that may be an effect */
};

extern const struct fields race_replay_fields;

/* Count an instance of the race. False when out of memory. */
bool race_replay_add(struct race *race, const struct replay_note *note);

/*
 * Add what `other' has, which is unspecified afterwards but may be ended. What
 * comes out does not depend on the order. False when out of memory.
 */
bool race_replay_combine(struct race_replay *replay, struct race_replay *other);

/* Of all instances. */
enum race_replay_outcome race_replay_outcome(const struct race_replay *replay);

/* "no-state-change"; NULL for RACE_REPLAY_NONE. */
const char *race_replay_outcome_name(enum race_replay_outcome outcome);

/* That name of RACE_REPLAY_SAME, which is also the reason of a verdict. */
#define RACE_REPLAY_SAME_NAME "no-state-change"

/*
 * The reason of a verdict where all that came out is what one of two whole
 * functions before the other leads to.
 */
#define RACE_REPLAY_EITHER_NAME "either-order"

/* Is the first the reason why the race is unlikely? Such races are shown last. */
bool race_replay_settles(const struct race *race);

/* Is either of the two? */
bool race_replay_excuses(const struct race *race);

/* Of all names. */
uint64_t race_replay_failures(const struct race_replay *replay);

/*
 * Does one of them leave open whether the order has an effect? So it is where
 * code went another way in another order, or was not run to its end.
 */
bool race_replay_is_unlike(const struct race_replay *replay);

/*
 * With REPLAY_CONFIDENCE: at most this share of the instances, of which
 * `instances' independent ones had no effect, has one. 1 of none.
 */
#define REPLAY_CONFIDENCE 0.95
double race_replay_bound(uint64_t instances);

#endif

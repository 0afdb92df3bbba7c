/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --on-race: what is done when a race is reported that decides about the exit
 * status (race_is_actionable()).
 *
 *	report      nothing else
 *	stop        the program is left stopped at the race, for a debugger
 *	core        the same, until a core file is written; then it goes on
 *	exec:CMD    CMD gets the race's JSON on its standard input
 *
 * Stopping is the session's; here is what comes after, and commands. They run
 * beside the session, which never waits for them, with a time limit; all are
 * reaped. Nothing here stops or delays the program.
 */
#ifndef OUTPUT_ONRACE_H
#define OUTPUT_ONRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct error;
struct race;

enum onrace_action { ONRACE_REPORT, ONRACE_STOP, ONRACE_CORE, ONRACE_EXEC };

struct onrace {
	enum onrace_action action;
	const char *command; /* of ONRACE_EXEC; borrowed */
	struct vec running; /* of struct onrace_child */
	struct vec waiting; /* of int: files with the JSON of a race each */
	uint64_t refused; /* races for which no command was run */
};

/* What is wrong with the option's argument, or NULL. */
struct error *onrace_check(const char *text);

/* Parse the option's argument; NULL is "report". ERROR_USAGE. */
struct error *onrace_init(struct onrace *onrace, const char *text);
void onrace_deinit(struct onrace *onrace);

/* Does the session have to stop the program at a race? */
bool onrace_stops(const struct onrace *onrace);

/* Such a race was reported for the first time, or its verdict is graver. */
void onrace_race(struct onrace *onrace, const struct race *race);

/* The session has left these processes stopped (0: none). */
void onrace_stopped(struct onrace *onrace, const int pids[2]);

/* Reap what has ended, end what takes too long, start what waits. */
void onrace_poll(struct onrace *onrace);

/* The session is over: wait for what still runs, within its time limit. */
void onrace_finish(struct onrace *onrace);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run of the command in which threads are held at sides, one after the other
 * (tracer/hunt.h), and what comes of each.
 */
#ifndef HUNT_HOLDING_H
#define HUNT_HOLDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/target-record.h"
#include "session/session.h"

struct error;
struct judge;
struct rules;
struct sources;

struct holding_config {
	char *const *argv;
	uint64_t timeout_ns; /* the run is ended after it; 0: never */
	uint32_t replay_instances; /* of each race; 0: none */
	bool silent; /* the command's output goes nowhere */
	bool until_all; /* a hold waits for all partners of its side */
	const char *
		until_exit_of; /* the client (session/companion.h); NULL: none */
	const char *backend; /* a name of tracee/backend.h, or "auto" */
	struct judge *judge; /* NULL: none */
	struct sources *sources; /* of races; NULL: none */
	const struct rules *rules;
};

struct holding_side {
	const struct hunt_side *side;
	uint64_t hold_ns; /* for this run */
	/*
	 * From here on filled in. TARGET_PENDING: it was not tried, since no
	 * register was free in time, or its thread died while it was held; with
	 * a race, it was held until its time was over (until_all) and has met
	 * that one before, or has seen no more of it than a changed value.
	 */
	struct target_outcome outcome;
	bool synchronizes; /* it has met accesses that synchronize */
};

/* What a run has to tell besides; each may be NULL. */
struct holding_sink {
	void *context;
	/* at the end: all races, const struct race *, numbered; borrowed */
	void (*races)(void *context, const struct vec *races);
	void (*crash)(void *context, const struct crash *crash);
	void (*note)(void *context, const char *text);
};

/*
 * Run the command once. At most HUNT_SIDES_MAX sides, in the order in which to
 * try them. *ret_status is that of the command, or of its client, as of a shell;
 * EXIT_TIMED_OUT after timeout_ns.
 * Errors are those of session_run() and companion_start(), or ERROR_FORMAT: a
 * side's thread path is none.
 */
struct error *holding_run(const struct holding_config *config,
			  struct holding_side *sides, size_t count,
			  const struct holding_sink *sink,
			  struct session_result *ret, int *ret_status);

/*
 * "0.1" as a place among the threads of a process, whose first has the length 0.
 * False: it is no thread path, or too deep. Only exposed for tests.
 */
bool holding_parse_path(const char *text, struct wire_hunt *ret);

#endif

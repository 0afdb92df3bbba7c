/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer process: the only one that ptraces. It parses no files and serves
 * the front end over a channel. When the channel closes, it restores the target
 * and exits, so that the front end's death does not harm the program.
 */
#ifndef TRACER_TRACER_H
#define TRACER_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/message.h"
#include "wire/tracing.h"

struct error;
struct heartbeat;
struct pidref;

struct tracer_config {
	char *const *argv; /* start this; NULL: attach */
	const int *pids; /* attach to these */
	size_t pid_count;
	const struct pidref *held; /* pid_count, of pids; NULL: not held */
	struct tracing tracing;
	uint64_t rest_ns; /* see struct session_config */
	/* threads of a conflict wait for WIRE_JUDGED; see freeze.h */
	bool hold_conflicts;
	const struct wire_provoke *provoke; /* a race to be provoked; or NULL */
	bool hunts; /* sides will come by WIRE_HUNT */
	uint32_t record_executions; /* of each site, by WIRE_RECORD; or 0 */
	bool silent; /* the command's output goes nowhere, and it has no input */
	uint64_t seed;
	struct wire_params params; /* to begin with */
};

struct tracer {
	pid_t pid;
	struct heartbeat *heartbeat; /* the caller's to destroy */
	int fd; /* the front end's end of the channel */
};

/*
 * Fork the tracer. It reports with WIRE_STARTED or WIRE_FAILED. The caller owns
 * fd and reaps pid. Call it early, while the front end is small: the tracer
 * shares its pages.
 */
struct error *tracer_spawn(const struct tracer_config *config,
			   struct tracer *ret);

#endif

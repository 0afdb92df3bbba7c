/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session with its output, from start to exit status: the session runs, and
 * what came of it is said.
 */
#ifndef OUTPUT_WATCHING_H
#define OUTPUT_WATCHING_H

#include <stdint.h>

#include "output/silence.h"
#include "session/session.h"

struct error;
struct output;

struct watching_plan {
	struct session_config session;
	struct silence_asked asked; /* but for whether it ended */
	struct output *output; /* initialized; its caller ends it */
	uint64_t error_exitcode; /* if a new race is reported; 0: none */
};

/*
 * *ret_status is what racewatch exits with (racewatch(1), EXIT STATUS). Errors
 * are those of session_run(); if no time was watched then (output->counts), there
 * is no summary.
 */
struct error *watching_run(const struct watching_plan *watching,
			   int *ret_status);

#endif

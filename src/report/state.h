/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file of --state: it is read at the start of a session, and what the
 * session has learned is added at its end.
 */
#ifndef REPORT_STATE_H
#define REPORT_STATE_H

#include <stdbool.h>

#include "report/learned.h"

struct error;

struct state {
	const char *path; /* NULL: nothing is read or written */
	struct learned learned; /* for the session, which adds to it */
	struct learned before; /* as it was read */
};

/*
 * ERROR_FORMAT if the file is no state, so that nothing is run for nothing. End
 * with state_deinit(), also after an error.
 */
struct error *state_load(struct state *state, const char *path);
void state_deinit(struct state *state);

/*
 * Add what is new to the file, to which others may have added meanwhile. False
 * if that failed, which was reported.
 */
bool state_save(struct state *state);

#endif

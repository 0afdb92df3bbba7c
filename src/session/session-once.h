/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locations that have not run yet, and functions that are found to run: what the
 * session has the tracer arm beside the pool; see session-once.c.
 */
#ifndef SESSION_SESSION_ONCE_H
#define SESSION_SESSION_ONCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct session;
struct watched_program;
struct wire_returned;

/* Arm what has not run yet, if that is asked for. */
struct error *session_feed_once(struct session *session,
				struct watched_program *program, uint64_t now);
/*
 * The same of code of which the tracer says that it runs: where no module is known
 * at the address, or the module has still to join, it waits for that.
 */
struct error *session_ran(struct session *session,
			  struct watched_program *program, uint64_t address);
/* Modules may have joined; read: after the maps were read. */
struct error *session_place_ran(struct session *session,
				struct watched_program *program, bool read);
/* WIRE_CALLERS: functions that the stack of a stopped thread leads back to run. */
struct error *session_callers(struct session *session, const void *payload,
			      size_t size);
/*
 * Look, when it is time, for functions that run on the stacks of threads that
 * sleep.
 */
struct error *session_look_at_stacks(struct session *session, uint64_t now);
/* The entry of a function has come back; its id has WIRE_ENTRY. */
void session_entry_returned(struct session *session,
			    struct watched_program *program,
			    const struct wire_returned *returned);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints beside the pool that the session sends to the tracer: locations
 * that have not run yet, and functions that are found to run; see
 * session-once.c.
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
 * The same for an address that the tracer reports. If no module is known there,
 * or the module has not joined yet, the address is kept until it has.
 */
struct error *session_ran(struct session *session,
			  struct watched_program *program, uint64_t address);
/* Modules may have joined; read: after the maps were read. */
struct error *session_place_ran(struct session *session,
				struct watched_program *program, bool read);
/* WIRE_CALLERS: functions on the stack of a stopped thread run. */
struct error *session_callers(struct session *session, const void *payload,
			      size_t size);
/*
 * The first threads of a large program wait: what can be reached from where the
 * first one stands is armed before all else.
 */
struct error *session_reach(struct session *session,
			    struct watched_program *program);
/*
 * When it is time, search the stacks of sleeping threads for functions that
 * run.
 */
struct error *session_look_at_stacks(struct session *session, uint64_t now);
/* The entry of a function has come back; its id has WIRE_ENTRY. */
void session_entry_returned(struct session *session,
			    struct watched_program *program,
			    const struct wire_returned *returned);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals to racewatch while a session runs; most are passed to the program. A
 * part of session-state.h, which includes it; not for others.
 */
#ifndef SESSION_SESSION_SIGNAL_H
#define SESSION_SESSION_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct session;

struct session_signals {
	int fd; /* of base/signalpipe.h */
	unsigned int interrupts; /* SIGINT and SIGTERM */
	uint64_t interrupt_ns; /* the last of them that counted */
	uint64_t abandon_ns; /* when the tracer is waited for no more; 0: not */
};

/* Take signals from now on. End with session_end_signals(), if that worked. */
struct error *session_begin_signals(struct session *session);
/* Restore the signal handling for the code after the event loop. */
void session_end_signals(const struct session *session);
/* Handle the pending signals. */
void session_signals(struct session *session);
/* Is the tracer waited for no more? */
bool session_is_abandoned(const struct session *session);

#endif

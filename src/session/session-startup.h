/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The startup of a program is when its second thread begins: its first threads
 * wait then until breakpoints are armed, for a while.
 */
#ifndef SESSION_SESSION_STARTUP_H
#define SESSION_SESSION_STARTUP_H

#include <stdbool.h>
#include <stdint.h>

struct session;
struct session_config;
struct watched_program;

/*
 * How late may the front end do what is due at some time? To wake up takes time
 * of its own: where little may be lost and no thread waits, it is done with what
 * the tracer's next message asks for.
 */
uint64_t session_lateness(const struct session *session);

/* How long the first threads of a program wait for sites at most. */
uint64_t session_startup_ns(const struct session_config *config);
/*
 * Of a large program, whose functions' entries are armed: have its first threads
 * waited for long enough, and was what they are likely to run sent?
 */
bool session_startup_suffices(const struct watched_program *program,
			      uint64_t now);
/* All that they wait for was sent. */
void session_end_startup(struct session *session,
			 struct watched_program *program);
/*
 * Do libraries wait? Reading one takes longer than a program's first threads may
 * be kept waiting for the program's own sites; and when these go on, a processor
 * that a library is read with is one that they lack.
 */
bool session_own_first(const struct session *session,
		       const struct watched_program *program, uint64_t now);
/*
 * Are sites to be drawn for the pool? Not while the first threads wait, or are
 * still to come: what is drawn would not be armed once, and has less of a chance.
 */
bool session_draws(const struct session *session,
		   const struct watched_program *program);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The session's state, shared by its files: session.c (start, loop, end),
 * session-feed.c (images and the queue of sites), session-message.c (what the
 * tracer says), session-conflict.c (what it says of conflicts) and
 * session-crash.c (of deaths). Not for others.
 */
#ifndef DETECT_SESSION_STATE_H
#define DETECT_SESSION_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "detect/conflict.h"
#include "detect/governor.h"
#include "detect/session.h"
#include "detect/watched.h"
#include "report/dedupe.h"
#include "wire/channel.h"

struct session {
	const struct session_config *config;
	const struct session_sink *sink;
	struct channel channel;
	pid_t tracer_pid;
	bool tracer_reaped;
	int tracer_status;
	int signal_fd;

	struct watched watched;
	struct governor governor;
	struct wire_params sent; /* the last parameters */
	struct dedupe races;
	struct map seen; /* conflict.key to struct race * */
	struct map
		places; /* conflict_place() of either side to struct race * */
	struct map settled; /* struct race * that need no more samples */
	struct map tired; /* site to the stalls that ended in one of them */
	struct session_counts counts;
	char program[WIRE_NAME];

	uint64_t started_ns; /* watching began; 0: not yet */
	uint64_t stopped_ns; /* ... and ended; 0: not yet */
	uint64_t status_ns; /* when the status is due */
	uint64_t kill_ns; /* when SIGTERM is followed by SIGKILL; 0: not */
	bool stopping; /* WIRE_STOP was sent */
	bool worth_stopping; /* the conflict at work is a race to stop at */
	bool done; /* EXITED, or DETACHED after an attach */
	bool crash_told; /* WIRE_CRASH has come of the first process */
	unsigned int interrupts;
	struct session_result result;
};

/* The target is watched, and its text may be sampled. */
static inline bool session_watches(const struct session *session)
{
	return session->started_ns && !session->stopped_ns &&
	       !session->stopping;
}

/* session-message.c: handle all messages that have come. */
struct error *session_messages(struct session *session);

/* session-conflict.c: a WIRE_CONFLICT message. */
struct error *session_conflict(struct session *session, const void *payload,
			       size_t size);

/* session-crash.c: a WIRE_CRASH message. */
void session_crash(struct session *session, const void *payload, size_t size);
/* The first process has ended, maybe after it was let go. */
void session_crash_unseen(struct session *session, int status);

/*
 * An error the session can live with becomes a note; lack of memory does not.
 */
struct error *session_tolerate(struct session *session, struct error *err);

/* session-feed.c */
/* Read the program's maps and tell the tracer what went. */
struct error *session_refresh(struct session *session,
			      struct watched_program *program);
/* Bring the next reading of all maps forward. */
void session_hurry_refresh(struct session *session);
/* When session_feed() has something to do by time alone; UINT64_MAX: never. */
uint64_t session_feed_due(const struct session *session);
/* Send parameters if they have changed. */
void session_send_params(struct session *session);
/* Fill the tracer's queue, and decode in the background. */
struct error *session_feed(struct session *session);
/* Set the counts that are not counted as things happen. */
void session_update_counts(struct session *session);

/* session.c: end the watching (WIRE_STOP); may be called again. */
void session_stop(struct session *session);
/* End the program: SIGTERM now, SIGKILL later. */
void session_end_program(struct session *session);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The session's state, shared by its files. session.c has the loop; it and
 * session-message.c (what the tracer says) call the others: session-tracer.c
 * (the tracer as a child), session-signal.c, session-feed.c (images and the
 * queue of sites), session-conflict.c and session-crash.c (conflicts and
 * deaths, reported by the tracer), session-races.c (races), session-replay.c
 * (races run again), session-tire.c (sites to leave out), session-learn.c (what
 * that teaches), session-once.c (sites that have not run), session-aim.c (those
 * that the user asked for), session-hunt.c (sides to be provoked), session-record.c (a
 * recording) and, used by
 * all of these, session-startup.c, session-send.c, session-note.c and
 * session-end.c. Not for others.
 */
#ifndef SESSION_SESSION_STATE_H
#define SESSION_SESSION_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "conflict/conflict.h"
#include "session/generated.h"
#include "session/session-aim.h"
#include "session/session-hunt.h"
#include "session/session-learn.h"
#include "session/session-once.h"
#include "session/session-races.h"
#include "session/session-record.h"
#include "session/session-replay.h"
#include "session/session-signal.h"
#include "session/session-startup.h"
#include "session/session-tire.h"
#include "session/session-tracer.h"
#include "session/session.h"
#include "session/stacks.h"
#include "session/watched.h"
#include "wire/channel.h"

struct rights;
struct session {
	const struct session_config *config;
	const struct session_sink *sink;
	struct channel channel;
	struct session_tracer tracer;
	struct session_signals signals;

	struct opener *opener; /* of files that the programs name */
	struct watched watched;
	struct generated generated;
	struct stacks stacks;
	/* sites that could be armed, as last sent to the tracer */
	uint64_t supply;
	/* that the tracer has sent, of programs that are watched */
	uint64_t samples;
	struct session_learning learning;
	struct session_aiming at; /* --at */
	struct session_hunting hunting;
	struct session_recorder recorder;
	struct session_races races;
	struct session_replays replays;
	struct session_tiring tiring;
	struct session_counts counts;
	char program[WIRE_NAME];

	uint64_t begun_ns; /* the session, before the tracer was */
	uint64_t started_ns; /* watching began; 0: not yet */
	uint64_t stopped_ns; /* ... and ended; 0: not yet */
	uint64_t status_ns; /* when the status is due */
	uint64_t kill_ns; /* when SIGTERM is followed by SIGKILL; 0: not */
	bool stopping; /* WIRE_STOP was sent */
	bool done; /* EXITED, or DETACHED after an attach */
	bool armed_told; /* when the first breakpoint was */
	bool nice; /* config.nice was added */
	bool foreign_told; /* that a process of another user is watched */
	bool crash_told; /* WIRE_CRASH has come of the first process */
	struct session_result result;
};

/* The target is watched, and its text may be sampled. */
static inline bool session_watches(const struct session *session)
{
	return session->started_ns && !session->stopped_ns &&
	       !session->stopping;
}

/* Are sites that have not run armed all at once? There must be room for them. */
static inline bool session_arms_once(const struct session_config *config)
{
	return config->effort.once_max > 0 && !config->tracing.text_untouched;
}

/* Are they, or entries of functions? */
static inline bool session_arms_unrun(const struct session_config *config)
{
	return (config->effort.once_max > 0 ||
		config->effort.entries_max > 0) &&
	       !config->tracing.text_untouched;
}

/* Is anything asked for by --at? */
static inline bool session_aims(const struct session_config *config)
{
	return config->at && config->at->count > 0;
}

/* Is it a hunt? */
static inline bool session_hunts(const struct session_config *config)
{
	return config->hunt && config->hunt->count > 0;
}

/* Is it a recording? */
static inline bool session_records(const struct session_config *config)
{
	return config->record != NULL;
}

/*
 * Is what there is to do in a program found before its first instruction, and
 * nothing sampled?
 */
static inline bool session_is_planned(const struct session_config *config)
{
	return session_hunts(config) || session_records(config);
}

/* session-message.c: handle all messages that have come. */
struct error *session_messages(struct session *session);

/* session-conflict.c: a WIRE_CONFLICT message. */
struct error *session_conflict(struct session *session, const void *payload,
			       size_t size);

/* session-feed.c: the tracer's parameters. */
struct wire_params session_params(const struct session_config *config);

/* session-crash.c: a WIRE_CRASH message. */
void session_crash(struct session *session, const void *payload, size_t size);
/* The first process has ended, maybe after it was let go. */
void session_crash_unseen(struct session *session, int status);

/*
 * session-note.c: turn an error into a note if the session can continue; not
 * ERROR_NOMEM.
 */
struct error *session_tolerate(struct session *session, struct error *err);

/* A process with these rights (NULL: ours) is watched. */
void session_tell_foreign(struct session *session, const struct rights *rights);

/* session-feed.c */
/* Read the program's maps, and tell the tracer which ranges were unmapped. */
struct error *session_refresh(struct session *session,
			      struct watched_program *program);
/* Bring the next reading of all maps forward. */
void session_hurry_refresh(struct session *session);
/* When session_feed() has something to do by time alone; UINT64_MAX: never. */
uint64_t session_feed_due(const struct session *session);
/* Fill the tracer's queue, and decode in the background. */
struct error *session_feed(struct session *session);
/* Compute the counts that are not updated continuously. */
void session_update_counts(struct session *session);
/*
 * The same for the program's own sites: only at the end, since it visits each
 * site.
 */
void session_count_own_sites(struct session *session);

/*
 * session-send.c: send drawn sites to the tracer; sites that it cannot take are
 * free again.
 */
void session_send_sites(struct session *session,
			struct watched_program *program,
			struct wire_site *sites, size_t count);
/* The tracer is told that these ranges (struct wire_range) were unmapped. */
void session_forget(struct session *session, uint32_t program,
		    const struct vec *gone);
/* Tell the tracer how many sites could be armed, if that has changed. */
void session_send_supply(struct session *session);

/* session-end.c: end the watching (WIRE_STOP); may be called again. */
void session_stop(struct session *session);
/* End the program: SIGTERM now, SIGKILL later. */
void session_end_program(struct session *session);
/* SIGKILL, if it is time for that. */
void session_kill(struct session *session, uint64_t now);
/* A signal to the program. */
void session_signal(struct session *session, int number);
/* If the program is stopped at a race, continue it. */
void session_continue(struct session *session);

#endif

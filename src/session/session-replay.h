/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replaying instances of races (PLDI'07, sections 4.2 and 4.3): the tracer sends
 * both threads of a conflict as they were held (wire/instance.h), and here they are
 * run in every order, in a copy. What comes out is counted in the race's record. A
 * part of session-state.h, which includes it; not for others.
 */
#ifndef SESSION_SESSION_REPLAY_H
#define SESSION_SESSION_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "replay/instance.h"

struct conflict;
struct conflict_context;
struct error;
struct image;
struct processor;
struct race;
struct replay_capture;
struct session;

/* What the conflict says of the instance that follows it. */
struct session_instance {
	struct race *race; /* NULL: none follows */
	/* the processes of the two threads: often one */
	struct image *images[REPLAY_THREADS];
	int pids[REPLAY_THREADS];
	const char *failure; /* why it cannot be replayed; NULL: it may */
	struct replay_question question;
	uint64_t shift; /* as struct replay_instance has it */
	/* of the functions that hold the accesses */
	uint64_t own_slots[REPLAY_THREADS];
	/* the same, or of the caller of one that only loads */
	uint64_t return_slots[REPLAY_THREADS];
	/* the access is the first of its function (sampling/first.h) */
	bool first[REPLAY_THREADS];
};

struct session_replays {
	struct processor *processor; /* NULL: none was needed yet */
	struct replay_capture *capture; /* the same */
	struct replay_result result;
	bool off; /* it cannot be done here, which was told */
	struct map index; /* wire_instance.pair to its place in `pairs' */
	struct vec pairs; /* of struct session_pair */
	struct session_instance next;
};

void session_replay_init(struct session *session);
void session_replay_deinit(struct session *session);

/*
 * The conflict was counted in the race: remember what a replay needs to know of
 * it, if an instance follows, or why none does. ERROR_NOMEM only.
 */
struct error *session_replay_expect(struct session *session,
				    const struct conflict *conflict,
				    struct race *race);

/* WIRE_INSTANCE: replay it, and tell the tracer whether to go on. */
struct error *session_replay(struct session *session, const void *payload,
			     size_t size);

/* session-revisit.c: are more instances of the race of use? */
bool session_replay_wants(const struct session *session,
			  const struct race *race);

/* CPU time of the scratch processes so far, in nanoseconds. */
uint64_t session_replay_cpu_ns(const struct session_replays *replays);

/* session-replay-question.c: fill in *ret, but for its race. */
struct error *session_replay_question(const struct conflict *conflict,
				      struct session_instance *ret);

/* session-replay-note.c: count the result in the race's record. */
struct error *session_replay_note(struct session *session,
				  const struct session_instance *instance,
				  const struct replay_result *result);
/* One that could not be run, for that reason. */
struct error *session_replay_failed(struct session *session, struct race *race,
				    const char *failure);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The races of a session. A part of session-state.h, which includes it; not for
 * others.
 */
#ifndef SESSION_SESSION_RACES_H
#define SESSION_SESSION_RACES_H

#include <stdbool.h>

#include "base/map.h"
#include "report/dedupe.h"

struct conflict;
struct conflict_context;
struct error;
struct race;
struct session;

struct session_races {
	struct dedupe all;
	struct map seen; /* conflict.key to struct race * */
	/* conflict_place() of either side to struct race * */
	struct map places;
	struct map owners; /* struct race * to its place in watched.tallies */
	bool replayed; /* some race has an instance */
	bool worth_stopping; /* the conflict at work is a race to stop at */
	struct race *met; /* the race that it is; NULL: none */
};

void session_races_init(struct session *session);
void session_races_deinit(struct session *session);

/*
 * The next conflict is none of the races so far: what a hunt meets at its next
 * side is told apart from what it has met before.
 */
void session_races_forget(struct session *session);

/*
 * Count a conflict that was seen before (*ret_known). A changed value without a
 * known writer counts too if the stalled instruction is known to race with
 * another.
 */
struct error *session_known_conflict(struct session *session,
				     const struct conflict_context *context,
				     const struct conflict *conflict,
				     bool *ret_known);

/* It has been replayed: judge it and related ones anew. */
struct error *session_replayed(struct session *session, struct race *race);

/* Describe a new conflict, judge it, and report it, maybe as a known race. */
struct error *session_new_conflict(struct session *session,
				   const struct conflict_context *context,
				   const struct conflict *conflict);

#endif

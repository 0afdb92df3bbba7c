/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sites that get no more breakpoints, since their stalls end in known races. A
 * part of session-state.h, which includes it; not for others.
 */
#ifndef SESSION_SESSION_TIRE_H
#define SESSION_SESSION_TIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct conflict;
struct race;
struct session;
struct watched_program;

struct session_tiring {
	struct map settled; /* struct race * that need no more samples */
	struct map tired; /* site to the stalls that ended in one of them */
	/* site to the stalls that ended in synchronization; or never only so */
	struct map synchronizing;
};

/* The key of a race in a map. */
static inline uint64_t session_race_key(const struct race *race)
{
	return (uint64_t)(uintptr_t)race;
}

void session_tire_deinit(struct session *session);
/* The race needs no more samples. False: out of memory. */
bool session_settle(struct session *session, const struct race *race);
/* A stall has ended in this conflict, which is this race. False: no memory. */
bool session_tire(struct session *session, const struct conflict *conflict,
		  const struct race *race);
/*
 * The program is executed once more: sites that need no more samples are left
 * out again.
 */
void session_taken_over(struct session *session,
			struct watched_program *program);

#endif

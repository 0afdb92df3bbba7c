/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sides that are to be provoked in a session: they are found in each program that
 * runs, before its first instruction, and sent to the tracer (tracer/hunt.h). A
 * part of session-state.h, which includes it; not for others.
 */
#ifndef SESSION_SESSION_HUNT_H
#define SESSION_SESSION_HUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "session/session.h"

struct error;
struct session;
struct watched_program;
struct wire_hunt_wait;
struct wire_hunted;

/* A program that runs, and the sides that were sent of it. */
struct session_quarry {
	uint32_t program;
	uint64_t sent; /* bits, by side */
	uint64_t
		digests[HUNT_SIDES_MAX]; /* of what was sent last; 0: nothing */
};

struct session_hunting {
	struct vec quarries; /* of struct session_quarry */
	struct vec waits; /* of struct session_wait: of sides told next */
	uint64_t settled; /* bits, by side: no other program is to try it */
	uint64_t
		told; /* bits, by side: the tracer has done with it somewhere */
};

void session_hunt_init(struct session *session);
void session_hunt_deinit(struct session *session);

/*
 * The program is at its entry. False: no side is of it, so that it need not wait,
 * nor be looked at.
 */
bool session_hunt_wants(const struct session *session,
			const struct watched_program *program);

/* Find sides in what has joined, and let those go that wait for that. */
struct error *session_hunt(struct session *session);

/* Modules of the program were unmapped: what was sent of them is no more there. */
void session_hunt_forget(struct session *session, uint32_t program);

/* WIRE_HUNT_WAIT. */
struct error *session_hunt_wait(struct session *session,
				const struct wire_hunt_wait *wire);

/* WIRE_HUNTED. */
void session_hunted(struct session *session, const struct wire_hunted *news);

#endif

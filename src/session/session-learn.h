/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a session learns of locations, and which likely locations of races the
 * tracer has. A part of session-state.h, which includes it; not for others.
 */
#ifndef SESSION_SESSION_LEARN_H
#define SESSION_SESSION_LEARN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "report/learned.h"
#include "sampling/learn.h"
#include "sampling/revisit.h"

struct conflict;
struct error;
struct race;
struct session;
struct session_config;
struct watched_program;
struct wire_returned;
struct wire_sample;

/* Where a learned site is in this session. */
struct session_guide {
	uint64_t id; /* 0: it was not looked for, or not found */
	uint32_t program;
	bool out; /* with the tracer */
	uint64_t look_ns; /* not before then */
};

/*
 * At most this number of likely sites is with the tracer, armed ones included.
 */
enum { SESSION_GUIDED = 32 };

struct session_learning {
	struct learn learn;
	struct learned own; /* of this run alone, if config.learned is NULL */
	struct vec guides; /* of struct session_guide, by learned site */
	uint32_t guided[SESSION_GUIDED]; /* learned sites with the tracer */
	uint32_t out; /* how many there are in guided */
	struct revisits revisits; /* learned sites where races were met */
	uint64_t next_ns; /* when the next may go there */
	uint64_t check_ns; /* when to look for those that are lost */
};

/* False: out of memory. End with session_learn_deinit(), then too. */
bool session_learn_init(struct session *session);
void session_learn_deinit(struct session *session);
/* How many hits to learn from before each stall. */
uint32_t session_probes(const struct session_config *config);
/* Does this run or a later one use what samples teach? */
bool session_learns(const struct session_config *config);
/* A WIRE_SAMPLE message, of a program that is watched. */
struct error *session_learn_sample(struct session *session,
				   const struct watched_program *program,
				   const struct wire_sample *sample);
/* Send sites where races are likely to the tracer. */
struct error *session_guide(struct session *session, uint64_t now);
/* One of them has come back; its id has WIRE_GUIDED. */
void session_guide_returned(struct session *session,
			    const struct wire_returned *returned);
/* When session_guide() has something to do by time alone. */
uint64_t session_guide_due(const struct session *session);
/* The two sides of a conflict have raced. */
struct error *session_learn_race(struct session *session,
				 const struct conflict *conflict);
/*
 * The learned sites of a conflict's sides; false: one is of the kernel, or of code
 * that no file has.
 */
bool session_learn_places(struct session *session,
			  const struct conflict *conflict, uint32_t ret[2]);

/*
 * session-revisit.c: does such a session hold threads again where races were met,
 * until replays have enough instances of them (sampling/revisit.h)?
 */
bool session_revisits(const struct session_config *config);
/* The race was met at these learned sites (session_learn_places()). */
struct error *session_revisit_race(struct session *session,
				   const struct race *race,
				   const uint32_t sites[2]);
/* The learned site whose turn it is; UINT32_MAX: none. */
uint32_t session_revisit_draw(struct session *session);

#endif

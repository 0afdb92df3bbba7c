/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session's state about the places of --at. A part of session-state.h, which
 * includes it; not for others.
 */
#ifndef SESSION_SESSION_AIM_H
#define SESSION_SESSION_AIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "sampling/aim.h"

struct error;
struct run_summary;
struct session;
struct where;
struct wire_returned;
struct wire_sample;

/* A site that --at names. */
struct session_aim {
	uint64_t id;
	uint32_t program;
	bool out; /* with the tracer */
	bool seldom; /* it took long to be reached, or never was */
	uint64_t places; /* bits: which of those of --at it is in */
	uint64_t sent_ns;
	uint64_t due_ns; /* not to be sent before then */
};

/* One --at, in all programs. */
struct session_place {
	const struct where *where;
	struct aim best; /* the most that was found in any module */
	uint64_t sites, samples;
	/* in the program that was searched last */
	uint64_t program_sites;
	uint32_t program;
};

struct session_aiming {
	struct vec places; /* of struct session_place, as in config->at */
	struct vec aims; /* of struct session_aim */
	struct map index; /* wire_site_key() to the place in aims */
	uint32_t out; /* aims with the tracer */
	uint64_t next_ns; /* when the next may go there */
	uint64_t check_ns; /* when to look for those that have gone */
	bool told; /* what was not found */
};

/* False: out of memory. */
bool session_aim_init(struct session *session);
void session_aim_deinit(struct session *session);
/* Find it in new modules, and send it to the tracer. */
struct error *session_aim(struct session *session);
/* When session_aim() has something to do by time alone. */
uint64_t session_aim_due(const struct session *session);
/* Is it a site that --at names? */
bool session_is_aimed(const struct session *session, uint32_t program,
		      uint64_t id);
/* One has come back; its id has WIRE_AIMED. */
void session_aim_returned(struct session *session,
			  const struct wire_returned *returned);
/* A stall has ended, maybe at one of them. */
void session_aim_sample(struct session *session,
			const struct wire_sample *sample);
/* Set the list of places; false: out of memory, and the list is cut short. */
bool session_list_aims(const struct session *session, struct run_summary *ret);

#endif

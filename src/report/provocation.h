/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The provoke record: what came of bringing a reported race about in one order,
 * several times (racewatch-json(5)).
 */
#ifndef REPORT_PROVOCATION_H
#define REPORT_PROVOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct strbuf;

/* How a program ended, and how often. */
struct provocation_end {
	int status; /* exit status, if the rest is 0 and false */
	int signal; /* that killed it; or 0 */
	bool timed_out; /* it was ended after --timeout */
	bool running; /* attached to: it runs on */
	uint64_t count;
};

struct provocation {
	uint64_t time; /* wall clock, ns: when it was over */
	char *report; /* the file that has the race */
	uint64_t id; /* and its number there */
	char fingerprint[33]; /* of the race, by names */
	unsigned int order; /* enum wire_order */
	uint64_t times; /* runs */
	uint64_t met; /* of them, those in which the two accesses met */
	/* of these, those where another instruction made the other access */
	uint64_t met_other;
	uint64_t reached_a,
		reached_b; /* runs in which a thread came to the side */
	uint64_t hold_ns; /* how long a thread waited for the other, at last */
	struct vec ends; /* of struct provocation_end, of runs that met */
};

/* All zero and empty; end with provocation_deinit(). */
void provocation_init(struct provocation *provocation);
void provocation_deinit(struct provocation *provocation);

/* One more of those that ended like this. False: out of memory. */
bool provocation_add_end(struct provocation *provocation,
			 const struct provocation_end *end);

/* "order ab: 20 of 20 met, 19 SIGSEGV, 1 exit 0"; the most frequent end first. */
void provocation_say(struct strbuf *line,
		     const struct provocation *provocation);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a program again and again until a reported race has been brought about in
 * one order as often as asked for, or attaches to a running one for that.
 */
#ifndef PROVOKE_PROVOKER_H
#define PROVOKE_PROVOKER_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/provoke.h"

struct error;
struct pidref;
struct provocation;
struct scenario;

struct provoker {
	const struct scenario *scenario;
	char *const *argv; /* the command; NULL: attach to */
	const struct pidref *process; /* this one */
	uint64_t times; /* runs of each order */
	uint64_t timeout_ns; /* of each run; attach: of the watching; 0: none */
	/* with argv: the client (session/companion.h); NULL: none */
	const char *until_exit_of;
	bool told; /* how a client ended, of which once is enough */
	/* the signal that has ended it; 0: none */
	int interrupted;
};

/*
 * One order. *ret, which is initialized, has what came of the runs that were
 * made, also after an error. ERROR_OTHER: the program has not the two
 * instructions; or that of a session.
 */
struct error *provoker_run(struct provoker *provoker, enum wire_order order,
			   struct provocation *ret);

#endif

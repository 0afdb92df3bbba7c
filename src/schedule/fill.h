/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What of the pool is armed now, and what is lifted: within its size, its rate
 * and the budget of time, and never while a stall runs, since breakpoints that
 * the other threads meet would keep them from racing. Pure code: whoever has the
 * program does what these functions ask for, and says what came of it.
 */
#ifndef SCHEDULE_FILL_H
#define SCHEDULE_FILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool;
struct wire_site;

/* What is done to the program; context is that of struct fill. */
struct fill_ops {
	/* Is enough known of every process to arm anything? */
	bool (*ready)(void *context, uint64_t now_ns);
	/* False: it is not armed; the site has been given back, saying why. */
	bool (*arm)(void *context, const struct wire_site *site);
	/*
	 * Lift about `count' breakpoints of the pool, of each program in
	 * proportion to what it has armed.
	 */
	void (*lift)(void *context, size_t count);
	/* Where there are few places: lift those whose time is over. */
	void (*rotate)(void *context, uint64_t now_ns);
	/* A queued site goes back to who drew it. */
	void (*give_back)(void *context, const struct wire_site *site);
	/* How many of the pool are armed, and of sites armed beside it. */
	void (*count)(void *context, size_t *ret_armed, size_t *ret_once);
	/* CPU time that was spent on all that, so far. */
	uint64_t (*cpu_ns)(void *context);
};

/* The program at one time. */
struct fill {
	struct pool *pool;
	const struct fill_ops *ops;
	void *context;
	uint64_t now_ns;
	/* breakpoints of the pool, and of sites armed beside it; kept up to date */
	size_t armed, armed_once;
	uint32_t threads;
	/* places for breakpoints that are not in the text; 0: in the text */
	size_t places;
	uint64_t place_due_ns; /* when one of them is free; UINT64_MAX: never */
	bool begins; /* the first threads of a program wait to be let go */
	/* all programs are beginning until then; 0: not all */
	uint64_t begins_until;
};

/* Arm, lift and give back what is due. */
void fill_run(struct fill *fill);

/* When fill_run() may have more to do; UINT64_MAX: not by time alone. */
uint64_t fill_next_ns(const struct fill *fill);

#endif

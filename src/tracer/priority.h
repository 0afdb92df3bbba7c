/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When the tracer runs with priority over the program (fortify.h). If the
 * program would outlive the tracer, from the start: the tracer must wait for a
 * stopped thread at once, since the thread dies if the tracer is killed before.
 * Otherwise while more threads than PRIORITY_MANY for each processor are
 * watched: when a thread stops at a breakpoint, its processor runs the next
 * thread of the program, and the tracer only after many of them. Meanwhile they
 * all stop at the same breakpoint, and stalls last too long (bench/threads
 * measures it). The priority is for short periods only: a tracer that computes
 * for half of the time gives it up, for PRIORITY_PAUSE_NS, and twice as long
 * each time; one that is guarded, for good.
 */
#ifndef TRACER_PRIORITY_H
#define TRACER_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>

struct core;

enum {
	PRIORITY_MANY = 4,
	PRIORITY_LOAD_GUARDED_NS = 250 * 1000 * 1000,
	/* a thousand threads that are born keep it busy for 0.3 s */
	PRIORITY_LOAD_NS = 1000 * 1000 * 1000,
	PRIORITY_PAUSE_NS = 250 * 1000 * 1000,
};

struct priority {
	const struct core *core;
	bool first; /* before the program */
	bool guarded;
	int nice; /* before that */
	uint64_t wall_ns,
		cpu_ns; /* when the load was last looked at; 0: never */
	uint64_t pause_ns; /* the next one */
	uint64_t until_ns; /* the end of this one */
};

/* At first the tracer runs as others do. */
void priority_init(struct priority *priority, const struct core *core);

/* From the start on. */
void priority_guard(struct priority *priority);

/* To be called at each tick. */
void priority_tick(struct priority *priority, uint64_t now);

#endif

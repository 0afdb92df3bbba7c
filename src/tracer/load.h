/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measures what the budget is charged with: stall intervals, stops, the
 * program's CPU time and calls during and between stalls, the CPU time of
 * racewatch's own processes, and how busy the machine is.
 */
#ifndef TRACER_LOAD_H
#define TRACER_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "schedule/budget.h"

struct core;
struct stalls;

/* What the program has done so far. */
struct load_program {
	uint64_t cpu_ns;
	uint64_t calls; /* procfs_process_calls() */
};

/* What the machine has done so far. */
struct load_machine {
	uint64_t busy, idle; /* ticks of its processors */
	uint64_t own_ns; /* of them, racewatch's */
	double stood_ns; /* load.stood_ns */
};

struct load {
	struct core *core;
	const struct stalls *stalls;
	struct budget budget;
	pid_t front; /* the front end, whose time counts too */
	/* of the stall interval that runs, or ran last */
	bool measured; /* what the program does was read at its begin */
	uint64_t handling_ns; /* a stop is handled since then; 0: none is */
	struct load_program begun; /* at its begin */
	uint64_t begun_own_ns;
	uint64_t measure_ns; /* that is not read before */
	/* of it, within stall intervals and while stops were handled */
	uint64_t own_held_ns;
	struct budget_window window; /* being measured */
	uint64_t window_ns; /* when it began; 0: not yet */
	struct load_program window_begun;
	uint64_t own_ns, front_ns; /* CPU times as last charged */
	uint64_t charged_ns; /* when they were */
	double stood_ns; /* the program stood still in stalls, so far */
	uint64_t machine_ns; /* when the machine was last looked at */
	struct load_machine machine; /* and what there was then */
	bool machine_known;
};

/* Both must outlive it. */
void load_init(struct load *load, struct core *core,
	       const struct stalls *stalls);

/* The first thread is stalled; the last stalled thread goes on. */
void load_stall_begins(struct load *load, uint64_t now);
void load_stall_ends(struct load *load, uint64_t now);

/*
 * A thread has stopped, for any reason, and its stop is handled now; then it is
 * resumed, or stalled. The time in between counts while no thread is stalled.
 */
void load_stopped(struct load *load);
void load_handled(struct load *load);

/* An instance was replayed: what it took of the threads and of processors. */
struct load_replay {
	uint64_t since_ns; /* it was sent */
	uint64_t held_ns; /* for which the threads were held for it */
	uint64_t cpu_ns; /* of the front end and the scratch process */
	uint64_t scratch_ns; /* of that, of the scratch process */
};
void load_replayed(struct load *load, const struct load_replay *replay,
		   uint64_t now);

/* Measure and charge what is due; at each tick of the tracer. */
void load_tick(struct load *load, uint64_t now);

#endif

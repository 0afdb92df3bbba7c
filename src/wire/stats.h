/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer's counters, since its start: WIRE_STATS (wire/message.h).
 */
#ifndef WIRE_STATS_H
#define WIRE_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct wire_stats {
	uint64_t hits_once; /* of `hits', of sites that had not run yet */
	uint64_t hits_aimed; /* of `hits', of sites of --at */
	/* the same, of the others: of bytes that no other thread can reach */
	uint64_t hits_private;
	uint64_t
		hits_rested; /* the same, kept until their threads have rested */
	uint64_t hits, peeks, samples, quiet, alone, unaffordable;
	uint64_t stalled; /* of `samples', at which another thread could run */
	uint64_t watch_traps, collisions, value_changes;
	uint64_t out_of_registers, arms, arms_refused, arms_deferred, dropped;
	uint64_t stops; /* of all threads, for any reason */
	uint64_t first_armed_ns; /* clock_now_ns() then; 0: nothing was yet */
	uint64_t resting; /* hits by threads that had just been stalled */
	uint64_t stalled_ns; /* union of stall intervals */
	uint64_t busy_ns; /* CPU time of the tracer */
	uint64_t lost_ns; /* what all that cost the program; see budget.h */
	uint64_t lost_cpu_ns; /* of it, by what racewatch computed */
	uint64_t lost_stop_ns; /* and by stops without a stall */
	uint64_t onset_ns; /* of it, while first threads waited; see onset.h */
	bool by_processor; /* the back-end is perf-cpu now */
	/* what a nanosecond of stall and one of CPU time cost, in thousandths */
	uint32_t loss, competition;
	uint32_t armed; /* breakpoints now in the text, less: */
	uint32_t armed_once;
	uint32_t queued; /* sites waiting */
	uint32_t threads; /* now */
	uint32_t threads_most; /* of one process at a time */
	/*
	 * Looks at whether to arm what is queued, and those of them at which a
	 * budget allowed nothing: that of time, or the rate.
	 */
	uint64_t refills, unpaid, over_rate;
	uint32_t rate; /* stalls a second that are allowed now */
	/* of the governor: */
	uint32_t pool; /* breakpoints to keep armed */
	double wanted; /* hits a second that both budgets allow */
	double hits_per_s; /* over its last window */
	bool few_hits; /* governor_has_few() */
	uint64_t unwatched; /* processes that were made and let go */
	uint64_t processes; /* that are watched, or were */
	uint32_t stalls; /* running now */
};

#endif

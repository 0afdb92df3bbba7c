/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer's counters, since its start: WIRE_STATS (wire/message.h). The
 * summary of a run has them as they are (report/run.h), so a new one that is to
 * be in reports takes a member here, what counts it, and a row of the table of
 * the summary's fields (report/run-fields.c).
 */
#ifndef WIRE_STATS_H
#define WIRE_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct wire_stats {
	uint64_t hits; /* breakpoints that fired; of them: */
	uint64_t hits_once; /* of sites that had not run yet */
	uint64_t hits_aimed; /* of sites of --at */
	/* of the others: of bytes that no other thread can reach */
	uint64_t hits_private;
	/* the same, kept until their threads have rested */
	uint64_t hits_rested;
	uint64_t samples; /* hits that a stall was to be made at */
	uint64_t stalled; /* of them, at which another thread could run */
	uint64_t unaffordable; /* hits that no stall could be spent on */
	uint64_t watch_traps, collisions, value_changes;
	uint64_t
		out_of_registers; /* watches that lacked one, or a part of it */
	uint64_t arms; /* breakpoints set */
	uint64_t arms_refused; /* text was not as expected */
	uint64_t dropped; /* reports lost because a buffer was full */
	uint64_t stops; /* of all threads, for any reason */
	uint64_t first_armed_ns; /* clock_now_ns() then; 0: nothing was yet */
	uint64_t resting; /* hits by threads that had just been stalled */
	uint64_t stalled_ns; /* union of stall intervals */
	uint64_t busy_ns; /* CPU time of the tracer */
	uint64_t lost_ns; /* what all that cost the program; see budget.h */
	uint64_t lost_cpu_ns; /* of it, by what racewatch computed */
	uint64_t lost_replay_ns; /* of that, for replays */
	uint64_t lost_stop_ns; /* and by stops without a stall */
	uint64_t replay_cpu_ns; /* CPU time of replays */
	uint64_t
		startup_ns; /* of it, while first threads waited; see startup.h */
	bool by_processor; /* the back-end is perf-cpu now */
	uint32_t competition; /* what CPU time costs, in thousandths of it */
	uint32_t armed; /* breakpoints now in the text, less: */
	uint32_t armed_once;
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
};

#endif

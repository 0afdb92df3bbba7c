/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The presets of --effort; see effort.h.
 */
#include "cmd/effort.h"

#include <stddef.h>

#include "base/clock.h"

const char *const effort_words[] = { "low", "normal", "high", NULL };

enum {
	/* more than any budget pays for */
	EFFORT_RATE_ANY = 20000,
	/*
	 * Setting a breakpoint takes some microseconds of a processor that a
	 * server wants too, and there may be a hundred thousand: where effort
	 * is low they come slowly, as the samples do.
	 */
	EFFORT_ARMS_PER_HIT = 10,
	EFFORT_ARMS_MAX = 2000,
	/*
	 * What is decoded of a server's text is worth a tenth of a thread that
	 * answers requests.
	 */
	EFFORT_NICE = 10,
	/*
	 * If all that are armed once are met in a row, their stops take a fifth
	 * of a second. Where effort is high, as many as there is room for.
	 */
	EFFORT_ONCE_NORMAL = 4096,
	EFFORT_ONCE_HIGH = 65536,
	/* Hits at entries of functions cost less: no thread is held there. */
	EFFORT_ENTRIES = 16384,
	EFFORT_ENTRIES_HIGH = 32768,
	/*
	 * Races once in a phase, flags that are polled and jobs that are handed
	 * over take their time: some 10 to 200 ms.
	 */
	EFFORT_LONG_NS = 200 * 1000 * 1000,
};

/*
 * Low is for servers: the stall bounds what one request waits, and the rate of a
 * busy program how many requests do (bench/attach).
 * How the stall of the others was chosen is in racewatch-run(1).
 */
static const struct effort_preset {
	uint32_t rate, busy_rate;
	uint64_t stall_ns, long_ns;
	double overhead_pct;
	uint32_t rest;
	double stretch_max;
	bool gives_way;
	uint32_t once_max, entries_max;
} presets[] = {
	[EFFORT_LOW] = { 50, 25, 200 * CLOCK_NS_PER_US, 0, 2, 144, 1, true, 0,
			 EFFORT_ENTRIES },
	[EFFORT_NORMAL] = { 1000, 0, CLOCK_NS_PER_MS, EFFORT_LONG_NS, 40, 0, 4,
			    false, EFFORT_ONCE_NORMAL, EFFORT_ENTRIES },
	[EFFORT_HIGH] = { EFFORT_RATE_ANY, 0, CLOCK_NS_PER_MS, EFFORT_LONG_NS,
			  75, 0, 4, false, EFFORT_ONCE_HIGH,
			  EFFORT_ENTRIES_HIGH },
};

void effort_init(struct effort_options *options)
{
	*options = (struct effort_options){
		.effort = EFFORT_NONE,
		.rate = EFFORT_RATE_NONE,
		.stall_ns = EFFORT_STALL_NONE,
		.overhead_pct = EFFORT_OVERHEAD_NONE,
	};
}

static uint32_t effort_arm_rate(const struct effort_options *options,
				const struct effort_plan *plan)
{
	uint64_t rate = (uint64_t)plan->rate * EFFORT_ARMS_PER_HIT;

	if (options->rate == EFFORT_RATE_NONE && rate > EFFORT_ARMS_MAX)
		rate = EFFORT_ARMS_MAX;
	return rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
}

/* In proportion to the preset's budget, where another was given. */
static uint32_t effort_scaled(const struct effort_preset *base, uint32_t most,
			      double overhead_pct)
{
	double share = overhead_pct / base->overhead_pct;

	return share < 1 ? (uint32_t)(most * share) : most;
}

struct effort_plan effort_plan(const struct effort_options *options,
			       enum effort preset)
{
	const struct effort_preset *base =
		&presets[options->effort == EFFORT_NONE ? (int)preset
							: options->effort];
	bool rated = options->rate != EFFORT_RATE_NONE;
	bool stalled = options->stall_ns != EFFORT_STALL_NONE;
	bool capped = options->overhead_pct >= 0;
	struct effort_plan plan = {
		.rate = rated ? (uint32_t)options->rate : base->rate,
		.stall_max_ns = stalled ? options->stall_ns : base->stall_ns,
		.share = base->overhead_pct / 100,
		.rest = base->rest,
		.stretch_max = stalled ? 1 : base->stretch_max,
		.once_max = base->once_max,
		.entries_max = base->entries_max,
	};

	if (capped) {
		plan.share = options->overhead_pct / 100;
		plan.once_max = effort_scaled(base, base->once_max,
					      options->overhead_pct);
		plan.entries_max = effort_scaled(base, base->entries_max,
						 options->overhead_pct);
		if (!rated)
			plan.rate = EFFORT_RATE_ANY;
	} else if (rated || stalled) {
		plan.share = 0;
		plan.rest = 0;
		/* as many hits as were asked for, and no more */
		if (rated && options->effort == EFFORT_NONE) {
			plan.once_max = 0;
			plan.entries_max = 0;
		}
	}
	/* they are paid for with a share of the budget */
	if (!stalled && plan.share > 0)
		plan.stall_long_ns = base->long_ns;
	if (!rated && !capped)
		plan.busy_rate = base->busy_rate;
	/* no time to lose is no sample */
	if (capped && options->overhead_pct <= 0)
		plan.rate = 0;
	if (base->gives_way)
		plan.arm_rate = effort_arm_rate(options, &plan);
	/* where it does not matter what it costs, nor does that */
	if (base->gives_way && plan.share > 0)
		plan.nice = EFFORT_NICE;
	return plan;
}

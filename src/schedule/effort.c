/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The presets of --effort; see effort.h.
 */
#include "schedule/effort.h"

#include <stdbool.h>
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
static const struct effort_plan presets[] = {
	[EFFORT_LOW] = { .params = { .rate = 50,
				     .busy_rate = 25,
				     .stall_max_ns = 200 * CLOCK_NS_PER_US,
				     .stretch_max = 1,
				     .share = 0.02,
				     .rest = 144 },
			 .nice = EFFORT_NICE,
			 .entries_max = EFFORT_ENTRIES },
	[EFFORT_NORMAL] = { .params = { .rate = 1000,
					.stall_max_ns = CLOCK_NS_PER_MS,
					.stretch_max = 4,
					.stall_long_ns = EFFORT_LONG_NS,
					.share = 0.4 },
			    .once_max = EFFORT_ONCE_NORMAL,
			    .entries_max = EFFORT_ENTRIES },
	[EFFORT_HIGH] = { .params = { .rate = EFFORT_RATE_ANY,
				      .stall_max_ns = CLOCK_NS_PER_MS,
				      .stretch_max = 4,
				      .stall_long_ns = EFFORT_LONG_NS,
				      .share = 0.75 },
			  .once_max = EFFORT_ONCE_HIGH,
			  .entries_max = EFFORT_ENTRIES_HIGH },
};

static uint32_t effort_arm_rate(const struct effort_options *options,
				const struct wire_params *params)
{
	uint64_t rate = (uint64_t)params->rate * EFFORT_ARMS_PER_HIT;

	if (options->rate == EFFORT_RATE_NONE && rate > EFFORT_ARMS_MAX)
		rate = EFFORT_ARMS_MAX;
	return rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
}

/* In proportion to the preset's budget, where another was given. */
static uint32_t effort_scaled(const struct wire_params *base, uint32_t most,
			      double overhead_pct)
{
	double share = overhead_pct / (100 * base->share);

	return share < 1 ? (uint32_t)(most * share) : most;
}

struct effort_plan effort_plan(const struct effort_options *options,
			       enum effort preset)
{
	const struct effort_plan *base =
		&presets[options->effort == EFFORT_NONE ? (int)preset
							: options->effort];
	bool rated = options->rate != EFFORT_RATE_NONE;
	bool stalled = options->stall_ns != EFFORT_STALL_NONE;
	bool capped = options->overhead_pct >= 0;
	struct effort_plan plan = *base;
	struct wire_params *params = &plan.params;

	if (rated)
		params->rate = (uint32_t)options->rate;
	if (stalled) {
		params->stall_max_ns = options->stall_ns;
		params->stretch_max = 1;
	}
	if (capped) {
		params->share = options->overhead_pct / 100;
		plan.once_max = effort_scaled(&base->params, base->once_max,
					      options->overhead_pct);
		plan.entries_max = effort_scaled(&base->params,
						 base->entries_max,
						 options->overhead_pct);
		if (!rated)
			params->rate = EFFORT_RATE_ANY;
	} else if (rated || stalled) {
		params->share = 0;
		params->rest = 0;
		/* as many hits as were asked for, and no more */
		if (rated && options->effort == EFFORT_NONE) {
			plan.once_max = 0;
			plan.entries_max = 0;
		}
	}
	/* they are paid for with a share of the budget */
	if (stalled || params->share <= 0)
		params->stall_long_ns = 0;
	if (rated || capped)
		params->busy_rate = 0;
	/* no time to lose is no sample */
	if (capped && options->overhead_pct <= 0)
		params->rate = 0;
	/* only low effort is nice, and arms slowly */
	if (base->nice)
		params->arm_rate = effort_arm_rate(options, params);
	/* where it does not matter what it costs, nor does that */
	if (params->share <= 0)
		plan.nice = 0;
	return plan;
}

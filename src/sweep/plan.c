/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan of a sweep; see plan.h.
 */
#include "sweep/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/*
 * The first is near to what racewatch run does. Then rarer and longer, more
 * often and shorter, without a preference, and very long: for accesses that
 * follow each other by milliseconds.
 */
static const struct plan_fixed plan_ways[] = {
	{ 1000, CLOCK_NS_PER_MS, "guided" },
	{ 300, 10 * CLOCK_NS_PER_MS, "guided" },
	{ 3000, 200 * CLOCK_NS_PER_US, "guided" },
	{ 1000, CLOCK_NS_PER_MS, "uniform" },
	{ 50, 100 * CLOCK_NS_PER_MS, "guided" },
};

/* Hundreds of stalls of that length at a program's start are no long run. */
static const uint64_t ONCE_STALL_MAX_NS = CLOCK_NS_PER_MS;

/* What an entry nothing is known of counts as having gained, in one run. */
static const double PLAN_HOPE = 0.5;

static void name_entry(struct plan_entry *entry)
{
	uint64_t ns = entry->stall_ns;
	const char *unit = "ns";

	if (ns % CLOCK_NS_PER_MS == 0) {
		ns /= CLOCK_NS_PER_MS;
		unit = "ms";
	} else if (ns % CLOCK_NS_PER_US == 0) {
		ns /= CLOCK_NS_PER_US;
		unit = "us";
	}
	snprintf(entry->rate_word, sizeof(entry->rate_word), "%" PRIu64,
		 entry->rate);
	snprintf(entry->stall_word, sizeof(entry->stall_word), "%" PRIu64 "%s",
		 ns, unit);
	snprintf(entry->name, sizeof(entry->name),
		 "rate=%" PRIu64 " stall=%" PRIu64 "%s policy=%s", entry->rate,
		 ns, unit, entry->policy);
}

static size_t add_option(struct plan_entry *entry, size_t count,
			 const char *option, const char *value)
{
	entry->words[count] = option;
	entry->words[count + 1] = value;
	return count + 2;
}

static void fill_words(struct plan_entry *entry, const struct plan_fixed *fixed)
{
	size_t count = 0;

	/* a rate alone leaves out what this arms beside it (racewatch-run(1)) */
	if (entry->stall_ns <= ONCE_STALL_MAX_NS)
		count = add_option(entry, count, "--effort", "normal");
	if (fixed->rate == UINT64_MAX)
		count = add_option(entry, count, "--rate", entry->rate_word);
	if (fixed->stall_ns == UINT64_MAX)
		count = add_option(entry, count, "--stall", entry->stall_word);
	if (!fixed->policy)
		add_option(entry, count, "--policy", entry->policy);
}

void plan_init(struct plan *plan, const struct plan_fixed *fixed, bool even)
{
	memset(plan, 0, sizeof(*plan));
	plan->even = even;
	for (size_t i = 0; i < sizeof(plan_ways) / sizeof(plan_ways[0]); i++) {
		struct plan_entry *entry = &plan->entries[plan->count];

		entry->rate = fixed->rate == UINT64_MAX ? plan_ways[i].rate
							: fixed->rate;
		entry->stall_ns = fixed->stall_ns == UINT64_MAX
					  ? plan_ways[i].stall_ns
					  : fixed->stall_ns;
		entry->policy = fixed->policy ? fixed->policy
					      : plan_ways[i].policy;
		name_entry(entry);
		fill_words(entry, fixed);
		/* those made equal by what is fixed are one */
		if (plan_find(plan, entry->name) == entry)
			plan->count++;
		else
			memset(entry, 0, sizeof(*entry));
	}
}

struct plan_entry *plan_find(struct plan *plan, const char *name)
{
	/* in plan_init() the next one is there and not yet counted */
	for (size_t i = 0; name[0] && i < PLAN_MAX; i++) {
		if (strcmp(plan->entries[i].name, name) == 0)
			return &plan->entries[i];
	}
	return NULL;
}

/* Seconds of all runs per run: gains are per run of mean length. */
static double mean_seconds(const struct plan *plan)
{
	double seconds = 0, finished = 0;

	for (size_t i = 0; i < plan->count; i++) {
		seconds += plan->entries[i].seconds;
		finished += (double)plan->entries[i].finished;
	}
	return finished > 0 && seconds > 0 ? seconds / finished : 1;
}

static double promise(const struct plan_entry *entry, double all, double mean)
{
	double tried = (double)entry->claimed + 1;
	double length =
		entry->finished > 0
			? entry->seconds / (double)entry->finished / mean
			: 1;
	double gain = (entry->gain + PLAN_HOPE) / tried;

	return gain / fmax(length, 0.1) + sqrt(2 * log(all + 1) / tried) / 2;
}

size_t plan_choose(const struct plan *plan, uint64_t run)
{
	double mean = mean_seconds(plan), best = -1, all = 0;
	size_t chosen = 0, least = 0;

	if (plan->even)
		return (run - 1) % plan->count;
	for (size_t i = 0; i < plan->count; i++) {
		all += (double)plan->entries[i].claimed;
		if (plan->entries[i].claimed < plan->entries[least].claimed)
			least = i;
	}
	if ((double)plan->entries[least].claimed * 4 * (double)plan->count <
	    all)
		return least;
	for (size_t i = 0; i < plan->count; i++) {
		double value = promise(&plan->entries[i], all, mean);

		if (value > best) {
			best = value;
			chosen = i;
		}
	}
	return chosen;
}

void plan_claim(struct plan_entry *entry)
{
	entry->claimed++;
}

void plan_credit(struct plan_entry *entry, const struct plan_result *result)
{
	double gain = result->races > 0 ? 0.1 : 0;

	if (result->more_sites)
		gain = 0.3;
	if (result->races_new > 0)
		gain = 1;
	entry->finished++;
	entry->gain += gain;
	entry->races_new += result->races_new;
	entry->seconds += (double)result->elapsed_ns / (double)CLOCK_NS_PER_S;
}

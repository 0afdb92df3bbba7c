/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What could be had, at the rate and the budget, each hit costing what it costs
 * the product: uniform over all locations that can race, known beforehand; over
 * those whose bytes two threads touch, which bounds what can be learned from
 * that; and an oracle that stalls where races are that were not found yet.
 */
#include "program.h"

#include <math.h>
#include <stdlib.h>

/* a location that is not reached in this time gives its place to the next */
static const double IDEAL_PATIENCE_NS = 2e6;
static const double IDEAL_STOP_NS = 50e3;

struct ideal {
	struct program program;
	struct score score;
	struct effort_plan effort;
	uint32_t *sites;
	size_t count;
	double now_ns, lost_ns;
	uint32_t threads;
};

static bool ideal_has(const struct program *program, uint32_t site,
		      enum simulate_policy policy)
{
	uint32_t variable = program->sites[site].variable;

	if (policy == SIMULATE_IDEAL)
		return program_may_race(program, site);
	return variable != 0 && (policy == SIMULATE_SHARED ||
				 !program->variables[variable - 1].locked);
}

static void ideal_list(struct ideal *ideal, enum simulate_policy policy)
{
	const struct program *program = &ideal->program;

	ideal->sites = calloc(program->running.count, sizeof(*ideal->sites));
	for (size_t i = 0; i < program->running.count; i++) {
		uint32_t site = *(uint32_t *)vec_at(&program->running, i);

		if (ideal_has(program, site, policy))
			ideal->sites[ideal->count++] = site;
	}
}

/* How many processors this number of threads keeps busy. */
static double ideal_uses(const struct ideal *ideal, uint32_t threads)
{
	return fmin(2, threads * ideal->program.plan->busy);
}

/* What a nanosecond of stall costs, as schedule/budget.h counts it. */
static double ideal_loss(const struct ideal *ideal)
{
	double used = ideal_uses(ideal, ideal->threads);
	double left = ideal_uses(ideal, ideal->threads - 1) *
		      (1 - ideal->program.plan->coupling);
	double loss = used < 1 ? (used - left) / used : used - left;

	return fmax(0.25, fmin(1, loss));
}

/* It is reached: hold it until another comes, or the time is over. */
static void ideal_stall(struct ideal *ideal, uint32_t site)
{
	struct program *program = &ideal->program;
	double length = program_random(program) *
			(double)ideal->effort.params.stall_max_ns;
	double meets = program_wait(program, program_meets(program, site,
							   ideal->threads - 1));

	if (meets < length) {
		length = meets;
		score_race(&ideal->score, site, ideal->now_ns / 1e9);
	}
	score_stall(&ideal->score, site, false);
	ideal->lost_ns += length * ideal_loss(ideal) + IDEAL_STOP_NS / 2;
	ideal->now_ns += length + IDEAL_STOP_NS;
}

/* When budget and rate allow the next one. */
static void ideal_pay(struct ideal *ideal)
{
	double rate =
		(double)ideal->score.stalls / ideal->effort.params.rate * 1e9;
	double share = ideal->lost_ns / ideal->effort.params.share;

	if (rate > ideal->now_ns)
		ideal->now_ns = rate;
	if (share > ideal->now_ns)
		ideal->now_ns = share;
}

static bool ideal_known(const struct program *program, uint32_t site)
{
	return program->variables[program->sites[site].variable - 1].raced;
}

static void ideal_phase(struct ideal *ideal)
{
	const struct simulate_plan *plan = ideal->program.plan;

	if (plan->phases > 0)
		ideal->program.phase =
			1 + (uint32_t)(ideal->now_ns / 1e9 / plan->phase_s) %
				    plan->phases;
	score_time(&ideal->score, ideal->now_ns / 1e9);
}

void simulate_ideal(const struct simulate_plan *plan,
		    enum simulate_policy policy, uint64_t seed,
		    struct simulate_result *ret)
{
	struct ideal ideal = { .threads = plan->processes * plan->threads };
	bool forgets = policy != SIMULATE_IDEAL;

	program_init(&ideal.program, plan, seed);
	ideal.score.program = &ideal.program;
	ideal.effort = simulate_effort(plan);
	ideal_list(&ideal, policy);
	while (ideal.count > 0 && ideal.now_ns < plan->seconds * 1e9) {
		size_t i = (size_t)rng_below(&ideal.program.rng, ideal.count);
		uint32_t site = ideal.sites[i];
		double wait;

		ideal_phase(&ideal);
		if (forgets && ideal_known(&ideal.program, site)) {
			ideal.sites[i] = ideal.sites[--ideal.count];
			continue;
		}
		wait = program_wait(&ideal.program,
				    program_rate(&ideal.program, site) *
					    ideal.threads);
		ideal.now_ns += wait < IDEAL_PATIENCE_NS ? wait
							 : IDEAL_PATIENCE_NS;
		if (wait > IDEAL_PATIENCE_NS)
			continue;
		ideal_stall(&ideal, site);
		ideal_pay(&ideal);
	}
	score_end(&ideal.score);
	ideal.score.result.told = ideal.lost_ns / plan->seconds / 1e9;
	ideal.score.result.true_lost = ideal.score.result.told;
	*ret = ideal.score.result;
	free(ideal.sites);
	program_deinit(&ideal.program);
}

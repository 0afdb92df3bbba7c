/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulated program and the score of who watches it; see simulate.h.
 */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>

struct effort_plan simulate_effort(const struct simulate_plan *plan)
{
	struct effort_options options;

	effort_init(&options);
	options.effort = plan->effort;
	if (plan->overhead > 0)
		options.overhead_pct = plan->overhead;
	return effort_plan(&options, EFFORT_NORMAL);
}

double program_random(struct program *program)
{
	return (double)(rng_next(&program->rng) >> 11) * 0x1p-53;
}

double program_wait(struct program *program, double rate)
{
	return rate > 0 ? -log(1 - program_random(program)) / rate * 1e9
			: INFINITY;
}

/* Running ones come in functions most of whose locations run. */
static void program_choose(struct program *program, uint32_t first,
			   uint32_t count, uint32_t runs, bool own,
			   struct vec *running)
{
	uint32_t functions = (count + PROGRAM_FUNCTION - 1) / PROGRAM_FUNCTION;

	for (uint32_t i = 0; i < count; i++)
		program->sites[first + i].own = own;
	while (runs > 0) {
		uint32_t at =
			first + (uint32_t)rng_below(&program->rng, functions) *
					PROGRAM_FUNCTION;

		for (uint32_t i = at;
		     i < at + PROGRAM_FUNCTION && i < first + count && runs > 0;
		     i++) {
			if (program->sites[i].rate > 0 ||
			    (rng_below(&program->rng, 5) == 0 && count > runs))
				continue;
			program->sites[i].rate = 1;
			vec_push(running, &i);
			runs--;
		}
	}
}

static uint32_t program_take(struct program *program, struct vec *from)
{
	size_t i = (size_t)rng_below(&program->rng, from->count);
	uint32_t site = *(uint32_t *)vec_at(from, i);

	vec_remove_swap(from, i);
	return site;
}

/* Each of the running ones has its rank, at random. */
static void program_heat(struct program *program, const struct vec *running)
{
	const struct simulate_plan *plan = program->plan;
	struct vec left = VEC_INIT(uint32_t);
	double sum = 0;

	for (size_t i = 0; i < running->count; i++) {
		sum += pow((double)i + 1, -plan->slope);
		vec_push(&left, vec_at(running, i));
	}
	for (size_t i = 0; left.count > 0; i++) {
		struct simulate_site *site =
			&program->sites[program_take(program, &left)];

		site->rate = plan->executions / sum *
			     pow((double)i + 1, -plan->slope);
		if (plan->phases > 0 && i % 2 == 1)
			site->phase = (uint8_t)(1 + rng_below(&program->rng,
							      plan->phases));
	}
	vec_deinit(&left);
}

/* Two of the program's own locations each, both in the same phase. */
static void program_share(struct program *program, struct vec *own)
{
	uint32_t count = program->plan->races + program->plan->locked;

	for (uint32_t v = 0; v < count && own->count >= 2; v++) {
		uint32_t a = program_take(program, own),
			 b = program_take(program, own);

		program->variables[v].locked = v >= program->plan->races;
		program->variables[v].instances =
			1 + (uint32_t)rng_below(&program->rng,
						program->plan->spread);
		program->sites[a].variable = program->sites[b].variable = v + 1;
		program->sites[a].partner = b;
		program->sites[b].partner = a;
		program->sites[a].writes = true;
		program->sites[b].phase = program->sites[a].phase;
	}
}

void program_init(struct program *program, const struct simulate_plan *plan,
		  uint64_t seed)
{
	struct vec running = VEC_INIT(uint32_t), own = VEC_INIT(uint32_t);

	*program = (struct program){ .plan = plan,
				     .count = plan->own + plan->others,
				     .phase = plan->phases > 0 };
	rng_init(&program->rng, seed);
	program->sites = calloc(program->count, sizeof(*program->sites));
	program->sums = calloc(program->count, sizeof(*program->sums));
	program->variables = calloc(plan->races + plan->locked + 1,
				    sizeof(*program->variables));
	program_choose(program, 0, plan->own, plan->own_run, true, &running);
	for (size_t i = 0; i < running.count; i++)
		vec_push(&own, vec_at(&running, i));
	program_choose(program, plan->own, plan->others, plan->others_run,
		       false, &running);
	program_heat(program, &running);
	program_share(program, &own);
	for (size_t i = 0; i < program->count; i++) {
		program->may_race += program_may_race(program, i);
		program->sums[i] = program->sites[i].rate +
				   (i > 0 ? program->sums[i - 1] : 0);
	}
	vec_deinit(&running);
	vec_deinit(&own);
}

void program_deinit(struct program *program)
{
	free(program->sites);
	free(program->sums);
	free(program->variables);
}

double program_rate(const struct program *program, size_t site)
{
	const struct simulate_site *one = &program->sites[site];

	return one->phase == 0 || one->phase == program->phase ? one->rate : 0;
}

bool program_may_race(const struct program *program, size_t site)
{
	const struct simulate_site *one = &program->sites[site];

	return one->rate > 0 &&
	       (program->plan->threads > 1 || one->variable != 0);
}

double program_meets(const struct program *program, size_t site,
		     uint32_t others)
{
	const struct simulate_site *one = &program->sites[site];
	const struct simulate_variable *variable;

	if (one->variable == 0)
		return 0;
	variable = &program->variables[one->variable - 1];
	if (variable->locked)
		return 0;
	return program_rate(program, one->partner) * others /
	       variable->instances;
}

size_t program_draw(struct program *program)
{
	for (;;) {
		double at = program_random(program) *
			    program->sums[program->count - 1];
		size_t low = 0, high = program->count - 1;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (program->sums[middle] <= at)
				low = middle + 1;
			else
				high = middle;
		}
		if (program_rate(program, low) > 0)
			return low;
	}
}

void score_time(struct score *score, double s)
{
	static const double marks[SIMULATE_MARKS] = { 1, 10, 60 };

	for (; score->mark < SIMULATE_MARKS && s >= marks[score->mark];
	     score->mark++)
		score->result.covered[score->mark] =
			(double)score->seen / (double)score->program->may_race;
}

void score_stall(struct score *score, size_t number, bool likely)
{
	struct simulate_site *site = &score->program->sites[number];

	score->stalls++;
	score->own += site->own;
	score->likely += likely;
	score->seen += !site->sampled &&
		       program_may_race(score->program, number);
	site->sampled = true;
}

void score_race(struct score *score, size_t number, double s)
{
	uint32_t variable = score->program->sites[number].variable;

	if (variable == 0 || score->program->variables[variable - 1].raced)
		return;
	score->program->variables[variable - 1].raced = true;
	if (score->result.races == 0)
		score->result.first_s = s;
	score->result.races++;
	score->result.races_1000 += score->stalls <= 1000;
}

/* Marks that the run did not reach are as they were at its end. */
void score_end(struct score *score)
{
	double seconds = score->program->plan->seconds;

	if (score->result.races == 0)
		score->result.first_s = seconds;
	score_time(score, 60);
	score->result.samples = (double)score->stalls / seconds;
	if (score->stalls == 0)
		return;
	score->result.own = (double)score->own / (double)score->stalls;
	score->result.likely = (double)score->likely / (double)score->stalls;
}

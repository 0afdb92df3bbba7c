/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulated program and the score of who watches it; see program.h.
 */
#include "program.h"

#include <math.h>
#include <stdlib.h>

struct effort_plan simulate_effort(const struct simulate_plan *plan)
{
	const struct effort_options options = {
		.effort = plan->effort,
		.rate = EFFORT_RATE_NONE,
		.stall_ns = EFFORT_STALL_NONE,
		.overhead_pct = plan->overhead > 0 ? plan->overhead
						   : EFFORT_OVERHEAD_NONE,
	};

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

/* Does a location of the function that begins there run already? */
static bool program_has_run(const struct program *program, uint32_t first)
{
	for (uint32_t i = first;
	     i < first + PROGRAM_FUNCTION && i < program->count; i++) {
		if (program->sites[i].rate > 0)
			return true;
	}
	return false;
}

/* Running ones come in functions most of whose locations run. */
static void program_choose(struct program *program, uint32_t first,
			   uint32_t count, uint32_t runs)
{
	uint32_t functions = (count + PROGRAM_FUNCTION - 1) / PROGRAM_FUNCTION;

	while (runs > 0) {
		uint32_t at =
			first + (uint32_t)rng_below(&program->rng, functions) *
					PROGRAM_FUNCTION;
		size_t before = program->running.count;
		bool known = program_has_run(program, at);

		for (uint32_t i = at;
		     i < at + PROGRAM_FUNCTION && i < first + count && runs > 0;
		     i++) {
			if (program->sites[i].rate > 0 ||
			    (rng_below(&program->rng, 5) == 0 && count > runs))
				continue;
			program->sites[i].rate = 1;
			vec_push(&program->running, &i);
			runs--;
		}
		at /= PROGRAM_FUNCTION;
		if (!known && program->running.count > before)
			vec_push(&program->functions, &at);
	}
}

/* Each running function but the first is called by one before it. */
static void program_call(struct program *program)
{
	const uint32_t *functions = program->functions.items;

	for (size_t i = 1; i < program->functions.count; i++) {
		uint32_t caller = functions[rng_below(&program->rng, i)];
		uint32_t function = functions[i];

		program->callers[function] = caller + 1;
		program->nexts[function] = program->callees[caller];
		program->callees[caller] = function + 1;
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
static void program_heat(struct program *program)
{
	const struct simulate_plan *plan = program->plan;
	struct vec left = VEC_INIT(uint32_t);
	double sum = 0;

	for (size_t i = 0; i < program->running.count; i++) {
		sum += pow((double)i + 1, -plan->slope);
		vec_push(&left, vec_at(&program->running, i));
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

/* What is drawn by its rate is found by sums of rates. */
static void program_sum(struct program *program)
{
	double sum = 0;

	program->sums = calloc(program->running.count, sizeof(*program->sums));
	for (size_t i = 0; i < program->running.count; i++) {
		uint32_t site = *(uint32_t *)vec_at(&program->running, i);

		program->may_race += program_may_race(program, site);
		sum += program->sites[site].rate;
		program->sums[i] = sum;
	}
}

/* What does not run takes no time: there is much of it. */
void program_init(struct program *program, const struct simulate_plan *plan,
		  uint64_t seed)
{
	size_t functions = (plan->own + plan->others) / PROGRAM_FUNCTION + 1;
	struct vec own = VEC_INIT(uint32_t);

	*program = (struct program){ .plan = plan,
				     .count = plan->own + plan->others,
				     .phase = plan->phases > 0,
				     .running = VEC_INIT(uint32_t),
				     .functions = VEC_INIT(uint32_t) };
	rng_init(&program->rng, seed);
	program->sites = calloc(program->count, sizeof(*program->sites));
	program->callers = calloc(functions, sizeof(*program->callers));
	program->callees = calloc(functions, sizeof(*program->callees));
	program->nexts = calloc(functions, sizeof(*program->nexts));
	program->variables = calloc(plan->races + plan->locked + 1,
				    sizeof(*program->variables));
	program_choose(program, 0, plan->own, plan->own_run);
	for (size_t i = 0; i < program->running.count; i++)
		vec_push(&own, vec_at(&program->running, i));
	program_choose(program, plan->own, plan->others, plan->others_run);
	program_heat(program);
	program_share(program, &own);
	program_call(program);
	program_sum(program);
	vec_deinit(&own);
}

void program_deinit(struct program *program)
{
	free(program->sites);
	free(program->sums);
	free(program->callers);
	free(program->callees);
	free(program->nexts);
	free(program->variables);
	vec_deinit(&program->running);
	vec_deinit(&program->functions);
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
		size_t low = 0, high = program->running.count - 1;
		double at = program_random(program) * program->sums[high];
		uint32_t site;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (program->sums[middle] <= at)
				low = middle + 1;
			else
				high = middle;
		}
		site = *(uint32_t *)vec_at(&program->running, low);
		if (program_rate(program, site) > 0)
			return site;
	}
}

const double simulate_times[SIMULATE_TIMES] = { 0.1, 0.3, 1, 3, 10, 30, 60 };
const double simulate_stalls[SIMULATE_STALLS] = {
	10, 30, 100, 300, 1000, 3000
};

void score_time(struct score *score, double s)
{
	struct simulate_result *result = &score->result;

	for (; score->time < SIMULATE_TIMES && s >= simulate_times[score->time];
	     score->time++) {
		result->covered[score->time] =
			(double)score->seen / (double)score->program->may_race;
		result->raced[score->time] = result->races;
	}
}

static void score_stalls(struct score *score, double stalls)
{
	struct simulate_result *result = &score->result;

	for (; score->stall < SIMULATE_STALLS &&
	       stalls >= simulate_stalls[score->stall];
	     score->stall++)
		result->raced_stalls[score->stall] = result->races;
}

void score_stall(struct score *score, size_t number, bool likely)
{
	struct simulate_site *site = &score->program->sites[number];

	score->stalls++;
	score->own += program_is_own(score->program, number);
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
	/* the stall that met it is counted when it has ended */
	score_stalls(score, (double)score->stalls);
	score->program->variables[variable - 1].raced = true;
	if (score->result.races == 0)
		score->result.first_s = s;
	score->result.races++;
}

/* Marks that the run did not reach are as they were at its end. */
void score_end(struct score *score)
{
	double seconds = score->program->plan->seconds;

	if (score->result.races == 0)
		score->result.first_s = seconds;
	score_time(score, simulate_times[SIMULATE_TIMES - 1]);
	score_stalls(score, simulate_stalls[SIMULATE_STALLS - 1]);
	score->result.samples = (double)score->stalls / seconds;
	if (score->stalls == 0)
		return;
	score->result.own = (double)score->own / (double)score->stalls;
	score->result.likely = (double)score->likely / (double)score->stalls;
}

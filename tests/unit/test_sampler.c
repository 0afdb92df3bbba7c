/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Draws over a made-up program against the naive list of its sites: uniform by
 * chi-square with fixed seeds, without replacement, and right in the count of
 * everything as parts come and go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "sampling/sampler-runs.h"
#include "sampling/sampler.h"

enum { PARTS = 3, FUNCTIONS = 40, SITES_MAX = 64, EMPTY = 200000 };

struct program {
	uint32_t sizes[PARTS][FUNCTIONS];
	uint32_t counts[PARTS][FUNCTIONS];
	uint32_t offsets[PARTS][FUNCTIONS][SITES_MAX];
	unsigned int decodes[PARTS][FUNCTIONS];
	unsigned int sites; /* in all */
	bool fail;
};

/* Functions of very unequal size and density, some without sites. */
static void program_make(struct program *program)
{
	struct rng rng;

	memset(program, 0, sizeof(*program));
	rng_init(&rng, 7);
	for (int p = 0; p < PARTS; p++) {
		for (int f = 0; f < FUNCTIONS; f++) {
			uint32_t at = (uint32_t)rng_below(&rng, 20);
			uint32_t n =
				f % 7 == 3
					? 0
					: (uint32_t)rng_below(&rng, SITES_MAX);

			for (uint32_t i = 0; i < n; i++) {
				program->offsets[p][f][i] = at;
				at += 1 + (uint32_t)rng_below(&rng, 12);
			}
			program->counts[p][f] = n;
			program->sizes[p][f] =
				at + 1 + (uint32_t)rng_below(&rng, 200);
			program->sites += n;
		}
	}
}

static struct error *program_decode(void *context, uint32_t part,
				    uint32_t function, struct vec *offsets)
{
	struct program *program = context;

	if (program->fail)
		return error_nomem;
	if (part >= PARTS)
		return NULL;
	program->decodes[part][function]++;
	for (uint32_t i = 0; i < program->counts[part][function]; i++)
		vec_push(offsets, &program->offsets[part][function][i]);
	return NULL;
}

static void make(struct program *program, struct sampler *sampler,
		 uint64_t seed)
{
	struct sampler_text text = { .decode = program_decode,
				     .context = program };
	uint32_t part;

	program_make(program);
	sampler_init(sampler, &text, seed);
	for (int p = 0; p < PARTS; p++) {
		assert_null(sampler_add(sampler, program->sizes[p], FUNCTIONS,
					p == 0, &part));
		assert_int_equal(part, p);
	}
}

static uint64_t draw(struct sampler *sampler)
{
	uint64_t id = UINT64_MAX;

	assert_null(sampler_draw(sampler, &id));
	return id;
}

/* The number of the drawn site in the program's own list, or fail. */
static unsigned int number_of(const struct program *program,
			      const struct sampler *sampler, uint64_t id)
{
	uint32_t part, function, offset;
	unsigned int number = 0;

	sampler_locate(sampler, id, &part, &function, &offset);
	for (uint32_t p = 0; p < PARTS; p++) {
		for (uint32_t f = 0; f < FUNCTIONS; f++) {
			for (uint32_t i = 0; i < program->counts[p][f]; i++) {
				if (p == part && f == function &&
				    program->offsets[p][f][i] == offset)
					return number;
				number++;
			}
		}
	}
	fail_msg("drawn %u:%u+%u, which is no site", part, function, offset);
	return 0;
}

/* Draw with immediate return; is the distribution uniform? */
static double chi_square(struct program *program, struct sampler *sampler,
			 unsigned int per_site)
{
	unsigned int *seen = calloc(program->sites, sizeof(*seen));
	double sum = 0;

	for (unsigned int i = 0; i < per_site * program->sites; i++) {
		uint64_t id = draw(sampler);

		seen[number_of(program, sampler, id)]++;
		sampler_return(sampler, id, SAMPLER_FREE);
	}
	for (unsigned int i = 0; i < program->sites; i++) {
		double off = (double)seen[i] - per_site;

		sum += off * off / per_site;
	}
	free(seen);
	/* normal approximation: degrees of freedom n, variance 2n */
	return (sum - (program->sites - 1)) /
	       __builtin_sqrt(2.0 * (program->sites - 1));
}

static void list_is_uniform(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	bool done = false;

	for (uint64_t seed = 1; seed <= 3; seed++) {
		double z;

		make(program, &sampler, seed);
		assert_null(sampler_work(&sampler, UINT64_MAX, &done));
		assert_true(done && sampler_complete(&sampler));
		assert_int_equal(sampler.known, program->sites);
		z = chi_square(program, &sampler, 40);
		assert_true(sampler.listed);
		assert_true(z > -4 && z < 4);
		sampler_deinit(&sampler);
	}
}

/*
 * How often each site was the nth drawn of many samplers, most of whose text is
 * not decoded, is as far from uniform as this many standard deviations.
 */
static double nth_draws(struct program *program, unsigned int n,
			unsigned int samplers)
{
	unsigned int *seen = calloc(program->sites, sizeof(*seen));
	double want = (double)samplers / program->sites;
	double sum = 0;

	assert_non_null(seen);
	for (uint64_t seed = 0; seed < samplers; seed++) {
		struct sampler sampler;
		uint64_t id = 0;

		make(program, &sampler, seed);
		for (unsigned int i = 0; i < n; i++)
			id = draw(&sampler);
		assert_false(sampler.listed);
		assert_true(sampler.known < program->sites);
		seen[number_of(program, &sampler, id)]++;
		sampler_deinit(&sampler);
	}
	for (unsigned int i = 0; i < program->sites; i++)
		sum += (seen[i] - want) * (seen[i] - want) / want;
	free(seen);
	return (sum - (program->sites - 1)) /
	       __builtin_sqrt(2.0 * (program->sites - 1));
}

static void draws_of_little_text_are_uniform(void **state)
{
	struct program *program = *state;
	double first, tenth;

	program_make(program);
	first = nth_draws(program, 1, 5 * program->sites);
	tenth = nth_draws(program, 10, 5 * program->sites);
	assert_true(first > -4 && first < 4);
	assert_true(tenth > -4 && tenth < 4);
}

/* Blocks that hold nothing are passed over. */
static void text_without_sites_is_no_obstacle(void **state)
{
	struct program *program = *state;
	static uint32_t ones[EMPTY];
	struct sampler sampler;
	uint32_t part;

	for (int i = 0; i < EMPTY; i++)
		ones[i] = 1;
	make(program, &sampler, 1);
	assert_null(sampler_add(&sampler, ones, EMPTY, false, &part));
	for (unsigned int i = 0; i < 100; i++)
		assert_int_not_equal(draw(&sampler), 0);
	sampler_remove(&sampler, part);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_not_equal(draw(&sampler), 0);
	sampler_deinit(&sampler);
}

static void every_site_can_be_out_once(void **state)
{
	struct program *program = *state;
	unsigned char *out;
	struct sampler sampler;
	bool done;

	make(program, &sampler, 5);
	out = calloc(program->sites, 1);
	/* half of them while decoding is under way */
	for (unsigned int i = 0; i < program->sites; i++) {
		uint64_t id;

		if (i == program->sites / 2)
			assert_null(sampler_work(&sampler, UINT64_MAX, &done));
		id = draw(&sampler);
		assert_int_not_equal(id, 0);
		assert_false(out[number_of(program, &sampler, id)]++);
	}
	assert_int_equal(draw(&sampler), 0);
	assert_int_equal(sampler.out, program->sites);
	free(out);
	sampler_deinit(&sampler);
}

static void a_returned_site_is_drawn_again_a_retired_one_never(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	uint64_t first, second, again;
	bool done;

	make(program, &sampler, 5);
	assert_null(sampler_work(&sampler, UINT64_MAX, &done));
	for (unsigned int i = 2; i < program->sites; i++)
		draw(&sampler);
	first = draw(&sampler);
	second = draw(&sampler);
	sampler_return(&sampler, first, SAMPLER_FREE);
	sampler_return(&sampler, second, SAMPLER_RETIRED);
	assert_int_equal(sampler.retired, 1);
	again = draw(&sampler);
	assert_int_equal(again, first);
	assert_int_equal(draw(&sampler), 0);
	sampler_deinit(&sampler);
}

static void a_site_can_be_retired_while_it_is_out(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	uint64_t out, in;
	bool done;

	make(program, &sampler, 5);
	assert_null(sampler_work(&sampler, UINT64_MAX, &done));
	for (unsigned int i = 2; i < program->sites; i++)
		draw(&sampler);
	out = draw(&sampler);
	in = draw(&sampler);
	sampler_return(&sampler, in, SAMPLER_FREE);
	sampler_retire(&sampler, out);
	sampler_retire(&sampler, in);
	sampler_retire(&sampler, in);
	assert_int_equal(sampler.retired, 2);
	assert_int_equal(sampler.out, program->sites - 1);
	sampler_return(&sampler, out, SAMPLER_FREE);
	assert_int_equal(sampler.out, program->sites - 2);
	assert_int_equal(draw(&sampler), 0);
	sampler_retire(&sampler, 0);
	sampler_retire(&sampler, UINT64_MAX);
	sampler_deinit(&sampler);
}

static void a_removed_part_is_never_drawn(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	uint32_t part, function, offset;
	uint64_t old = 0;
	unsigned int left;
	bool done;

	make(program, &sampler, 9);
	assert_null(sampler_work(&sampler, UINT64_MAX, &done));
	do
		old = draw(&sampler);
	while (old >> 32 != 2);
	sampler_remove(&sampler, 1);
	sampler_return(&sampler, old, SAMPLER_FREE);
	left = (unsigned int)(sampler.known - sampler.out);
	for (unsigned int i = 0; i < left; i++) {
		uint64_t id = draw(&sampler);

		assert_int_not_equal(id, 0);
		sampler_locate(&sampler, id, &part, &function, &offset);
		assert_int_not_equal(part, 1);
	}
	assert_int_equal(draw(&sampler), 0);
	assert_int_equal(sampler.out, sampler.known);
	sampler_deinit(&sampler);
}

static void a_part_that_joins_late_is_drawn(void **state)
{
	struct program *program = *state;
	struct sampler_text text = { .decode = program_decode,
				     .context = program };
	struct sampler sampler;
	uint32_t part;
	bool done, second = false;

	program_make(program);
	sampler_init(&sampler, &text, 3);
	assert_int_equal(draw(&sampler), 0);
	assert_null(sampler_add(&sampler, program->sizes[0], FUNCTIONS, false,
				&part));
	assert_null(sampler_work(&sampler, UINT64_MAX, &done));
	sampler_return(&sampler, draw(&sampler), SAMPLER_FREE);
	assert_true(sampler.listed);
	assert_null(sampler_add(&sampler, program->sizes[1], FUNCTIONS, false,
				&part));
	assert_false(sampler.listed);
	for (int i = 0; i < 200; i++)
		second |= draw(&sampler) >> 32 == 2;
	assert_true(second);
	sampler_deinit(&sampler);
}

static void a_function_is_decoded_once(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	bool done;

	make(program, &sampler, 4);
	for (int i = 0; i < 300; i++)
		draw(&sampler);
	assert_null(sampler_work(&sampler, UINT64_MAX, &done));
	for (int p = 0; p < PARTS; p++)
		for (int f = 0; f < FUNCTIONS; f++)
			assert_int_equal(program->decodes[p][f], 1);
	sampler_deinit(&sampler);
}

static void the_same_seed_draws_the_same(void **state)
{
	struct program *program = *state;
	struct sampler a, b, c;
	int different = 0;

	make(program, &a, 21);
	make(program, &b, 21);
	make(program, &c, 22);
	for (int i = 0; i < 200; i++) {
		uint64_t id = draw(&a);
		uint32_t p[2], f[2], o[2];

		sampler_locate(&a, id, &p[0], &f[0], &o[0]);
		sampler_locate(&b, draw(&b), &p[1], &f[1], &o[1]);
		assert_true(p[0] == p[1] && f[0] == f[1] && o[0] == o[1]);
		sampler_locate(&c, draw(&c), &p[1], &f[1], &o[1]);
		different += p[0] != p[1] || f[0] != f[1] || o[0] != o[1];
	}
	assert_true(different > 150);
	sampler_deinit(&a);
	sampler_deinit(&b);
	sampler_deinit(&c);
}

/* Take all that has not run, of all parts; how many there were. */
static unsigned int take_unrun(struct sampler *sampler, bool sampled,
			       uint64_t *ids)
{
	unsigned int count = 0;

	for (uint32_t part = 0; part < PARTS; part++) {
		struct sampler_walk walk = { .sampled = sampled };
		uint64_t id;

		for (;;) {
			assert_null(sampler_take_unrun(sampler, part,
						       UINT64_MAX, &walk, &id));
			if (id == 0)
				break;
			ids[count++] = id;
		}
	}
	return count;
}

static void what_has_not_run_is_taken_whole_and_once(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	uint64_t *ids;

	make(program, &sampler, 1);
	ids = calloc(program->sites, sizeof(*ids));
	assert_non_null(ids);
	assert_int_equal(take_unrun(&sampler, false, ids), program->sites);
	assert_int_equal(sampler.out_once, program->sites);
	assert_int_equal(sampler.out, program->sites);
	assert_int_equal(draw(&sampler), 0);
	/* half of them run, the other half comes back as it went */
	for (unsigned int i = 0; i < program->sites; i++)
		sampler_return(&sampler, ids[i],
			       i % 2 ? SAMPLER_RAN : SAMPLER_FREE);
	assert_int_equal(sampler.out_once, 0);
	assert_int_equal(sampler.out, 0);
	assert_int_equal(take_unrun(&sampler, false, ids),
			 (program->sites + 1) / 2);
	free(ids);
	sampler_deinit(&sampler);
}

/* A third had a sample, a third was retired, all are out when it ends. */
static void the_next_execution_begins_with_what_had_no_sample(void **state)
{
	struct program *program = *state;
	unsigned int third = program->sites / 3;
	struct sampler sampler;
	uint64_t *ids;

	make(program, &sampler, 1);
	ids = calloc(program->sites, sizeof(*ids));
	assert_non_null(ids);
	assert_null(sampler_runs(&sampler, 1, 0));
	assert_int_equal(take_unrun(&sampler, false, ids), program->sites);
	for (unsigned int i = 0; i < third; i++) {
		assert_true(sampler_mark(&sampler, ids[i]));
		sampler_return(&sampler, ids[i], SAMPLER_RAN);
		sampler_retire(&sampler, ids[third + i]);
	}
	sampler_begin_again(&sampler);
	assert_int_equal(sampler.out + sampler.out_once + sampler.retired, 0);
	assert_int_equal(sampler.sampled, third);
	assert_int_equal(take_unrun(&sampler, false, ids),
			 program->sites - third);
	assert_int_equal(take_unrun(&sampler, true, ids), third);
	for (unsigned int i = 0; i < third; i++)
		assert_false(sampler_mark(&sampler, ids[i]));
	/* nothing is lost, and nothing is there twice */
	sampler_begin_again(&sampler);
	for (unsigned int i = 0; i < program->sites; i++)
		assert_int_not_equal(draw(&sampler), 0);
	assert_int_equal(draw(&sampler), 0);
	free(ids);
	sampler_deinit(&sampler);
}

/* Also of functions that are known to run. */
static void news_of_the_next_execution_had_no_sample(void **state)
{
	struct program *program = *state;
	unsigned int left = 0, sampled = 0;
	struct sampler sampler;
	uint64_t id;

	make(program, &sampler, 1);
	/* part 0 is the program's own */
	assert_null(sampler_runs(&sampler, 0, 1));
	while ((id = sampler_take_news(&sampler)) != 0) {
		if (left++ % 2)
			continue;
		assert_true(sampler_mark(&sampler, id));
		sampler_return(&sampler, id, SAMPLER_RAN);
		sampled++;
	}
	assert_true(sampled > 0);
	sampler_begin_again(&sampler);
	while ((id = sampler_take_news(&sampler)) != 0) {
		assert_true(sampler_mark(&sampler, id));
		left--;
	}
	assert_int_equal(left, sampled);
	sampler_deinit(&sampler);
}

/* Whatever way they went out, and whenever the list was made. */
static void each_site_is_listed_once_however_it_was_taken(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	uint64_t *ids, *drawn;
	unsigned int taken, n;

	make(program, &sampler, 1);
	ids = calloc(program->sites, sizeof(*ids));
	drawn = calloc(program->sites, sizeof(*drawn));
	assert_non_null(ids);
	assert_non_null(drawn);
	for (int round = 0; round < 4; round++) {
		taken = take_unrun(&sampler, false, ids);
		/* draws take those off the list that are out already */
		for (unsigned int i = 0; i < taken / 2; i++)
			sampler_return(&sampler, ids[i], SAMPLER_FREE);
		for (n = 0; (drawn[n] = draw(&sampler)) != 0; n++)
			;
		assert_int_equal(n, taken / 2);
		for (unsigned int i = taken / 2; i < taken; i++)
			sampler_return(&sampler, ids[i], SAMPLER_FREE);
		for (unsigned int i = 0; i < n; i++)
			sampler_return(&sampler, drawn[i], SAMPLER_FREE);
		assert_int_equal(sampler.out, 0);
		assert_int_equal(sampler.free.count, program->sites);
	}
	free(ids);
	free(drawn);
	sampler_deinit(&sampler);
}

/* How many of the draws were of the function, and of the part. */
static void draw_some(const struct program *program, struct sampler *sampler,
		      unsigned int draws, uint32_t wanted,
		      unsigned int functions[FUNCTIONS],
		      unsigned int parts[PARTS])
{
	(void)program;
	memset(functions, 0, FUNCTIONS * sizeof(*functions));
	memset(parts, 0, PARTS * sizeof(*parts));
	for (unsigned int i = 0; i < draws; i++) {
		uint64_t id = draw(sampler);
		uint32_t part, function, offset;

		assert_true(
			sampler_locate(sampler, id, &part, &function, &offset));
		parts[part]++;
		functions[function] += part == wanted;
		sampler_return(sampler, id, SAMPLER_FREE);
	}
}

/* Of three parts of equal kind, functions 1, 2 and 4 of part 2 run. */
static void what_runs_is_drawn_first(void **state)
{
	struct program *program = *state;
	unsigned int functions[FUNCTIONS], parts[PARTS], of_three, sites;
	struct sampler sampler;

	make(program, &sampler, 3);
	assert_null(sampler_runs(&sampler, 2, 1));
	assert_null(sampler_runs(&sampler, 2, 2));
	assert_null(sampler_runs(&sampler, 2, 4));
	assert_null(sampler_runs(&sampler, 2, 4));
	assert_int_equal(sampler.running, 3);
	draw_some(program, &sampler, 8000, 2, functions, parts);
	of_three = functions[1] + functions[2] + functions[4];
	/* 7000 wanted and a little more, 30 is one standard deviation */
	assert_in_range(of_three, 6850, 7250);
	/* each of their sites is as likely as another */
	sites = program->counts[2][1] + program->counts[2][2] +
		program->counts[2][4];
	assert_in_range(functions[4] * sites / program->counts[2][4],
			of_three * 9 / 10, of_three * 11 / 10);
	/* and everything else is drawn too */
	assert_true(parts[0] > 100 && parts[1] > 100);
	sampler_deinit(&sampler);
}

static void of_what_runs_half_is_the_programs_own(void **state)
{
	struct program *program = *state;
	unsigned int functions[FUNCTIONS], parts[PARTS];
	struct sampler sampler;

	make(program, &sampler, 4);
	assert_null(sampler_runs(&sampler, 0, 1));
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		assert_null(sampler_runs(&sampler, 1, i));
	draw_some(program, &sampler, 8000, 0, functions, parts);
	/* half of 7000, and of 1000 some */
	assert_in_range(functions[1], 3350, 3800);
	sampler_deinit(&sampler);
}

/*
 * Where what is drawn of the program's own is seldom reached, more of it is
 * drawn: four of five at most.
 */
static void where_others_have_more_stalls_more_is_drawn_of_its_own(void **state)
{
	struct program *program = *state;
	unsigned int functions[FUNCTIONS], parts[PARTS];
	struct sampler sampler;

	make(program, &sampler, 4);
	assert_null(sampler_runs(&sampler, 0, 1));
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		assert_null(sampler_runs(&sampler, 1, i));
	/* stalls elsewhere */
	for (uint64_t i = 0; i < 200; i++)
		sampler_mark(&sampler, UINT64_C(2) << 32);
	draw_some(program, &sampler, 8000, 0, functions, parts);
	/* four fifths of 7000, and of 1000 some */
	assert_in_range(functions[1], 5450, 5900);
	/* and as many in its own: half again */
	for (uint64_t i = 0; i < 200; i++)
		sampler_mark(&sampler, UINT64_C(1) << 32);
	draw_some(program, &sampler, 8000, 0, functions, parts);
	assert_in_range(functions[1], 3350, 3900);
	sampler_deinit(&sampler);
}

/* However often they go out and come back, and while the list is made anew. */
static void what_runs_is_on_each_list_once(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	uint64_t *ids;
	unsigned int n = 0;

	make(program, &sampler, 5);
	ids = calloc(program->sites + 1, sizeof(*ids));
	assert_non_null(ids);
	for (int round = 0; round < 5; round++) {
		for (n = 0; (ids[n] = draw(&sampler)) != 0; n++)
			assert_true(n < program->sites);
		/* all of them, some by the list of those that run */
		assert_int_equal(n, program->sites);
		for (unsigned int i = 0; i < n; i++)
			sampler_return(&sampler, ids[i],
				       i % 9 == 0 ? SAMPLER_RAN : SAMPLER_FREE);
		assert_int_equal(sampler.out, 0);
		assert_int_equal(sampler.free.count, program->sites);
		assert_true(sampler.warm.unsampled.count +
				    sampler.warm_own.unsampled.count <=
			    program->sites);
	}
	/* with 40 functions each hit somewhere nearly all are known to run */
	assert_true(sampler.running > 0);
	sampler_remove(&sampler, 0);
	for (n = 0; draw(&sampler) != 0; n++)
		;
	assert_true(n < program->sites);
	assert_null(sampler_runs(&sampler, 0, 1));
	free(ids);
	sampler_deinit(&sampler);
}

/* It stays on the list of all sites, and comes back with a sample. */
static void what_is_private_is_drawn_like_the_rest(void **state)
{
	struct program *program = *state;
	unsigned int functions[FUNCTIONS], parts[PARTS];
	struct sampler sampler;

	make(program, &sampler, 6);
	assert_null(sampler_runs(&sampler, 0, 1));
	assert_null(sampler_runs(&sampler, 1, 1));
	for (unsigned int i = 0; i < program->counts[0][1]; i++) {
		/* each with a chance of one in 2^32 to stay */
		for (int n = 0; n < 32; n++)
			sampler_note_hit(&sampler, UINT64_C(1) << 32 | i,
					 false);
	}
	draw_some(program, &sampler, 4000, 0, functions, parts);
	assert_in_range(functions[1], 0, 100);
	assert_in_range(parts[1], 3400, 3999);
	for (unsigned int i = 0; i < program->counts[0][1]; i++)
		sampler_mark(&sampler, UINT64_C(1) << 32 | i);
	/* when they have been out once more */
	draw_some(program, &sampler, 40000, 0, functions, parts);
	assert_in_range(functions[1], 8000, 24000);
	sampler_deinit(&sampler);
}

/* By what was seen at other sites of their functions. */
static void what_is_likely_private_is_drawn_less(void **state)
{
	struct program *program = *state;
	unsigned int functions[FUNCTIONS], parts[PARTS];
	struct sampler sampler;
	uint64_t private, shared;

	make(program, &sampler, 8);
	assert_null(sampler_runs(&sampler, 0, 1));
	assert_null(sampler_runs(&sampler, 0, 2));
	assert_null(sampler_find(&sampler, 0, 1, program->offsets[0][1][0],
				 &private));
	assert_null(sampler_find(&sampler, 0, 2, program->offsets[0][2][0],
				 &shared));
	for (int n = 0; n < 20; n++) {
		sampler_note_hit(&sampler, private, false);
		sampler_note_hit(&sampler, shared, true);
	}
	draw_some(program, &sampler, 8000, 0, functions, parts);
	/* one in 21 as often, and what is drawn of any function */
	assert_in_range(functions[1] * program->counts[0][2] * 10 /
				program->counts[0][1],
			1, functions[2]);
	/* when as many were shared, half as often */
	for (int n = 0; n < 20; n++)
		sampler_note_hit(&sampler, private + 1, true);
	draw_some(program, &sampler, 8000, 0, functions, parts);
	assert_in_range(functions[1] * program->counts[0][2] * 10 /
				program->counts[0][1],
			functions[2] * 4, functions[2] * 7);
	/* of thousands of hits the last ones count */
	for (int n = 0; n < 5000; n++)
		sampler_note_hit(&sampler, private + 1, true);
	draw_some(program, &sampler, 8000, 0, functions, parts);
	assert_in_range(functions[1] * program->counts[0][2] * 10 /
				program->counts[0][1],
			functions[2] * 8, functions[2] * 12);
	sampler_deinit(&sampler);
}

/* How often `id' is drawn; nothing else leads to a sample. */
static unsigned int draws_of(struct sampler *sampler, uint64_t id,
			     unsigned int draws)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < draws; i++) {
		uint64_t drawn = draw(sampler);

		count += drawn == id;
		sampler_return(sampler, drawn,
			       drawn == id ? SAMPLER_RAN : SAMPLER_FREE);
	}
	return count;
}

static void where_draws_find_nothing_samples_repeat(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	uint64_t id;

	make(program, &sampler, 9);
	assert_null(sampler_runs(&sampler, 0, 1));
	assert_null(sampler_runs(&sampler, 0, 2));
	assert_null(
		sampler_find(&sampler, 0, 1, program->offsets[0][1][0], &id));
	sampler_mark(&sampler, id);
	/* it goes to the list of those with a sample when it comes back */
	while (draws_of(&sampler, id, 1) == 0)
		;
	/* where there are hits enough it is one of them all */
	assert_in_range(draws_of(&sampler, id, 600), 0, 60);
	sampler.repeats = true;
	/* and as long as most draws find something */
	sampler.found = 400;
	sampler.missed = 0;
	assert_in_range(draws_of(&sampler, id, 100), 0, 15);
	/* half of 7000 */
	draws_of(&sampler, id, 2000);
	assert_in_range(draws_of(&sampler, id, 8000), 3200, 3800);
	sampler_deinit(&sampler);
}

/* At once, and not again when it was lifted without a hit. */
static void what_was_missed_is_drawn_soon(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	unsigned int draws = 0;
	uint64_t id;

	make(program, &sampler, 10);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		assert_null(sampler_runs(&sampler, 0, i));
	while ((id = draw(&sampler)) >> 32 != 1)
		sampler_return(&sampler, id, SAMPLER_FREE);
	sampler_return(&sampler, id, SAMPLER_MISSED);
	assert_int_equal(sampler.warm_own.missed.count, 1);
	/* each with a chance of at least 7 / 16 */
	while (draws_of(&sampler, id, 1) == 0)
		draws++;
	assert_in_range(draws, 0, 25);
	assert_int_equal(sampler.warm_own.missed.count, 0);
	/* one that had a sample is like others that had */
	sampler_mark(&sampler, id);
	while (draw(&sampler) != id)
		;
	sampler_return(&sampler, id, SAMPLER_MISSED);
	assert_int_equal(sampler.warm_own.missed.count, 0);
	assert_int_equal(sampler.warm_own.sampled.count, 1);
	sampler_deinit(&sampler);
}

/* Each function once, but for those that are out, run, or were refused. */
static void entries_go_out_once(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	size_t cursor = 0, taken = 0;
	uint32_t function;

	make(program, &sampler, 7);
	assert_null(sampler_runs(&sampler, 1, 3));
	while (sampler_take_entry(&sampler, 1, &cursor, &function)) {
		assert_int_not_equal(function, 3);
		taken++;
	}
	assert_int_equal(taken, FUNCTIONS - 1);
	assert_int_equal(sampler.entries_out, FUNCTIONS - 1);
	cursor = 0;
	assert_false(sampler_take_entry(&sampler, 1, &cursor, &function));
	/* one was lifted, one was refused, one was hit */
	sampler_return_entry(&sampler, sampler_entry(1, 5));
	sampler_retire_entry(&sampler, sampler_entry(1, 6));
	sampler_return_entry(&sampler, sampler_entry(1, 7));
	assert_null(sampler_entered(&sampler, sampler_entry(1, 7)));
	assert_int_equal(sampler.entries_out, FUNCTIONS - 4);
	assert_int_equal(sampler.running, 2);
	cursor = 0;
	assert_true(sampler_take_entry(&sampler, 1, &cursor, &function));
	assert_int_equal(function, 5);
	assert_false(sampler_take_entry(&sampler, 1, &cursor, &function));
	sampler_remove(&sampler, 1);
	assert_int_equal(sampler.entries_out, 0);
	/* what has gone is no matter */
	sampler_return_entry(&sampler, sampler_entry(1, 5));
	assert_null(sampler_entered(&sampler, sampler_entry(1, 5)));
	assert_int_equal(sampler.entries_out, 0);
	sampler_deinit(&sampler);
}

/* Each function calls the next one, itself, and the first. */
static struct error *program_callees(void *context, uint32_t part,
				     uint32_t function, struct vec *functions)
{
	const struct program *program = context;
	uint32_t next = function + 1, first = 0;

	(void)part;
	if (program->fail)
		return error_nomem;
	if (next < FUNCTIONS)
		vec_push(functions, &next);
	vec_push(functions, &function);
	vec_push(functions, &first);
	return NULL;
}

/* Part 0 is the program's own. */
static void callees_of_what_runs_go_out_first(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	uint32_t part, function;

	make(program, &sampler, 7);
	sampler.text.callees = program_callees;
	assert_false(sampler_take_callee(&sampler, &part, &function));
	assert_null(sampler_runs(&sampler, 1, 3));
	assert_false(sampler_take_callee(&sampler, &part, &function));
	assert_null(sampler_runs(&sampler, 0, 7));
	assert_null(sampler_runs(&sampler, 0, 20));
	assert_null(sampler_runs(&sampler, 0, 21));
	/* in the order in which they were found; 21 runs by now */
	assert_true(sampler_take_callee(&sampler, &part, &function));
	assert_int_equal(part, 0);
	assert_int_equal(function, 8);
	assert_true(sampler_take_callee(&sampler, &part, &function));
	assert_int_equal(function, 0);
	assert_true(sampler_take_callee(&sampler, &part, &function));
	assert_int_equal(function, 22);
	assert_false(sampler_take_callee(&sampler, &part, &function));
	assert_int_equal(sampler.entries_out, 3);
	/* it is found to run; what was lifted unhit waits for its turn */
	sampler_return_entry(&sampler, sampler_entry(0, 8));
	sampler_return_entry(&sampler, sampler_entry(0, 22));
	assert_null(sampler_entered(&sampler, sampler_entry(0, 8)));
	assert_true(sampler_take_callee(&sampler, &part, &function));
	assert_int_equal(function, 9);
	assert_false(sampler_take_callee(&sampler, &part, &function));
	assert_null(sampler_runs(&sampler, 0, 30));
	sampler_remove(&sampler, 0);
	assert_false(sampler_take_callee(&sampler, &part, &function));
	sampler_deinit(&sampler);
}

/* What they call too, and so on, the nearest first. */
static void callees_of_callees_follow(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	uint32_t part, function;

	make(program, &sampler, 7);
	sampler.text.callees = program_callees;
	assert_null(sampler_follow_callees(&sampler, 4));
	assert_false(sampler_take_callee(&sampler, &part, &function));
	assert_null(sampler_runs(&sampler, 0, 7));
	while (sampler_take_news(&sampler))
		;
	assert_null(sampler_follow_callees(&sampler, 4));
	/* of the nearest their sites too; none of them is seen to run */
	assert_null(sampler_expect_callees(&sampler, 1));
	assert_int_equal(sampler.news.count, 1);
	assert_int_not_equal(sampler_take_news(&sampler), 0);
	assert_int_equal(sampler.running, 1);
	for (uint32_t i = 0; i < 4; i++) {
		static const uint32_t nearest[] = { 8, 0, 9, 1 };

		assert_true(sampler_take_callee(&sampler, &part, &function));
		assert_int_equal(function, nearest[i]);
	}
	assert_false(sampler_take_callee(&sampler, &part, &function));
	program->fail = true;
	assert_null(sampler_follow_callees(&sampler, 4));
	sampler_deinit(&sampler);
}

/* Without memory it is told: those callees come in their turn. */
static void callees_need_memory(void **state)
{
	struct program *program = *state;
	struct sampler sampler;

	make(program, &sampler, 7);
	sampler.text.callees = program_callees;
	assert_null(sampler_work(&sampler, UINT64_MAX, NULL));
	program->fail = true;
	assert_ptr_equal(sampler_runs(&sampler, 0, 7), error_nomem);
	program->fail = false;
	assert_int_equal(sampler.running, 1);
	assert_true(sampler_take_news(&sampler) != 0);
	sampler_deinit(&sampler);
}

/* Part 0 is the program's own; what has run before is no news. */
static void sites_of_own_functions_that_run_are_news(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	unsigned int expected, taken = 0;
	uint64_t id, first;

	make(program, &sampler, 8);
	assert_int_equal(sampler_take_news(&sampler), 0);
	assert_null(sampler_runs(&sampler, 1, 1));
	assert_int_equal(sampler_take_news(&sampler), 0);
	assert_null(sampler_runs(&sampler, 0, 1));
	assert_null(sampler_runs(&sampler, 0, 2));
	expected = program->counts[0][1] + program->counts[0][2];
	first = sampler_take_news(&sampler);
	assert_int_not_equal(first, 0);
	for (id = first; id != 0; id = sampler_take_news(&sampler))
		taken++;
	assert_int_equal(taken, expected);
	assert_int_equal(sampler.out_once, expected);
	/* told again, nothing is new */
	sampler_return(&sampler, first, SAMPLER_RAN);
	assert_null(sampler_runs(&sampler, 0, 1));
	assert_int_equal(sampler_take_news(&sampler), 0);
	sampler_deinit(&sampler);
}

static void samples_count_distinct_sites(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	uint64_t a, b;

	make(program, &sampler, 4);
	a = draw(&sampler);
	b = draw(&sampler);
	assert_true(sampler_mark(&sampler, a));
	assert_false(sampler_mark(&sampler, a));
	sampler_return(&sampler, a, SAMPLER_FREE);
	assert_true(sampler_mark(&sampler, b));
	assert_false(sampler_mark(&sampler, UINT64_MAX));
	assert_int_equal(sampler.sampled, 2);
	sampler_deinit(&sampler);
}

static void a_failed_decode_leaves_all_as_it_was(void **state)
{
	struct program *program = *state;
	struct sampler sampler;
	uint64_t id = 77;

	make(program, &sampler, 4);
	program->fail = true;
	assert_ptr_equal(sampler_draw(&sampler, &id), error_nomem);
	assert_int_equal(id, 77);
	assert_int_equal(sampler.known, 0);
	program->fail = false;
	assert_int_not_equal(draw(&sampler), 0);
	sampler_deinit(&sampler);
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct program));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(draws_of_little_text_are_uniform),
		TEST(text_without_sites_is_no_obstacle),
		TEST(list_is_uniform),
		TEST(every_site_can_be_out_once),
		TEST(a_returned_site_is_drawn_again_a_retired_one_never),
		TEST(a_site_can_be_retired_while_it_is_out),
		TEST(a_removed_part_is_never_drawn),
		TEST(a_part_that_joins_late_is_drawn),
		TEST(a_function_is_decoded_once),
		TEST(the_same_seed_draws_the_same),
		TEST(what_has_not_run_is_taken_whole_and_once),
		TEST(the_next_execution_begins_with_what_had_no_sample),
		TEST(news_of_the_next_execution_had_no_sample),
		TEST(each_site_is_listed_once_however_it_was_taken),
		TEST(what_runs_is_drawn_first),
		TEST(of_what_runs_half_is_the_programs_own),
		TEST(where_others_have_more_stalls_more_is_drawn_of_its_own),
		TEST(what_runs_is_on_each_list_once),
		TEST(what_is_private_is_drawn_like_the_rest),
		TEST(what_is_likely_private_is_drawn_less),
		TEST(where_draws_find_nothing_samples_repeat),
		TEST(what_was_missed_is_drawn_soon),
		TEST(entries_go_out_once),
		TEST(callees_of_what_runs_go_out_first),
		TEST(callees_of_callees_follow),
		TEST(callees_need_memory),
		TEST(sites_of_own_functions_that_run_are_news),
		TEST(samples_count_distinct_sites),
		TEST(a_failed_decode_leaves_all_as_it_was),
	};

	return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}

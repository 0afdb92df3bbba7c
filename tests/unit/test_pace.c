/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When instances are captured, of races that happen all the time, in simulated
 * time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schedule/budget.h"
#include "schedule/pace.h"

#define MS CLOCK_NS_PER_MS

enum { TAKEN_MAX = 64 };

/* Conflicts of a pair each 100 us, each of which is replayed for `takes_ns'. */
struct scene {
	struct budget budget;
	struct pace pace;
	struct pace_pair pair;
	uint64_t now_ns, takes_ns;
	uint64_t waits_ns; /* for a processor, each */
	uint64_t taken_ns[TAKEN_MAX];
	size_t taken;
	bool lessons; /* none of them counts */
	bool enough;
};

static void start(struct scene *scene, double share, uint64_t takes_ns)
{
	*scene = (struct scene){ .now_ns = CLOCK_NS_PER_S,
				 .takes_ns = takes_ns };
	budget_init(&scene->budget);
	budget_set_share(&scene->budget, share);
	scene->budget.competition = 1;
}

/* False: it is not captured. */
static bool conflict(struct scene *scene, struct pace_pair *pair)
{
	const struct pace_answer answer = { !scene->lessons, scene->enough,
					    scene->takes_ns };

	budget_earn(&scene->budget, scene->now_ns);
	if (!pace_is_open(&scene->pace, &scene->budget, scene->now_ns) ||
	    !pace_takes(&scene->pace, pair, scene->now_ns))
		return false;
	pace_sent(&scene->pace, pair, scene->now_ns);
	assert_false(pace_is_open(&scene->pace, &scene->budget, scene->now_ns));
	if (scene->taken < TAKEN_MAX)
		scene->taken_ns[scene->taken++] = scene->now_ns;
	scene->now_ns += scene->takes_ns + scene->waits_ns;
	budget_spend_replay(&scene->budget, 0, scene->takes_ns);
	pace_answered(&scene->pace, pair, &answer, scene->now_ns);
	return true;
}

static void run(struct scene *scene, uint64_t ns)
{
	for (uint64_t end = scene->now_ns + ns; scene->now_ns < end;
	     scene->now_ns += MS / 10)
		conflict(scene, &scene->pair);
}

static void the_first_of_a_pair_are_early(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	run(&scene, CLOCK_NS_PER_S);
	/* a replay, and a rest as long */
	for (size_t i = 0; i < PACE_EARLY; i++)
		assert_in_range(scene.taken_ns[i], CLOCK_NS_PER_S + 2 * i * MS,
				CLOCK_NS_PER_S + (2 * i + 1) * MS);
}

static void a_wait_for_a_processor_is_followed_by_no_rest(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	scene.waits_ns = 30 * MS;
	run(&scene, CLOCK_NS_PER_S);
	for (size_t i = 0; i < PACE_EARLY; i++)
		assert_in_range(scene.taken_ns[i], CLOCK_NS_PER_S + 32 * i * MS,
				CLOCK_NS_PER_S + (32 * i + 1) * MS);
}

static void later_ones_are_spread_by_gaps_that_double(void **state)
{
	struct scene scene;
	uint64_t gap = PACE_GAP_NS;

	(void)state;
	start(&scene, 0, MS);
	run(&scene, 3 * CLOCK_NS_PER_S);
	assert_true(scene.taken > 20);
	for (size_t i = PACE_EARLY; i < scene.taken; i++) {
		uint64_t passed = scene.taken_ns[i] - scene.taken_ns[i - 1];

		assert_in_range(passed, gap, gap + MS);
		gap = 2 * gap < PACE_GAP_MAX_NS ? 2 * gap : PACE_GAP_MAX_NS;
	}
	/* as the header says */
	assert_in_range(scene.taken_ns[19] - scene.taken_ns[3], 1250 * MS,
			1350 * MS);
}

static void another_pair_has_its_own_first_ones(void **state)
{
	struct pace_pair other = { 0 };
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	run(&scene, CLOCK_NS_PER_S);
	scene.now_ns += 2 * MS;
	assert_false(conflict(&scene, &scene.pair));
	assert_true(conflict(&scene, &other));
}

static void the_budget_bounds_them_all(void **state)
{
	struct scene scene;

	(void)state;
	/* a quarter of 2 % is 5 ms a second, and a replay takes 4 */
	start(&scene, 0.02, 4 * MS);
	run(&scene, 20 * CLOCK_NS_PER_S);
	assert_in_range(scene.taken, 24, 26);
	assert_in_range((uint64_t)scene.budget.lost_replay_ns, 96 * MS,
			104 * MS);
}

static void a_lesson_is_followed_at_once(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	scene.lessons = true;
	run(&scene, 10 * MS);
	assert_in_range(scene.taken, 5, 6);
	assert_int_equal(scene.pair.taken, 0);
}

static void of_enough_one_in_sixteen_is_taken(void **state)
{
	struct scene scene;
	int skipped = 0;

	(void)state;
	start(&scene, 0, MS);
	scene.enough = true;
	assert_true(conflict(&scene, &scene.pair));
	scene.now_ns += 10 * MS;
	while (!conflict(&scene, &scene.pair))
		skipped++;
	assert_int_equal(skipped, PACE_SKIPS);
}

static void a_lost_answer_is_not_waited_for_for_ever(void **state)
{
	struct pace_pair pair = { 0 };
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	pace_sent(&scene.pace, &pair, scene.now_ns);
	scene.now_ns += PACE_ANSWER_NS - 1;
	assert_false(conflict(&scene, &pair));
	scene.now_ns++;
	assert_true(conflict(&scene, &pair));
}

static void answers_of_unknown_pairs_end_the_waiting(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	pace_sent(&scene.pace, &scene.pair, scene.now_ns);
	pace_answered(&scene.pace, NULL,
		      &(struct pace_answer){ .counts = true }, scene.now_ns);
	assert_true(conflict(&scene, &scene.pair));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_of_a_pair_are_early),
		cmocka_unit_test(a_wait_for_a_processor_is_followed_by_no_rest),
		cmocka_unit_test(later_ones_are_spread_by_gaps_that_double),
		cmocka_unit_test(another_pair_has_its_own_first_ones),
		cmocka_unit_test(the_budget_bounds_them_all),
		cmocka_unit_test(a_lesson_is_followed_at_once),
		cmocka_unit_test(of_enough_one_in_sixteen_is_taken),
		cmocka_unit_test(a_lost_answer_is_not_waited_for_for_ever),
		cmocka_unit_test(answers_of_unknown_pairs_end_the_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

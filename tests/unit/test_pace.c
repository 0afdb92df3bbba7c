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

#include "judge/replayed.h"
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
	bool still; /* what is captured next */
	bool same; /* by its values it is */
};

static void start(struct scene *scene, double share, uint64_t takes_ns)
{
	*scene = (struct scene){ .now_ns = CLOCK_NS_PER_S,
				 .takes_ns = takes_ns };
	budget_init(&scene->budget);
	budget_set_share(&scene->budget, share);
	scene->budget.competition = 1;
}

/* Capture an instance now, if it may be; pairs are told apart by their place. */
static bool capture(struct scene *scene, struct pace_pair *pair)
{
	const struct pace_instance instance = {
		.pair = (uintptr_t)pair,
		.sent_ns = scene->now_ns,
	};

	budget_earn(&scene->budget, scene->now_ns);
	if (!pace_is_open(&scene->pace, &scene->budget, scene->now_ns) ||
	    !pace_takes(&scene->pace, pair, scene->same, scene->now_ns))
		return false;
	pace_sent(&scene->pace, pair, &instance);
	if (scene->taken < TAKEN_MAX)
		scene->taken_ns[scene->taken++] = scene->now_ns;
	return true;
}

/* The oldest of the pair is replayed now; how long that took. */
static uint64_t replay(struct scene *scene, struct pace_pair *pair)
{
	const struct pace_answer answer = { .counts = !scene->lessons,
					    .still = scene->still,
					    .enough = scene->enough,
					    .cpu_ns = scene->takes_ns };
	struct pace_instance sent;

	scene->now_ns += scene->takes_ns + scene->waits_ns;
	budget_spend_replay(&scene->budget, 0, scene->takes_ns);
	assert_true(pace_answered(&scene->pace, pair, (uintptr_t)pair, &answer,
				  scene->now_ns, &sent));
	return scene->now_ns - sent.sent_ns;
}

/* False: it is not captured. It is replayed before the next conflict. */
static bool conflict(struct scene *scene, struct pace_pair *pair)
{
	if (!capture(scene, pair))
		return false;
	replay(scene, pair);
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
	/* one replay after the other */
	for (size_t i = 0; i < PACE_EARLY; i++)
		assert_in_range(scene.taken_ns[i],
				CLOCK_NS_PER_S + 11 * i * MS / 10,
				CLOCK_NS_PER_S + (11 * i + 1) * MS / 10);
}

/* New pairs all the time: half of it is left to other work. */
static void rests_of_new_pairs_add_up(void **state)
{
	static struct pace_pair pairs[TAKEN_MAX];
	struct scene scene;
	size_t burst;

	(void)state;
	start(&scene, 0, MS);
	for (size_t i = 0; i < TAKEN_MAX; scene.now_ns += MS / 10)
		i += conflict(&scene, &pairs[i]);
	for (burst = 1;
	     scene.taken_ns[burst] - scene.taken_ns[burst - 1] <= 11 * MS / 10;
	     burst++)
		;
	assert_in_range(burst, PACE_BURST_NS / MS, PACE_BURST_NS / MS + 3);
	for (size_t i = burst + 1; i < TAKEN_MAX; i++)
		assert_in_range(scene.taken_ns[i] - scene.taken_ns[i - 1],
				2 * MS - MS / 5, 2 * MS + MS / 5);
}

/* Beside busy threads: only what was computed is followed by a rest. */
static void a_wait_for_a_processor_is_followed_by_no_rest(void **state)
{
	static struct pace_pair pairs[TAKEN_MAX];
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	scene.waits_ns = 30 * MS;
	for (size_t i = 0; i < TAKEN_MAX; i++)
		assert_true(conflict(&scene, &pairs[i]));
}

static void several_of_a_known_pair_wait(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	assert_true(conflict(&scene, &scene.pair));
	for (int i = 1; i < PACE_EARLY; i++)
		assert_true(capture(&scene, &scene.pair));
	/* each is said to have taken the time since the one before it */
	for (int i = 1; i < PACE_EARLY; i++)
		assert_int_equal(replay(&scene, &scene.pair), MS);
}

static void one_of_an_unknown_pair_waits(void **state)
{
	struct pace_pair other = { 0 };
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	assert_true(capture(&scene, &scene.pair));
	assert_false(capture(&scene, &scene.pair));
	assert_true(capture(&scene, &other));
	scene.lessons = true;
	replay(&scene, &scene.pair);
	assert_true(capture(&scene, &scene.pair));
	assert_false(capture(&scene, &scene.pair));
}

static void no_more_wait_than_the_queue_holds(void **state)
{
	struct pace_pair pairs[PACE_QUEUE + 1] = { { 0 } };
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	for (size_t i = 0; i < PACE_QUEUE; i++)
		assert_true(capture(&scene, &pairs[i]));
	assert_false(capture(&scene, &pairs[PACE_QUEUE]));
	replay(&scene, &pairs[0]);
	assert_true(capture(&scene, &pairs[PACE_QUEUE]));
}

/* With few instances left to need, a pair leaves the queue to others. */
static void
a_pair_with_enough_for_a_verdict_waits_until_others_have(void **state)
{
	struct pace_pair other = { 0 };
	struct scene scene;

	(void)state;
	assert_int_equal(PACE_FEW, replayed_enough());
	start(&scene, 0, MS);
	while (scene.pair.taken < PACE_FEW) {
		assert_true(conflict(&scene, &scene.pair));
		scene.now_ns += PACE_GAP_MAX_NS;
	}
	assert_true(capture(&scene, &other));
	assert_false(capture(&scene, &scene.pair));
	replay(&scene, &other);
	scene.now_ns += 2 * MS;
	assert_false(capture(&scene, &scene.pair));
	scene.now_ns += MS;
	assert_true(capture(&scene, &scene.pair));
}

/* What waits is paid for first. */
static void what_waits_is_in_the_budget(void **state)
{
	struct pace_pair other = { 0 };
	struct scene scene;

	(void)state;
	/* a quarter of 2 % is 5 ms a second, and a replay takes 4 */
	start(&scene, 0.02, 4 * MS);
	budget_earn(&scene.budget, scene.now_ns);
	scene.now_ns += CLOCK_NS_PER_S;
	assert_true(conflict(&scene, &scene.pair));
	scene.now_ns += CLOCK_NS_PER_S / 2;
	assert_true(capture(&scene, &other));
	assert_false(capture(&scene, &scene.pair));
	replay(&scene, &other);
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
	assert_in_range(scene.taken, 9, 10);
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

static void what_tells_nothing_is_none_of_the_few(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	scene.still = true;
	run(&scene, CLOCK_NS_PER_S);
	assert_int_equal(scene.pair.taken, 0);
	for (size_t i = 1; i < scene.taken; i++)
		assert_in_range(scene.taken_ns[i] - scene.taken_ns[i - 1],
				PACE_STILL_NS, PACE_STILL_NS + MS);
	scene.still = false;
	scene.now_ns += PACE_STILL_NS;
	for (int i = 0; i < PACE_EARLY; i++) {
		assert_true(conflict(&scene, &scene.pair));
		scene.now_ns += 2 * MS;
	}
}

static void after_some_the_values_tell_before(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	scene.still = scene.same = true;
	run(&scene, CLOCK_NS_PER_S);
	assert_int_equal(scene.taken, PACE_STILL);
	scene.same = false;
	assert_true(conflict(&scene, &scene.pair));
}

/* One that stores the same in any order, as a constant, is never called still. */
static void the_same_value_alone_leaves_nothing_out(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	scene.same = true;
	run(&scene, 3 * CLOCK_NS_PER_S);
	assert_true(scene.taken > 20);
}

static void a_lost_answer_is_not_waited_for_for_ever(void **state)
{
	struct pace_pair pair = { 0 };
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	assert_true(capture(&scene, &pair));
	scene.now_ns += PACE_ANSWER_NS - 1;
	assert_false(conflict(&scene, &pair));
	scene.now_ns++;
	assert_true(conflict(&scene, &pair));
}

static void an_answer_ends_the_waiting_for_older_ones(void **state)
{
	struct pace_pair other = { 0 };
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	assert_true(capture(&scene, &scene.pair));
	assert_true(capture(&scene, &other));
	replay(&scene, &other);
	assert_int_equal(scene.pace.waiting, 0);
	assert_true(capture(&scene, &scene.pair));
}

static void answers_of_unknown_pairs_end_the_waiting(void **state)
{
	const struct pace_answer answer = { .counts = true };
	struct pace_instance sent;
	struct scene scene;

	(void)state;
	start(&scene, 0, MS);
	assert_true(capture(&scene, &scene.pair));
	assert_true(pace_answered(&scene.pace, NULL, (uintptr_t)&scene.pair,
				  &answer, scene.now_ns, &sent));
	assert_int_equal(scene.pace.waiting, 0);
	assert_false(pace_answered(&scene.pace, NULL, (uintptr_t)&scene.pair,
				   &answer, scene.now_ns, &sent));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_of_a_pair_are_early),
		cmocka_unit_test(rests_of_new_pairs_add_up),
		cmocka_unit_test(several_of_a_known_pair_wait),
		cmocka_unit_test(one_of_an_unknown_pair_waits),
		cmocka_unit_test(no_more_wait_than_the_queue_holds),
		cmocka_unit_test(
			a_pair_with_enough_for_a_verdict_waits_until_others_have),
		cmocka_unit_test(what_waits_is_in_the_budget),
		cmocka_unit_test(an_answer_ends_the_waiting_for_older_ones),
		cmocka_unit_test(a_wait_for_a_processor_is_followed_by_no_rest),
		cmocka_unit_test(later_ones_are_spread_by_gaps_that_double),
		cmocka_unit_test(another_pair_has_its_own_first_ones),
		cmocka_unit_test(the_budget_bounds_them_all),
		cmocka_unit_test(a_lesson_is_followed_at_once),
		cmocka_unit_test(of_enough_one_in_sixteen_is_taken),
		cmocka_unit_test(what_tells_nothing_is_none_of_the_few),
		cmocka_unit_test(after_some_the_values_tell_before),
		cmocka_unit_test(the_same_value_alone_leaves_nothing_out),
		cmocka_unit_test(a_lost_answer_is_not_waited_for_for_ever),
		cmocka_unit_test(answers_of_unknown_pairs_end_the_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

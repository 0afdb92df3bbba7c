/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/dedupe.c: one record per race, counted. */
#include "report/dedupe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "sample-race.h"

/* A new race, of the sample's functions but for the innermost one. */
static struct race *make_race(const char *function)
{
	struct race *race = calloc(1, sizeof(*race));
	struct race_frame *frame;

	assert_non_null(race);
	sample_race(race);
	race->id = 0;
	race->count = 0;
	frame = vec_at(&race->sides[0].frames, 0);
	sample_set(&frame->function, function);
	assert_true(race_fingerprint(race));
	return race;
}

static void first_of_its_kind_is_kept_and_numbered(void **state)
{
	struct race *one = make_race("one"), *two = make_race("two"), *kept;
	struct dedupe dedupe;
	bool first;

	(void)state;
	dedupe_init(&dedupe);
	assert_null(dedupe_add(&dedupe, one, &kept, &first));
	assert_true(first);
	assert_ptr_equal(kept, one);
	assert_int_equal(kept->id, 1);
	assert_int_equal(kept->count, 1);
	assert_null(dedupe_add(&dedupe, two, &kept, &first));
	assert_true(first);
	assert_int_equal(kept->id, 2);
	dedupe_deinit(&dedupe);
	assert_int_equal(dedupe.races.count, 0);
}

static void repeats_are_counted_on_the_first(void **state)
{
	struct race *one = make_race("one"), *kept;
	struct dedupe dedupe;
	bool first;

	(void)state;
	dedupe_init(&dedupe);
	assert_null(dedupe_add(&dedupe, one, &kept, &first));
	for (int i = 0; i < 3; i++) {
		assert_null(
			dedupe_add(&dedupe, make_race("one"), &kept, &first));
		assert_false(first);
		assert_ptr_equal(kept, one);
	}
	assert_int_equal(one->count, 4);
	assert_int_equal(dedupe.races.count, 1);
	dedupe_deinit(&dedupe);
}

static void race_is_not_hidden_by_synchronization_beside_it(void **state)
{
	struct race *sync = make_race("one"), *race = make_race("one"), *kept;
	struct dedupe dedupe;
	bool first;

	(void)state;
	sync->verdict = VERDICT_SYNC;
	dedupe_init(&dedupe);
	assert_null(dedupe_add(&dedupe, sync, &kept, &first));
	assert_null(dedupe_add(&dedupe, race, &kept, &first));
	assert_true(first);
	assert_ptr_equal(kept, race);
	dedupe_deinit(&dedupe);
}

static void a_race_does_not_hide_behind_a_suppressed_one(void **state)
{
	struct dedupe dedupe;
	struct race *hidden = make_race("one"), *plain = make_race("one");
	bool first;

	(void)state;
	hidden->suppressed.rule = strdup("variable:shards[3].used");
	dedupe_init(&dedupe);
	assert_null(dedupe_add(&dedupe, hidden, &hidden, &first));
	assert_true(first);
	assert_null(dedupe_add(&dedupe, plain, &plain, &first));
	assert_true(first);
	dedupe_deinit(&dedupe);
}

/* Of the same code, on the heap; name: NULL when the process had ended. */
static struct race *make_heap_race(const char *name)
{
	struct race *race = make_race("one");

	race->variable.region = REGION_HEAP;
	sample_set(&race->variable.name, name);
	sample_set(&race->variable.container, name ? "struct node" : NULL);
	assert_true(race_fingerprint(race));
	return race;
}

static void memory_without_a_name_is_told_by_the_code(void **state)
{
	struct race *one = make_heap_race("node->used"), *kept;
	struct dedupe dedupe;
	bool first;

	(void)state;
	dedupe_init(&dedupe);
	assert_null(dedupe_add(&dedupe, one, &kept, &first));
	assert_null(dedupe_add(&dedupe, make_heap_race(NULL), &kept, &first));
	assert_ptr_equal(kept, one);
	assert_null(dedupe_add(&dedupe, make_heap_race("node->key"), &kept,
			       &first));
	assert_true(first);
	dedupe_deinit(&dedupe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_of_its_kind_is_kept_and_numbered),
		cmocka_unit_test(repeats_are_counted_on_the_first),
		cmocka_unit_test(
			race_is_not_hidden_by_synchronization_beside_it),
		cmocka_unit_test(a_race_does_not_hide_behind_a_suppressed_one),
		cmocka_unit_test(memory_without_a_name_is_told_by_the_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/dedupe.c: one record per race, counted. */
#include "report/dedupe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "report/code-patterns.h"
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
	enum dedupe_found found;

	(void)state;
	dedupe_init(&dedupe);
	assert_null(dedupe_add(&dedupe, one, &kept, &found));
	assert_int_equal(found, DEDUPE_NEW);
	assert_ptr_equal(kept, one);
	assert_int_equal(kept->id, 0);
	assert_int_equal(kept->count, 1);
	assert_null(dedupe_add(&dedupe, two, &kept, &found));
	assert_int_equal(found, DEDUPE_NEW);
	/* the one that is shown is the first, and keeps its number */
	dedupe_number(&dedupe, two);
	dedupe_number(&dedupe, two);
	assert_int_equal(two->id, 1);
	assert_int_equal(one->id, 0);
	dedupe_number_all(&dedupe);
	assert_int_equal(two->id, 1);
	assert_int_equal(one->id, 2);
	dedupe_deinit(&dedupe);
	assert_int_equal(dedupe.races.count, 0);
}

static void repeats_are_counted_on_the_first(void **state)
{
	struct race *one = make_race("one"), *kept;
	struct dedupe dedupe;
	enum dedupe_found found;

	(void)state;
	dedupe_init(&dedupe);
	assert_null(dedupe_add(&dedupe, one, &kept, &found));
	for (int i = 0; i < 3; i++) {
		assert_null(
			dedupe_add(&dedupe, make_race("one"), &kept, &found));
		assert_int_equal(found, DEDUPE_AGAIN);
		assert_ptr_equal(kept, one);
	}
	assert_int_equal(one->count, 4);
	assert_int_equal(dedupe.races.count, 1);
	dedupe_deinit(&dedupe);
}

/* A hunt's recording may know two objects where the names are one. */
static void targets_are_told_apart(void **state)
{
	struct race *one = make_race("one"), *two = make_race("one"), *kept;
	struct dedupe dedupe;
	enum dedupe_found found;

	(void)state;
	dedupe_init(&dedupe);
	assert_null(dedupe_add(&dedupe, one, &kept, &found));
	one->target = 3;
	assert_null(dedupe_add(&dedupe, two, &kept, &found));
	assert_int_equal(found, DEDUPE_NEW);
	assert_int_equal(dedupe.races.count, 2);
	dedupe_deinit(&dedupe);
}

/* By names the same, but not what is done with the value. */
static void what_is_said_holds_for_all(void **state)
{
	struct race *one = make_race("one"), *other = make_race("one"), *kept;
	struct dedupe dedupe;
	enum dedupe_found found;

	(void)state;
	dedupe_init(&dedupe);
	one->sides[0].pattern = (struct code_pattern){ .used = 4 };
	one->sides[1].pattern = (struct code_pattern){ .change = PATTERN_ADD,
						       .delta = 1,
						       .locked_beside = true };
	other->sides[0].pattern = (struct code_pattern){ .used = 8 };
	other->sides[1].pattern =
		(struct code_pattern){ .change = PATTERN_ADD,
				       .delta = -1,
				       .tests_zero = true,
				       .locked_adds = true,
				       .stored_plainly = true };
	assert_null(dedupe_add(&dedupe, one, &kept, &found));
	assert_null(dedupe_add(&dedupe, other, &kept, &found));
	assert_int_equal(found, DEDUPE_AGAIN);
	assert_int_equal(kept->sides[0].pattern.used, 12);
	assert_int_equal(kept->sides[1].pattern.change, PATTERN_ADD);
	assert_int_equal(kept->sides[1].pattern.delta, -1);
	assert_true(kept->sides[1].pattern.tests_zero);
	assert_false(kept->sides[1].pattern.locked_beside);
	assert_true(kept->sides[1].pattern.locked_adds);
	assert_true(kept->sides[1].pattern.stored_plainly);
	/* another part of the same variable: other bits */
	other = make_race("one");
	for (int i = 0; i < 2; i++)
		other->sides[i].pattern = kept->sides[i].pattern;
	other->sides[1].address += 4;
	assert_null(dedupe_add(&dedupe, other, &kept, &found));
	assert_true(kept->sides[0].pattern.used == UINT64_MAX);
	/* a read beside a write, in the same functions */
	other = make_race("one");
	other->sides[0].access = ACCESS_READ;
	other->sides[1].access = ACCESS_READ;
	assert_null(dedupe_add(&dedupe, other, &kept, &found));
	assert_int_equal(found, DEDUPE_AGAIN);
	/* not what a plain store of an atomic operation's would be */
	assert_int_equal(kept->sides[1].pattern.change, PATTERN_DERIVED);
	dedupe_deinit(&dedupe);
}

/* Of two verdicts the graver one counts, whichever comes first. */
static void the_graver_verdict_is_kept(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct race *races[2] = { make_race("one"), make_race("one") };
		struct race *kept;
		struct dedupe dedupe;
		enum dedupe_found found;

		dedupe_init(&dedupe);
		races[i]->verdict = VERDICT_UNLIKELY;
		sample_set(&races[i]->reason, "disjoint-bits");
		races[1 - i]->verdict = VERDICT_SUSPECT;
		assert_null(dedupe_add(&dedupe, races[0], &kept, &found));
		assert_null(dedupe_add(&dedupe, races[1], &kept, &found));
		assert_int_equal(found, DEDUPE_AGAIN);
		assert_int_equal(kept->verdict, VERDICT_SUSPECT);
		assert_null(kept->reason);
		dedupe_deinit(&dedupe);
	}
}

/* An increment's load, and its store: both add. */
static void parts_of_one_change_are_one(void **state)
{
	struct race *one = make_race("one"), *other = make_race("one"), *kept;
	struct dedupe dedupe;
	enum dedupe_found found;

	(void)state;
	dedupe_init(&dedupe);
	for (int i = 0; i < 2; i++) {
		one->sides[i].access = ACCESS_READ;
		other->sides[i].access = ACCESS_WRITE;
		one->sides[i].pattern = other->sides[i].pattern =
			(struct code_pattern){ .change = PATTERN_ADD,
					       .delta = 1 };
	}
	assert_null(dedupe_add(&dedupe, one, &kept, &found));
	assert_null(dedupe_add(&dedupe, other, &kept, &found));
	assert_int_equal(found, DEDUPE_AGAIN);
	assert_int_equal(kept->sides[0].pattern.change, PATTERN_ADD);
	assert_int_equal(kept->sides[1].pattern.change, PATTERN_ADD);
	dedupe_deinit(&dedupe);
}

/* Each time it must be so, under the lock of that time. */
static void double_checks_are_checked_each_time(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct race *one = make_race("one"), *other = make_race("one");
		struct dedupe dedupe;
		struct race *kept;
		enum dedupe_found found;

		for (int j = 0; j < 2; j++) {
			struct race *race = j ? other : one;

			race->sides[0].access = ACCESS_READ;
			race->sides[1].access = ACCESS_WRITE;
			race->sides[1].address = race->sides[0].address;
			race->sides[0].pattern.double_check = PATTERN_REREAD;
			race->sides[1].pattern.double_check = PATTERN_LAST;
			race->sides[0].pattern.lock = 0x1000 + (uint64_t)j;
			race->sides[1].pattern.lock = 0x1000 + (uint64_t)j;
			memset(race->before, 0, sizeof(race->before));
		}
		if (i == 1)
			other->sides[1].pattern.lock++;
		if (i == 2)
			other->sides[1].pattern.double_check = PATTERN_EARLY;
		if (i == 3)
			other->before[0] = 1;
		dedupe_init(&dedupe);
		assert_null(dedupe_add(&dedupe, one, &kept, &found));
		assert_true(race_is_double_checked(kept));
		assert_null(dedupe_add(&dedupe, other, &kept, &found));
		assert_int_equal(found, DEDUPE_AGAIN);
		assert_int_equal(race_is_double_checked(kept), i == 0);
		dedupe_deinit(&dedupe);
	}
}

static void race_is_not_hidden_by_synchronization_beside_it(void **state)
{
	struct race *sync = make_race("one"), *race = make_race("one"), *kept;
	struct dedupe dedupe;
	enum dedupe_found found;

	(void)state;
	sync->verdict = VERDICT_SYNC;
	dedupe_init(&dedupe);
	assert_null(dedupe_add(&dedupe, sync, &kept, &found));
	assert_null(dedupe_add(&dedupe, race, &kept, &found));
	assert_int_equal(found, DEDUPE_NEW);
	assert_ptr_equal(kept, race);
	dedupe_deinit(&dedupe);
}

static void a_race_does_not_hide_behind_a_suppressed_one(void **state)
{
	struct dedupe dedupe;
	struct race *hidden = make_race("one"), *plain = make_race("one");
	enum dedupe_found found;

	(void)state;
	hidden->suppressed.rule = strdup("variable:shards[3].used");
	dedupe_init(&dedupe);
	assert_null(dedupe_add(&dedupe, hidden, &hidden, &found));
	assert_int_equal(found, DEDUPE_NEW);
	assert_null(dedupe_add(&dedupe, plain, &plain, &found));
	assert_int_equal(found, DEDUPE_NEW);
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
	enum dedupe_found found;

	(void)state;
	dedupe_init(&dedupe);
	assert_null(dedupe_add(&dedupe, one, &kept, &found));
	assert_null(dedupe_add(&dedupe, make_heap_race(NULL), &kept, &found));
	assert_ptr_equal(kept, one);
	assert_null(dedupe_add(&dedupe, make_heap_race("node->key"), &kept,
			       &found));
	assert_int_equal(found, DEDUPE_NEW);
	dedupe_deinit(&dedupe);
}

/* The value changed while one thread was stalled at a side of make_race(). */
static struct race *make_glimpse(const char *function, int side)
{
	struct race *race = make_race(function);
	struct race other;
	struct race_side seen;

	race_init(&other);
	seen = race->sides[side];
	other.sides[0] = race->sides[1 - side];
	race->sides[0] = seen;
	race->sides[1] = other.sides[1];
	other.sides[1] = race->sides[1];
	race->sides[1].role = RACE_UNKNOWN;
	race_deinit(&other);
	assert_true(race_fingerprint(race));
	return race;
}

/* In both orders, and whichever of the two sides was stalled. */
static void one_side_is_a_part_of_the_whole(void **state)
{
	(void)state;
	for (int order = 0; order < 4; order++) {
		struct race *half = make_glimpse("one", order & 1);
		struct race *whole = make_race("one"), *first, *kept;
		bool completes = order & 2;
		enum dedupe_found found;
		struct dedupe dedupe;

		dedupe_init(&dedupe);
		half->verdict = VERDICT_SUSPECT;
		whole->verdict = VERDICT_UNLIKELY;
		first = completes ? half : whole;
		assert_null(dedupe_add(&dedupe, first, &kept, &found));
		dedupe_number(&dedupe, kept);
		assert_null(dedupe_add(&dedupe, completes ? whole : half, &kept,
				       &found));
		assert_int_equal(found,
				 completes ? DEDUPE_COMPLETED : DEDUPE_AGAIN);
		assert_ptr_equal(kept, first);
		assert_int_equal(kept->id, 1);
		assert_int_equal(kept->count, 2);
		assert_int_equal(kept->verdict, VERDICT_UNLIKELY);
		assert_int_not_equal(kept->sides[1].role, RACE_UNKNOWN);
		assert_int_equal(dedupe.races.count, 1);
		dedupe_deinit(&dedupe);
	}
}

static void add_value(struct race *race, uint8_t before, uint8_t after)
{
	uint8_t bytes[2][X86_ACCESS_MAX] = { { before }, { after } };

	assert_true(race_add_values(race, bytes[0], bytes[1], 1));
}

/* What was seen first comes first, also when the other side comes later. */
static void values_of_one_side_come_before_those_of_both(void **state)
{
	struct race *half = make_glimpse("one", 0), *whole = make_race("one");
	const struct race_values *values;
	enum dedupe_found found;
	struct dedupe dedupe;
	struct race *kept;

	(void)state;
	dedupe_init(&dedupe);
	add_value(half, 1, 0x42);
	add_value(whole, 5, 7);
	sample_replays(half, 3, "not-held");
	assert_null(dedupe_add(&dedupe, half, &kept, &found));
	assert_null(dedupe_add(&dedupe, whole, &kept, &found));
	assert_int_equal(found, DEDUPE_COMPLETED);
	assert_int_equal(kept->values.count, 2);
	values = vec_at(&kept->values, 0);
	assert_int_equal(values[0].before[0], 1);
	assert_int_equal(values[1].before[0], 5);
	assert_int_equal(kept->changed[0], 0x43 | 2);
	assert_int_equal(race_replay_failures(&kept->replay), 3);
	dedupe_deinit(&dedupe);
}

static void one_side_of_another_race_is_not(void **state)
{
	struct race *half = make_glimpse("one", 0), *kept;
	struct race *code = make_race("two"), *variable = make_race("one");
	enum dedupe_found found;
	struct dedupe dedupe;

	(void)state;
	/* another function, or another variable */
	variable->address += 64;
	variable->variable.offset += 64;
	sample_set(&variable->variable.name, "other");
	sample_set(&variable->variable.symbol, "other");
	assert_true(race_fingerprint(variable));
	dedupe_init(&dedupe);
	assert_null(dedupe_add(&dedupe, half, &kept, &found));
	((struct race_frame *)vec_at(&code->sides[0].frames, 0))->offset += 64;
	assert_true(race_fingerprint(code));
	assert_null(dedupe_add(&dedupe, code, &kept, &found));
	assert_int_equal(found, DEDUPE_NEW);
	assert_null(dedupe_add(&dedupe, variable, &kept, &found));
	assert_int_equal(found, DEDUPE_NEW);
	dedupe_deinit(&dedupe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_said_holds_for_all),
		cmocka_unit_test(the_graver_verdict_is_kept),
		cmocka_unit_test(parts_of_one_change_are_one),
		cmocka_unit_test(double_checks_are_checked_each_time),
		cmocka_unit_test(first_of_its_kind_is_kept_and_numbered),
		cmocka_unit_test(repeats_are_counted_on_the_first),
		cmocka_unit_test(targets_are_told_apart),
		cmocka_unit_test(one_side_is_a_part_of_the_whole),
		cmocka_unit_test(values_of_one_side_come_before_those_of_both),
		cmocka_unit_test(one_side_of_another_race_is_not),
		cmocka_unit_test(
			race_is_not_hidden_by_synchronization_beside_it),
		cmocka_unit_test(a_race_does_not_hide_behind_a_suppressed_one),
		cmocka_unit_test(memory_without_a_name_is_told_by_the_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

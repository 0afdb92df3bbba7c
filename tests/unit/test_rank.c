/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/judge/rank.c with benign.c and harm.c: each rule on a recorded race that
 * it fits, and on near misses of it.
 */
#include "judge/rank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"
#include "judge/benign.h"
#include "judge/harm.h"
#include "sample-race.h"

static void add_values(struct race *race, uint64_t before, uint64_t after)
{
	uint8_t bytes[2][X86_ACCESS_MAX] = { { 0 } };

	memcpy(bytes[0], &before, sizeof(before));
	memcpy(bytes[1], &after, sizeof(after));
	assert_true(race_add_values(race, bytes[0], bytes[1], 1));
}

static void plain_race(struct race *race)
{
	sample_race(race);
	for (int i = 0; i < 2; i++) {
		race->sides[i].address = race->address;
		race->sides[i].idiom.used = UINT64_MAX;
	}
}

static void expect_with(struct race *race, const struct vec *special,
			enum race_verdict verdict, const char *reason)
{
	assert_null(rank_race(race, special));
	assert_int_equal(race->verdict, verdict);
	if (reason) {
		assert_string_equal(race->reason, reason);
		assert_non_null(race->grounds);
	} else {
		assert_null(race->reason);
	}
	race_deinit(race);
}

static void expect(struct race *race, enum race_verdict verdict,
		   const char *reason)
{
	expect_with(race, NULL, verdict, reason);
}

static void suspect_without_evidence(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	expect(&race, VERDICT_SUSPECT, NULL);
	sample_unknown(&race);
	expect(&race, VERDICT_SUSPECT, NULL);
}

/* Two threads that count requests, seen three times. */
static void counter(struct race *race)
{
	plain_race(race);
	for (int i = 0; i < 2; i++) {
		race->sides[i].access = ACCESS_RMW;
		race->sides[i].idiom =
			(struct insn_idiom){ .change = IDIOM_ADD, .delta = 1 };
	}
	add_values(race, 100, 101);
	add_values(race, 205, 207);
	add_values(race, 300, 301);
}

static void statistics_counters(void **state)
{
	struct race race;

	(void)state;
	counter(&race);
	expect(&race, VERDICT_UNLIKELY, "statistics-counter");
	/* bytes served: the number added differs */
	counter(&race);
	race.sides[0].idiom.delta = 0;
	expect(&race, VERDICT_UNLIKELY, "statistics-counter");
}

static void near_misses_of_statistics(void **state)
{
	struct race race;

	(void)state;
	/* seen too seldom */
	counter(&race);
	vec_clear(&race.values);
	add_values(&race, 1, 2);
	add_values(&race, 2, 3);
	expect(&race, VERDICT_SUSPECT, NULL);
	/* it falls too */
	counter(&race);
	add_values(&race, 301, 300);
	expect(&race, VERDICT_SUSPECT, NULL);
	/* somebody counts down */
	counter(&race);
	race.sides[1].idiom.delta = -1;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* the sum is a ticket */
	counter(&race);
	race.sides[0].idiom.used = UINT64_MAX;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* a reader decides by it */
	counter(&race);
	race.sides[0].access = ACCESS_READ;
	race.sides[0].idiom =
		(struct insn_idiom){ .used = UINT64_MAX, .compared = true };
	expect(&race, VERDICT_SUSPECT, NULL);
	/* somebody writes another value */
	counter(&race);
	race.sides[0].access = ACCESS_WRITE;
	race.sides[0].idiom = (struct insn_idiom){ .change = IDIOM_CONSTANT };
	expect(&race, VERDICT_SUSPECT, NULL);
}

static void reference_counts(void **state)
{
	struct race race;

	(void)state;
	counter(&race);
	race.sides[1].idiom.delta = -1;
	race.sides[1].idiom.tests_zero = true;
	expect(&race, VERDICT_HARMFUL, "reference-count");
	/* looked at only */
	counter(&race);
	race.sides[1].idiom.delta = -1;
	race.sides[1].idiom.tests_zero = true;
	race.sides[0].access = ACCESS_READ;
	race.sides[0].idiom = (struct insn_idiom){ .used = UINT64_MAX };
	expect(&race, VERDICT_SUSPECT, NULL);
}

/* A test of one flag, a change of another. */
static void flags(struct race *race)
{
	plain_race(race);
	race->sides[0].access = ACCESS_READ;
	race->sides[0].size = race->sides[1].size = race->size = 1;
	race->sides[0].idiom =
		(struct insn_idiom){ .used = 0x04, .compared = true };
	race->sides[1].access = ACCESS_RMW;
	race->sides[1].idiom =
		(struct insn_idiom){ .change = IDIOM_BITS, .changed = 0x10 };
	add_values(race, 0x04, 0x14);
}

static void disjoint_bits(void **state)
{
	struct race race;

	(void)state;
	flags(&race);
	expect(&race, VERDICT_UNLIKELY, "disjoint-bits");
	/* a wide write, whose second byte is tested */
	flags(&race);
	race.sides[1].address -= 1;
	race.sides[1].size = 4;
	race.sides[1].idiom.changed = 0x1000;
	expect(&race, VERDICT_UNLIKELY, "disjoint-bits");
}

/* Three bytes are wanted, four are loaded; the fourth is another field. */
static void wide_loads(void **state)
{
	struct race race;

	(void)state;
	flags(&race);
	race.sides[0].size = 4;
	race.sides[0].address = race.address - 3;
	race.sides[0].idiom.used = 0xffffff;
	race.sides[1].access = ACCESS_WRITE;
	race.sides[1].idiom = (struct insn_idiom){ .change = IDIOM_UNKNOWN };
	expect(&race, VERDICT_UNLIKELY, "disjoint-bits");
	/* all four are used */
	flags(&race);
	race.sides[0].size = 4;
	race.sides[0].address = race.address - 3;
	race.sides[0].idiom.used = 0x01ffffff;
	race.sides[1].access = ACCESS_WRITE;
	race.sides[1].idiom = (struct insn_idiom){ .change = IDIOM_UNKNOWN };
	expect(&race, VERDICT_SUSPECT, NULL);
}

static void near_misses_of_bits(void **state)
{
	struct race race;

	(void)state;
	/* the same bit */
	flags(&race);
	race.sides[1].idiom.changed = 0x14;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* two writes: one takes the other's back */
	flags(&race);
	race.sides[0].access = ACCESS_RMW;
	race.sides[0].idiom =
		(struct insn_idiom){ .change = IDIOM_BITS, .changed = 0x04 };
	expect(&race, VERDICT_SUSPECT, NULL);
	/* the reader takes all of it */
	flags(&race);
	race.sides[0].idiom.used = UINT64_MAX;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* the tested bit was seen to change */
	flags(&race);
	add_values(&race, 0x00, 0x04);
	expect(&race, VERDICT_SUSPECT, NULL);
	/* in another byte, the bits are the same ones */
	flags(&race);
	race.sides[1].address -= 1;
	race.sides[1].size = 4;
	race.sides[1].idiom.changed = 0x0400;
	expect(&race, VERDICT_SUSPECT, NULL);
}

static void special_variables(void **state)
{
	static const char *const pattern = "shards*";
	struct vec special = VEC_INIT(const char *);
	struct race race;

	(void)state;
	assert_true(vec_push(&special, &pattern));
	plain_race(&race);
	expect_with(&race, &special, VERDICT_UNLIKELY, "special-variable");
	plain_race(&race);
	sample_set(&race.variable.name, "other");
	expect_with(&race, &special, VERDICT_SUSPECT, NULL);
	plain_race(&race);
	sample_set(&race.variable.name, "current_time");
	expect(&race, VERDICT_UNLIKELY, "special-variable");
	vec_deinit(&special);
}

static void cleared_pointers(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	race.sides[0].access = ACCESS_READ;
	race.sides[0].idiom.dereferenced = true;
	race.sides[1].idiom.change = IDIOM_CONSTANT;
	add_values(&race, 0x555555558000, 0);
	expect(&race, VERDICT_HARMFUL, "cleared-pointer");
	/* nobody follows it */
	plain_race(&race);
	race.sides[0].access = ACCESS_READ;
	add_values(&race, 0x555555558000, 0);
	expect(&race, VERDICT_SUSPECT, NULL);
	/* a number, not a pointer */
	plain_race(&race);
	race.sides[0].access = ACCESS_READ;
	race.sides[0].idiom.dereferenced = true;
	add_values(&race, 7, 0);
	expect(&race, VERDICT_SUSPECT, NULL);
}

static void synchronization_and_one_side_of_it(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	sample_set(&race.sides[0].sync, "atomic-code");
	sample_set(&race.sides[1].sync, "synchronizing");
	expect(&race, VERDICT_SYNC, "atomic-code");
	plain_race(&race);
	sample_set(&race.sides[1].sync, "atomic-code");
	assert_null(rank_race(&race, NULL));
	assert_int_equal(race.verdict, VERDICT_SUSPECT);
	assert_string_equal(race.grounds,
			    "the racing side synchronizes (atomic-code), "
			    "the other does not");
	race_deinit(&race);
}

static void verdicts_follow_what_is_seen(void **state)
{
	struct race race;

	(void)state;
	counter(&race);
	assert_null(rank_race(&race, NULL));
	assert_int_equal(race.verdict, VERDICT_UNLIKELY);
	add_values(&race, 300, 2);
	assert_null(rank_race(&race, NULL));
	assert_int_equal(race.verdict, VERDICT_SUSPECT);
	assert_null(race.reason);
	race_deinit(&race);
}

static void names_are_unique(void **state)
{
	(void)state;
	for (int i = 0; benign_rules[i].name; i++) {
		for (int j = 0; j < i; j++)
			assert_string_not_equal(benign_rules[i].name,
						benign_rules[j].name);
		for (int j = 0; harm_signs[j].name; j++)
			assert_string_not_equal(benign_rules[i].name,
						harm_signs[j].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suspect_without_evidence),
		cmocka_unit_test(statistics_counters),
		cmocka_unit_test(near_misses_of_statistics),
		cmocka_unit_test(reference_counts),
		cmocka_unit_test(disjoint_bits),
		cmocka_unit_test(wide_loads),
		cmocka_unit_test(near_misses_of_bits),
		cmocka_unit_test(special_variables),
		cmocka_unit_test(cleared_pointers),
		cmocka_unit_test(synchronization_and_one_side_of_it),
		cmocka_unit_test(verdicts_follow_what_is_seen),
		cmocka_unit_test(names_are_unique),
	};

	return cmocka_run_group_tests_name("rank", tests, NULL, NULL);
}

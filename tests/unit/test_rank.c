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
		race->sides[i].pattern.used = UINT64_MAX;
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

/* Two threads that count requests, seen five times. */
static void counter(struct race *race)
{
	plain_race(race);
	for (int i = 0; i < 2; i++) {
		race->sides[i].access = ACCESS_RMW;
		race->sides[i].pattern =
			(struct code_pattern){ .change = PATTERN_ADD,
					       .delta = 1 };
	}
	add_values(race, 100, 101);
	add_values(race, 205, 207);
	add_values(race, 300, 301);
	add_values(race, 301, 302);
	add_values(race, 410, 415);
}

static void statistics_counters(void **state)
{
	struct race race;

	(void)state;
	counter(&race);
	expect(&race, VERDICT_UNLIKELY, "statistics-counter");
	/* bytes served: the number added differs */
	counter(&race);
	race.sides[0].pattern.delta = 0;
	expect(&race, VERDICT_UNLIKELY, "statistics-counter");
	/* how often it was seen makes no difference */
	counter(&race);
	vec_clear(&race.values);
	expect(&race, VERDICT_UNLIKELY, "statistics-counter");
	counter(&race);
	vec_clear(&race.values);
	add_values(&race, 1, 2);
	expect(&race, VERDICT_UNLIKELY, "statistics-counter");
}

/* "hits++" without optimization: what is held stores what it loaded before. */
static void statistics_in_parts_may_fall(void **state)
{
	const enum access_kind kinds[][2] = {
		{ ACCESS_READ, ACCESS_WRITE },
		{ ACCESS_WRITE, ACCESS_READ },
		{ ACCESS_WRITE, ACCESS_WRITE },
		{ ACCESS_RMW, ACCESS_WRITE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (int falls = 0; falls < 2; falls++) {
			struct race race;

			counter(&race);
			race.sides[0].access = kinds[i][0];
			race.sides[1].access = kinds[i][1];
			if (falls)
				add_values(&race, 501, 400);
			expect(&race, VERDICT_UNLIKELY, "statistics-counter");
		}
	}
}

static void near_misses_of_statistics(void **state)
{
	struct race race;

	(void)state;
	/* it falls too */
	counter(&race);
	add_values(&race, 501, 500);
	expect(&race, VERDICT_SUSPECT, NULL);
	/* ... when nobody looks */
	counter(&race);
	add_values(&race, 414, 415);
	expect(&race, VERDICT_SUSPECT, NULL);
	/* ... to where it was before */
	counter(&race);
	add_values(&race, 410, 415);
	expect(&race, VERDICT_SUSPECT, NULL);
	/* another race is with somebody who waits until it is reached */
	counter(&race);
	race.decides = true;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* somebody counts down */
	counter(&race);
	race.sides[1].pattern.delta = -1;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* the sum is a ticket */
	counter(&race);
	race.sides[0].pattern.used = UINT64_MAX;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* a reader decides by it */
	counter(&race);
	race.sides[0].access = ACCESS_READ;
	race.sides[0].pattern =
		(struct code_pattern){ .used = UINT64_MAX, .compared = true };
	expect(&race, VERDICT_SUSPECT, NULL);
	/* somebody writes another value */
	counter(&race);
	race.sides[0].access = ACCESS_WRITE;
	race.sides[0].pattern =
		(struct code_pattern){ .change = PATTERN_CONSTANT };
	expect(&race, VERDICT_SUSPECT, NULL);
}

static void reference_counts(void **state)
{
	struct race race;

	(void)state;
	counter(&race);
	race.sides[1].pattern.delta = -1;
	race.sides[1].pattern.tests_zero = true;
	expect(&race, VERDICT_HARMFUL, "reference-count");
	/* looked at only */
	counter(&race);
	race.sides[1].pattern.delta = -1;
	race.sides[1].pattern.tests_zero = true;
	race.sides[0].access = ACCESS_READ;
	race.sides[0].pattern = (struct code_pattern){ .used = UINT64_MAX };
	expect(&race, VERDICT_SUSPECT, NULL);
}

/* A test of one flag, a change of another. */
static void flags(struct race *race)
{
	plain_race(race);
	race->sides[0].access = ACCESS_READ;
	race->sides[0].size = race->sides[1].size = race->size = 1;
	race->sides[0].pattern =
		(struct code_pattern){ .used = 0x04, .compared = true };
	race->sides[1].access = ACCESS_RMW;
	race->sides[1].pattern = (struct code_pattern){ .change = PATTERN_BITS,
							.changed = 0x10 };
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
	race.sides[1].pattern.changed = 0x1000;
	expect(&race, VERDICT_UNLIKELY, "disjoint-bits");
}

/* A store of sixteen bytes that begins before what is read changes all of it. */
static void wide_stores(void **state)
{
	struct race race;

	(void)state;
	flags(&race);
	race.size = 8;
	race.sides[0].size = 8;
	race.sides[0].pattern.used = UINT64_C(0xff) << 56;
	race.sides[1].size = 16;
	race.sides[1].address = race.address - 4;
	race.sides[1].access = ACCESS_WRITE;
	race.sides[1].pattern =
		(struct code_pattern){ .change = PATTERN_UNKNOWN };
	expect(&race, VERDICT_SUSPECT, NULL);
	/* one that ends in its middle leaves the rest */
	flags(&race);
	race.size = 8;
	race.sides[0].size = 8;
	race.sides[0].pattern.used = UINT64_C(0xff) << 56;
	race.sides[1].size = 8;
	race.sides[1].address = race.address - 4;
	race.sides[1].access = ACCESS_WRITE;
	race.sides[1].pattern =
		(struct code_pattern){ .change = PATTERN_UNKNOWN };
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
	race.sides[0].pattern.used = 0xffffff;
	race.sides[1].access = ACCESS_WRITE;
	race.sides[1].pattern =
		(struct code_pattern){ .change = PATTERN_UNKNOWN };
	expect(&race, VERDICT_UNLIKELY, "disjoint-bits");
	/* all four are used */
	flags(&race);
	race.sides[0].size = 4;
	race.sides[0].address = race.address - 3;
	race.sides[0].pattern.used = 0x01ffffff;
	race.sides[1].access = ACCESS_WRITE;
	race.sides[1].pattern =
		(struct code_pattern){ .change = PATTERN_UNKNOWN };
	expect(&race, VERDICT_SUSPECT, NULL);
}

static void near_misses_of_bits(void **state)
{
	struct race race;

	(void)state;
	/* the same bit */
	flags(&race);
	race.sides[1].pattern.changed = 0x14;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* two writes: one takes the other's back */
	flags(&race);
	race.sides[0].access = ACCESS_RMW;
	race.sides[0].pattern = (struct code_pattern){ .change = PATTERN_BITS,
						       .changed = 0x04 };
	expect(&race, VERDICT_SUSPECT, NULL);
	/* the reader takes all of it */
	flags(&race);
	race.sides[0].pattern.used = UINT64_MAX;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* the tested bit was seen to change */
	flags(&race);
	add_values(&race, 0x00, 0x04);
	expect(&race, VERDICT_SUSPECT, NULL);
	/* in another byte, the bits are the same ones */
	flags(&race);
	race.sides[1].address -= 1;
	race.sides[1].size = 4;
	race.sides[1].pattern.changed = 0x0400;
	expect(&race, VERDICT_SUSPECT, NULL);
}

/* Made at the first use: tested, locked, tested again. */
static void first_use(struct race *race)
{
	plain_race(race);
	race->sides[0].access = ACCESS_READ;
	race->sides[1].access = ACCESS_WRITE;
	for (int i = 0; i < 2; i++) {
		race->sides[i].address = race->address & ~UINT64_C(7);
		race->sides[i].size = race->size = 8;
		race->sides[i].pattern.lock = 0x7f0000001000;
	}
	race->sides[0].pattern.compared = true;
	race->sides[0].pattern.double_check = PATTERN_REREAD;
	race->sides[1].pattern.double_check = PATTERN_LAST;
	vec_clear(&race->values);
	add_values(race, 0, 0x555555558000);
	add_values(race, 0, 0);
}

static void double_checks(void **state)
{
	struct race race;

	(void)state;
	first_use(&race);
	expect(&race, VERDICT_UNLIKELY, "double-checked");
	/* one looked at after it had been written */
	first_use(&race);
	add_values(&race, 0x555555558000, 0x555555558000);
	expect(&race, VERDICT_UNLIKELY, "double-checked");
}

/* Seen again when it had been written: no doubt; changed once more: doubt. */
static void doubts_of_double_checks(void **state)
{
	static const uint64_t made = 0x555555558000, anew = 0x555555559000;
	struct race race, again;

	(void)state;
	for (int changes = 0; changes < 2; changes++) {
		first_use(&race);
		first_use(&again);
		memcpy(again.before, &made, sizeof(made));
		memcpy(again.after, changes ? &anew : &made, sizeof(made));
		assert_true(race_see_again(&race, &again));
		race_deinit(&again);
		if (changes)
			expect(&race, VERDICT_SUSPECT, NULL);
		else
			expect(&race, VERDICT_UNLIKELY, "double-checked");
	}
}

/* Is there work? Then take the lock, and look again. */
static void looks_before_locks(void **state)
{
	struct race race;

	(void)state;
	for (int i = 0; i < 4; i++) {
		first_use(&race);
		race.sides[0].pattern.double_check = PATTERN_REREAD_ONLY;
		race.sides[1].pattern.double_check = PATTERN_EARLY;
		race.sides[1].access = ACCESS_RMW;
		add_values(&race, 7, 6);
		if (i == 1)
			race.sides[1].pattern.lock += 8;
		if (i == 2)
			race.sides[0].pattern.dereferenced = true;
		if (i == 3)
			race.sides[1].pattern.double_check = PATTERN_UNCHECKED;
		if (i == 0)
			expect(&race, VERDICT_UNLIKELY, "double-checked");
		else
			expect(&race, VERDICT_SUSPECT, NULL);
	}
}

static void near_misses_of_double_checks(void **state)
{
	struct race race;

	(void)state;
	/* another lock */
	first_use(&race);
	race.sides[1].pattern.lock += 8;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* locks that are not known are not the same one */
	first_use(&race);
	race.sides[0].pattern.lock = race.sides[1].pattern.lock = 0;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* shown before it is made */
	first_use(&race);
	race.sides[1].pattern.double_check = PATTERN_EARLY;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* not read again */
	first_use(&race);
	race.sides[0].pattern.double_check = PATTERN_UNCHECKED;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* not tested */
	first_use(&race);
	race.sides[0].pattern.compared = false;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* made anew while others use it */
	first_use(&race);
	add_values(&race, 0x555555558000, 0x555555559000);
	expect(&race, VERDICT_SUSPECT, NULL);
	/* nobody saw it before it was made */
	first_use(&race);
	vec_clear(&race.values);
	add_values(&race, 0x555555558000, 0x555555558000);
	expect(&race, VERDICT_SUSPECT, "same-value");
	/* half of it is written */
	first_use(&race);
	race.sides[1].size = 4;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* both write */
	first_use(&race);
	race.sides[0].access = ACCESS_RMW;
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

/* A reader of a range, and who replaces its begin and end. */
static void range(struct race *race)
{
	plain_race(race);
	for (int i = 0; i < 2; i++) {
		race->sides[i].address = race->address & ~UINT64_C(7);
		race->sides[i].size = race->size = 8;
		race->sides[i].pattern.pair = PATTERN_PAIR_ABOVE;
	}
	race->sides[0].access = ACCESS_READ;
	race->sides[1].access = ACCESS_WRITE;
	add_values(race, 0x555555558000, 0x555555559000);
}

static void begins_and_ends(void **state)
{
	struct race race;

	(void)state;
	range(&race);
	expect(&race, VERDICT_HARMFUL, "begin-end");
	/* one store for both */
	range(&race);
	race.sides[1].size = 16;
	race.sides[1].pattern.pair = 0;
	expect(&race, VERDICT_HARMFUL, "begin-end");
	/* the end alone is replaced */
	range(&race);
	race.sides[1].pattern.pair = 0;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* beside something else */
	range(&race);
	race.sides[1].pattern.pair = PATTERN_PAIR_BELOW;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* what is compared are no pointers */
	range(&race);
	vec_clear(&race.values);
	add_values(&race, 3, 4);
	expect(&race, VERDICT_SUSPECT, NULL);
	/* not seen to change */
	range(&race);
	vec_clear(&race.values);
	add_values(&race, 0x555555558000, 0x555555558000);
	expect(&race, VERDICT_SUSPECT, "same-value");
}

/* 8 bytes are read, and written by 4. */
static void halves(struct race *race)
{
	plain_race(race);
	race->address &= ~UINT64_C(63);
	race->size = 4;
	race->sides[0].access = ACCESS_READ;
	race->sides[0].address = race->sides[1].address = race->address;
	race->sides[0].size = 8;
	race->sides[0].pattern.compared = true;
	race->sides[1].access = ACCESS_WRITE;
	race->sides[1].size = 4;
	race->sides[1].pattern.pair = PATTERN_PAIR_ABOVE;
	add_values(race, 1, 2);
}

static void torn_values(void **state)
{
	struct race race;

	(void)state;
	halves(&race);
	expect(&race, VERDICT_HARMFUL, "torn-value");
	/* the other half is not written there */
	halves(&race);
	race.sides[1].pattern.pair = PATTERN_PAIR_BELOW;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* one half is looked at */
	halves(&race);
	race.sides[0].pattern.used = UINT32_MAX;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* it goes somewhere, maybe half of it */
	halves(&race);
	race.sides[0].pattern.compared = false;
	expect(&race, VERDICT_SUSPECT, NULL);
	/* more is loaded than what is one value */
	halves(&race);
	race.sides[0].size = 16;
	expect(&race, VERDICT_SUSPECT, NULL);
}

static void values_in_two_cache_lines(void **state)
{
	struct race race;

	(void)state;
	for (int i = 0; i < 3; i++) {
		plain_race(&race);
		race.address = (race.address & ~UINT64_C(63)) + 60;
		race.size = 8;
		for (int j = 0; j < 2; j++) {
			race.sides[j].address = race.address;
			race.sides[j].size = 8;
		}
		race.sides[0].access = ACCESS_READ;
		memset(race.changed, 0, sizeof(race.changed));
		vec_clear(&race.values);
		/* one half alone, then the other; then a locked access */
		add_values(&race, 0, 7);
		if (i > 0)
			add_values(&race, 0, UINT64_C(7) << 32);
		race.sides[1].atomic = i == 2;
		if (i == 1)
			expect(&race, VERDICT_HARMFUL, "torn-value");
		else
			expect(&race, VERDICT_SUSPECT, NULL);
	}
}

static void reads_made_twice(void **state)
{
	struct race race;

	(void)state;
	for (int i = 0; i < 4; i++) {
		plain_race(&race);
		race.sides[0].access = ACCESS_READ;
		race.sides[1].access = ACCESS_WRITE;
		race.sides[0].pattern.retested = i != 1;
		race.sides[0].pattern.dereferenced = i != 2;
		vec_clear(&race.values);
		add_values(&race, 3, i == 3 ? 3 : 4);
		if (i == 0)
			expect(&race, VERDICT_HARMFUL, "read-twice");
		else
			expect(&race, VERDICT_SUSPECT,
			       i == 3 ? "same-value" : NULL);
	}
}

static void cleared_pointers(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	race.sides[0].access = ACCESS_READ;
	race.sides[0].pattern.dereferenced = true;
	race.sides[1].pattern.change = PATTERN_CONSTANT;
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
	race.sides[0].pattern.dereferenced = true;
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

static void the_same_value_is_only_told(void **state)
{
	struct race race;

	(void)state;
	for (int i = 0; i < 4; i++) {
		plain_race(&race);
		race.sides[0].access = ACCESS_READ;
		race.sides[1].access = ACCESS_WRITE;
		race.evidence = EVIDENCE_WATCHPOINT;
		vec_clear(&race.values);
		add_values(&race, 5, 5);
		/* a change, a write that was not made yet, no watchpoint */
		if (i == 1)
			add_values(&race, 5, 6);
		if (i == 2) {
			race.sides[0].access = ACCESS_WRITE;
			race.sides[1].access = ACCESS_READ;
		}
		if (i == 3)
			race.evidence = EVIDENCE_COLLISION;
		expect(&race, VERDICT_SUSPECT, i == 0 ? "same-value" : NULL);
	}
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
	/* and why it is not what it was, however often it is judged */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(race.verdict, VERDICT_SUSPECT);
		assert_null(race.reason);
		assert_string_equal(race.grounds,
				    "what was seen later does not fit "
				    "statistics-counter, the reason for which "
				    "it was unlikely");
		assert_null(rank_race(&race, NULL));
	}
	race_deinit(&race);
}

/* What would now be judged to be less keeps verdict, reason and grounds. */
static void verdicts_never_go_back(void **state)
{
	struct race race;

	(void)state;
	counter(&race);
	race.decides = true;
	assert_null(rank_race(&race, NULL));
	assert_int_equal(race.verdict, VERDICT_SUSPECT);
	race.decides = false;
	assert_null(rank_race(&race, NULL));
	assert_int_equal(race.verdict, VERDICT_SUSPECT);
	assert_null(race.reason);
	race_deinit(&race);
}

/* A flag that one side waits for and the other sets. */
static void volatile_flag(struct race *race)
{
	plain_race(race);
	sample_set(&race->variable.type, "volatile long");
	race->sides[0].access = ACCESS_READ;
	race->sides[0].pattern.compared = true;
	race->sides[1].access = ACCESS_WRITE;
	race->sides[1].pattern.change = PATTERN_CONSTANT;
	for (int i = 0; i < 2; i++)
		race->sides[i].size = race->size;
}

static void volatile_flags(void **state)
{
	struct race race;

	(void)state;
	volatile_flag(&race);
	expect(&race, VERDICT_UNLIKELY, "volatile");
	/* one thread counts, the other shows the number */
	volatile_flag(&race);
	race.sides[1].pattern.change = PATTERN_ADD;
	expect(&race, VERDICT_UNLIKELY, "volatile");
	/* not where it is said of nothing */
	volatile_flag(&race);
	sample_set(&race.variable.type, "long");
	expect(&race, VERDICT_SUSPECT, NULL);
}

static void near_misses_of_volatile_flags(void **state)
{
	struct race race;

	(void)state;
	for (int i = 0; i < 5; i++) {
		volatile_flag(&race);
		if (i == 0) /* both update it */
			race.sides[0].pattern.change = PATTERN_ADD;
		if (i == 1) /* it publishes something */
			race.sides[0].pattern.dereferenced = true;
		if (i == 2)
			race.sides[0].pattern.retested = true;
		if (i == 3) /* a part of it */
			race.sides[1].size = race.size / 2;
		if (i == 4) {
			race.sides[0].access = ACCESS_WRITE;
			race.sides[0].pattern.change = PATTERN_CONSTANT;
		}
		assert_null(rank_race(&race, NULL));
		assert_int_equal(race.verdict, VERDICT_SUSPECT);
		assert_null(race.reason);
		assert_string_equal(race.grounds,
				    "the variable is volatile, which makes no "
				    "access atomic and orders no others");
		race_deinit(&race);
	}
}

/* A pointer to a function, which one side calls and the other one chooses. */
static void dispatch_pointer(struct race *race, enum race_missing missing)
{
	volatile_flag(race);
	sample_set(&race->variable.type, "function *");
	for (int i = 0; i < 2; i++) {
		race->sides[i].pattern.dispatch = true;
		race->sides[i].missing = missing;
	}
}

static void pointers_chosen_at_the_first_call(void **state)
{
	struct race race;

	(void)state;
	dispatch_pointer(&race, RACE_MISSES_NOTHING);
	expect(&race, VERDICT_UNLIKELY, "dispatch");
	dispatch_pointer(&race, RACE_MISSES_DEBUG);
	expect(&race, VERDICT_SYNC, "dispatch");
	/* one side is known to be no atomic */
	dispatch_pointer(&race, RACE_MISSES_DEBUG);
	race.sides[1].missing = RACE_MISSES_NOTHING;
	expect(&race, VERDICT_UNLIKELY, "dispatch");
	/* other code takes part */
	dispatch_pointer(&race, RACE_MISSES_DEBUG);
	race.sides[1].pattern.dispatch = false;
	expect(&race, VERDICT_SUSPECT, NULL);
}

/* An access that is known to be plain, beside a locked instruction. */
static void plain_accesses_beside_locked_ones(void **state)
{
	static const struct {
		enum access_kind access;
		bool beside, adds;
		enum pattern_change change;
		enum race_verdict verdict;
	} rows[] = {
		{ ACCESS_READ, true, true, PATTERN_UNKNOWN, VERDICT_UNLIKELY },
		{ ACCESS_READ, true, false, PATTERN_UNKNOWN, VERDICT_UNLIKELY },
		{ ACCESS_READ, false, false, PATTERN_UNKNOWN, VERDICT_SUSPECT },
		/* what is added in between is lost, or what was added */
		{ ACCESS_WRITE, true, true, PATTERN_CONSTANT, VERDICT_SUSPECT },
		{ ACCESS_READ, true, true, PATTERN_ADD, VERDICT_SUSPECT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct race race;
		struct race_side *side = &race.sides[0];

		plain_race(&race);
		side->access = rows[i].access;
		side->pattern.change = rows[i].change;
		side->pattern.locked_beside = rows[i].beside;
		side->pattern.locked_adds = rows[i].adds;
		side->pattern.compared = true;
		side->pattern.stored_plainly = true;
		race.sides[1].atomic = true;
		race.sides[1].size = 16; /* no partner */
		sample_set(&race.sides[1].sync, "synchronizing");
		expect(&race, rows[i].verdict,
		       rows[i].verdict == VERDICT_UNLIKELY ? "locked-beside"
							   : NULL);
	}
}

/* Two that set a word which both functions also change by such instructions. */
static void two_plain_stores_beside_locked_ones(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct race race;

		plain_race(&race);
		for (int j = 0; j < 2; j++) {
			race.sides[j].access = ACCESS_WRITE;
			race.sides[j].pattern.change = PATTERN_CONSTANT;
			race.sides[j].pattern.locked_beside = true;
		}
		race.sides[1].pattern.locked_beside = i == 0;
		expect(&race, i ? VERDICT_SUSPECT : VERDICT_UNLIKELY,
		       i ? NULL : "locked-beside");
	}
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
		cmocka_unit_test(statistics_in_parts_may_fall),
		cmocka_unit_test(near_misses_of_statistics),
		cmocka_unit_test(reference_counts),
		cmocka_unit_test(disjoint_bits),
		cmocka_unit_test(wide_stores),
		cmocka_unit_test(wide_loads),
		cmocka_unit_test(near_misses_of_bits),
		cmocka_unit_test(double_checks),
		cmocka_unit_test(doubts_of_double_checks),
		cmocka_unit_test(looks_before_locks),
		cmocka_unit_test(near_misses_of_double_checks),
		cmocka_unit_test(special_variables),
		cmocka_unit_test(begins_and_ends),
		cmocka_unit_test(torn_values),
		cmocka_unit_test(values_in_two_cache_lines),
		cmocka_unit_test(reads_made_twice),
		cmocka_unit_test(cleared_pointers),
		cmocka_unit_test(synchronization_and_one_side_of_it),
		cmocka_unit_test(the_same_value_is_only_told),
		cmocka_unit_test(verdicts_follow_what_is_seen),
		cmocka_unit_test(verdicts_never_go_back),
		cmocka_unit_test(volatile_flags),
		cmocka_unit_test(near_misses_of_volatile_flags),
		cmocka_unit_test(pointers_chosen_at_the_first_call),
		cmocka_unit_test(plain_accesses_beside_locked_ones),
		cmocka_unit_test(two_plain_stores_beside_locked_ones),
		cmocka_unit_test(names_are_unique),
	};

	return cmocka_run_group_tests_name("rank", tests, NULL, NULL);
}

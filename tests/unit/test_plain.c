/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/judge/plain.c: plain accesses that are no synchronization though locked
 * instructions, or locks, are beside them; and what syncness.c makes of them.
 */
#include "judge/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/syncness.h"
#include "report/doubt.h"
#include "sample-race.h"

static struct race_frame *top(struct race_side *side)
{
	return vec_at(&side->frames, 0);
}

/* A store of a constant against a locked instruction, of the same 8 bytes. */
static struct race_side *store_race(struct race *race)
{
	sample_race(race);
	for (int i = 0; i < 2; i++) {
		race->sides[i].address = race->address;
		race->sides[i].idiom.used = UINT64_MAX;
	}
	race->sides[0].access = ACCESS_WRITE;
	race->sides[0].idiom.change = IDIOM_CONSTANT;
	race->sides[0].idiom.locked_beside = true;
	race->sides[1].access = ACCESS_RMW;
	race->sides[1].atomic = true;
	sample_set(&race->sides[1].insn, "lock cmpxchgl %edx, (%rdi)");
	sample_set(&race->sides[1].sync, "synchronizing");
	return &race->sides[0];
}

/* The evidence of side 0, or NULL. */
static void expect(struct race *race, const char *evidence)
{
	/* asked again, as at another sighting, the answer is the same */
	for (int i = 0; i < 2; i++) {
		assert_true(syncness_find(race));
		if (evidence)
			assert_string_equal(race->sides[0].sync, evidence);
		else
			assert_null(race->sides[0].sync);
	}
	race_deinit(race);
}

static void stores_over_a_sum_lose(void **state)
{
	struct race race;

	(void)state;
	/* a lock's word is set: its release, or that it is free at first */
	store_race(&race);
	expect(&race, "locked-beside");
	store_race(&race)->idiom.locked_adds = true;
	assert_true(plain_loses(&race.sides[0]));
	expect(&race, NULL);
	/* from another function: the sum is beside the other side */
	store_race(&race)->idiom.locked_beside = false;
	race.sides[1].idiom.locked_adds = true;
	expect(&race, NULL);
	/* it may be an atomic store, or is one */
	store_race(&race)->idiom.locked_adds = true;
	race.sides[0].missing = RACE_MISSES_SOURCE;
	expect(&race, "locked-beside");
	store_race(&race)->idiom.locked_adds = true;
	sample_set(&race.sides[0].sync, "atomic-code");
	expect(&race, "atomic-code");
	store_race(&race)->idiom.locked_adds = true;
	sample_set(&top(&race.sides[0])->source, "atomic_store(&n, 0);");
	expect(&race, "source");
}

static void reads_before_a_plain_store_lose(void **state)
{
	struct race race;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct race_side *side = store_race(&race);

		side->access = ACCESS_READ;
		side->idiom.change = IDIOM_UNKNOWN;
		side->idiom.locked_adds = true;
		side->idiom.compared = i != 1;
		side->idiom.stored_plainly = i != 2;
		if (i == 3)
			side->missing = RACE_MISSES_DEBUG;
		expect(&race, i ? "locked-beside" : NULL);
	}
}

/* Who stores has the lock, and no two have it. */
static void two_plain_stores_do_not_synchronize(void **state)
{
	struct race race;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct race_side *other = &race.sides[1];

		store_race(&race);
		other->access = ACCESS_WRITE;
		other->atomic = false;
		sample_set(&other->sync, i == 1 ? "atomic-code" : NULL);
		other->idiom = race.sides[0].idiom;
		if (i == 2)
			other->missing = RACE_MISSES_SOURCE;
		assert_int_equal(plain_stores(&race), i == 0);
		expect(&race, i ? "locked-beside" : NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stores_over_a_sum_lose),
		cmocka_unit_test(reads_before_a_plain_store_lose),
		cmocka_unit_test(two_plain_stores_do_not_synchronize),
	};

	return cmocka_run_group_tests_name("plain", tests, NULL, NULL);
}

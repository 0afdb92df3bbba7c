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

static const char libc[] = "/lib/x86_64-linux-gnu/libc.so.6";

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
		race->sides[i].pattern.used = UINT64_MAX;
	}
	race->sides[0].access = ACCESS_WRITE;
	race->sides[0].pattern.change = PATTERN_CONSTANT;
	race->sides[0].pattern.locked_beside = true;
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
	store_race(&race)->pattern.locked_adds = true;
	assert_true(plain_loses(&race.sides[0]));
	expect(&race, NULL);
	/* from another function: the sum is beside the other side */
	store_race(&race)->pattern.locked_beside = false;
	race.sides[1].pattern.locked_adds = true;
	expect(&race, NULL);
	/* it may be an atomic store, or is one */
	store_race(&race)->pattern.locked_adds = true;
	race.sides[0].missing = RACE_MISSES_SOURCE;
	expect(&race, "locked-beside");
	store_race(&race)->pattern.locked_adds = true;
	sample_set(&race.sides[0].sync, "atomic-code");
	expect(&race, "atomic-code");
	store_race(&race)->pattern.locked_adds = true;
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
		side->pattern.change = PATTERN_UNKNOWN;
		side->pattern.locked_adds = true;
		side->pattern.compared = i != 1;
		side->pattern.stored_plainly = i != 2;
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
		other->pattern = race.sides[0].pattern;
		if (i == 2)
			other->missing = RACE_MISSES_SOURCE;
		assert_int_equal(plain_stores(&race), i == 0);
		expect(&race, i ? "locked-beside" : NULL);
	}
}

/* The other side is in the C library, in that function. */
static struct race_side *over_lock(struct race *race, const char *function)
{
	struct race_side *side = store_race(race);

	side->pattern.locked_beside = false;
	sample_set(&side->sync, "runtime");
	sample_set(&race->sides[1].sync, "runtime");
	sample_set(&top(&race->sides[1])->function, function);
	sample_set(&top(&race->sides[1])->module, libc);
	return side;
}

static void stores_over_a_lock_in_use(void **state)
{
	static const struct {
		const char *function, *evidence;
	} rows[] = {
		{ "___pthread_mutex_lock", NULL },
		{ "__GI___pthread_mutex_unlock_usercnt", NULL },
		{ "pthread_spin_lock", NULL },
		{ "__new_sem_post", NULL },
		{ "lll_mutex_unlock_optimized", NULL },
		/* these write for the program */
		{ "pthread_join", "runtime" },
		{ "pthread_create", "runtime" },
		{ "free", "runtime" },
	};
	struct race race;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		over_lock(&race, rows[i].function);
		assert_int_equal(plain_over_lock(&race, 0, false),
				 !rows[i].evidence);
		expect(&race, rows[i].evidence);
	}
	/* a function of the program's with such a name */
	over_lock(&race, "sem_post");
	sample_set(&top(&race.sides[1])->module, "/usr/bin/cache");
	expect(&race, "runtime");
}

static void near_misses_of_stores_over_a_lock(void **state)
{
	struct race race;

	(void)state;
	/* a read, as of the owner */
	over_lock(&race, "pthread_mutex_lock")->access = ACCESS_READ;
	expect(&race, "runtime");
	/* what may be an atomic operation, and what is one */
	over_lock(&race, "pthread_mutex_lock")->missing = RACE_MISSES_DEBUG;
	expect(&race, "runtime");
	sample_set(&over_lock(&race, "pthread_mutex_lock")->sync,
		   "atomic-code");
	expect(&race, "atomic-code");
	over_lock(&race, "pthread_mutex_lock")->atomic = true;
	expect(&race, "runtime");
	/* threading functions may */
	sample_set(&top(over_lock(&race, "pthread_mutex_lock"))->function,
		   "pthread_mutex_init");
	expect(&race, "runtime");
	/* a lock of the program's own */
	over_lock(&race, "pthread_mutex_lock")->pattern.locked_beside = true;
	expect(&race, "runtime");
}

/* memset() of libc's is no atomic operation, whatever is known of it. */
static void libc_stores_for_the_program(void **state)
{
	struct race race;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct race_side *side = over_lock(&race, "pthread_mutex_lock");
		struct race_frame *caller = vec_at(&side->frames, 1);

		sample_set(&top(side)->function, "__memset_avx2_unaligned");
		sample_set(&top(side)->module, libc);
		side->missing = RACE_MISSES_DEBUG;
		if (i)
			sample_set(&caller->function, "pthread_mutex_init");
		expect(&race, i ? "runtime" : NULL);
	}
}

/* Side 0 stores to a variable of that type, side 1 is in that function. */
static struct race_side *typed(struct race *race, const char *type,
			       const char *function, const char *module)
{
	struct race_side *side = over_lock(race, function);

	sample_set(&top(&race->sides[1])->module, module);
	sample_set(&race->variable.type, type);
	sample_set(&side->sync, NULL);
	return side;
}

static void types_of_locks(void **state)
{
	struct race race;

	(void)state;
	/* GLib's lock is taken in a module of its own */
	typed(&race, "GMutex", "g_mutex_lock", "libglib-2.0.so.0");
	expect(&race, NULL);
	/* the program's own type of that name, with its own functions */
	typed(&race, "mtx_t", "take", "/usr/bin/cache");
	expect(&race, "partner");
	/* an inlined atomic operation, where nothing tells */
	typed(&race, "GMutex", "g_mutex_lock", "libglib-2.0.so.0")->missing =
		RACE_MISSES_SOURCE;
	expect(&race, "lock-type");
}

static void both_store_over_a_lock(void **state)
{
	struct race race;

	(void)state;
	store_race(&race)->pattern.locked_beside = false;
	sample_set(&race.variable.type, "pthread_spinlock_t");
	race.sides[1].access = ACCESS_WRITE;
	race.sides[1].atomic = false;
	sample_set(&race.sides[1].sync, NULL);
	assert_true(syncness_find(&race));
	assert_null(race.sides[1].sync);
	expect(&race, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stores_over_a_sum_lose),
		cmocka_unit_test(reads_before_a_plain_store_lose),
		cmocka_unit_test(two_plain_stores_do_not_synchronize),
		cmocka_unit_test(stores_over_a_lock_in_use),
		cmocka_unit_test(near_misses_of_stores_over_a_lock),
		cmocka_unit_test(libc_stores_for_the_program),
		cmocka_unit_test(types_of_locks),
		cmocka_unit_test(both_store_over_a_lock),
	};

	return cmocka_run_group_tests_name("plain", tests, NULL, NULL);
}

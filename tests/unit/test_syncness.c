/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/judge/syncness.c: evidence of synchronization, and what is none. */
#include "judge/syncness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/doubt.h"
#include "sample-race.h"

/* Two plain aligned accesses to the same 8 bytes; nothing says more. */
static void plain_race(struct race *race)
{
	sample_race(race);
	for (int i = 0; i < 2; i++) {
		race->sides[i].address = race->address;
		race->sides[i].pattern.used = UINT64_MAX;
	}
	race->sides[0].access = ACCESS_READ;
	race->sides[1].access = ACCESS_WRITE;
}

static void expect(struct race *race, const char *first, const char *second)
{
	assert_true(syncness_find(race));
	if (first)
		assert_string_equal(race->sides[0].sync, first);
	else
		assert_null(race->sides[0].sync);
	if (second)
		assert_string_equal(race->sides[1].sync, second);
	else
		assert_null(race->sides[1].sync);
	assert_int_equal(syncness_both(race), first && second);
	race_deinit(race);
}

static void nothing_is_no_evidence(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	expect(&race, NULL, NULL);
}

static void volatile_makes_no_update_atomic(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	sample_set(&race.variable.type, "volatile int");
	race.sides[0].pattern.change = PATTERN_ADD;
	race.sides[1].pattern.change = PATTERN_BITS;
	expect(&race, NULL, NULL);
	/* _Atomic does: each access is one */
	plain_race(&race);
	sample_set(&race.variable.type, "_Atomic int");
	race.sides[0].pattern.change = PATTERN_ADD;
	race.sides[1].pattern.change = PATTERN_ADD;
	expect(&race, "atomic-type", "atomic-type");
}

/* Not synchronization, on either side, but known. */
static void volatile_is_no_synchronization(void **state)
{
	static const struct {
		const char *type;
		bool is_volatile;
	} rows[] = {
		{ "volatile int", true },
		{ "volatile sig_atomic_t", true },
		{ "int * volatile", true },
		{ "volatile struct config *", false },
		{ "nonvolatile_t", false },
		{ "sig_atomic_t", false },
		{ NULL, false },
	};
	struct race race;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plain_race(&race);
		sample_set(&race.variable.type, rows[i].type);
		assert_int_equal(syncness_is_volatile(&race),
				 rows[i].is_volatile);
		expect(&race, NULL, NULL);
	}
	/* Rust's is in the access: of both sides, or of one */
	plain_race(&race);
	for (int i = 0; i < 2; i++) {
		struct race_frame *frame = vec_at(&race.sides[i].frames, 0);

		assert_false(syncness_is_volatile(&race));
		sample_set(&frame->function,
			   i ? "core::ptr::write_volatile<u64>"
			     : "core::ptr::read_volatile<u64>");
	}
	assert_true(syncness_is_volatile(&race));
	expect(&race, NULL, NULL);
}

static void types_speak_for_both(void **state)
{
	static const struct {
		const char *type, *evidence;
	} rows[] = {
		{ "_Atomic int", "atomic-type" },
		{ "std::atomic<int>", "atomic-type" },
		{ "core::sync::atomic::AtomicUsize", "atomic-type" },
		{ "struct my_atomic_int_table", NULL },
		{ "nonvolatile_t", NULL },
		{ "long", NULL },
		/* of a pointer, what stands behind its star */
		{ "volatile struct config *", NULL },
		{ "pthread_mutex_t *", NULL },
		{ "_Atomic int *[4]", NULL },
		{ "std::atomic<int>&", NULL },
		{ "&core::sync::atomic::AtomicUsize", NULL },
		{ "int * _Atomic", "atomic-type" },
		{ "std::atomic<node*>", "atomic-type" },
		{ NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct race race;

		plain_race(&race);
		sample_set(&race.variable.type, rows[i].type);
		expect(&race, rows[i].evidence, rows[i].evidence);
	}
}

static void types_of_locks_speak_but_for_plain_stores(void **state)
{
	struct race race;

	(void)state;
	for (int i = 0; i < 2; i++) {
		plain_race(&race);
		sample_set(&race.variable.type, "pthread_mutex_t");
		if (i)
			race.sides[1].missing = RACE_MISSES_SOURCE;
		expect(&race, "lock-type", i ? "lock-type" : NULL);
	}
}

static void set_source(struct race_side *side, const char *source, int column)
{
	struct race_frame *frame = vec_at(&side->frames, 0);

	sample_set(&frame->source, source);
	frame->column = column;
}

static void source_lines_name_operations(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	set_source(&race.sides[0],
		   "\treturn __atomic_load_n(&level, __ATOMIC_RELAXED);", 9);
	set_source(&race.sides[1], "\tWRITE_ONCE(level, n);", 2);
	expect(&race, "source", "source");
	/* of another statement on the line */
	plain_race(&race);
	set_source(&race.sides[0], "atomic_store(&ready, 1); level = 2;", 26);
	set_source(&race.sides[1], "level = 1;", 7);
	expect(&race, NULL, NULL);
}

static void known_functions_synchronize(void **state)
{
	struct race_frame *frame;
	struct race race;

	(void)state;
	plain_race(&race);
	frame = vec_at(&race.sides[1].frames, 0);
	sample_set(&frame->function, "pthread_mutex_unlock");
	expect(&race, NULL, "function");
}

/* The kernel's look at the word; the store that lets go of it. */
static void futex_synchronizes(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	race.sides[0].access = ACCESS_WRITE;
	race.sides[0].pattern.change = PATTERN_CONSTANT;
	race.sides[1].access = ACCESS_NONE;
	sample_set(&race.sides[1].syscall, "futex");
	expect(&race, "partner", "function");
	/* of another word */
	plain_race(&race);
	race.sides[0].access = ACCESS_WRITE;
	race.sides[1].size = race.sides[0].size / 2;
	sample_set(&race.sides[1].syscall, "futex");
	expect(&race, NULL, "function");
	/* other calls read for the program */
	plain_race(&race);
	sample_set(&race.sides[1].syscall, "write");
	expect(&race, NULL, NULL);
}

static struct race *locked_race(struct race *race)
{
	plain_race(race);
	race->sides[1].access = ACCESS_RMW;
	race->sides[1].atomic = true;
	sample_set(&race->sides[1].sync, "synchronizing");
	return race;
}

/* The word of a spin lock: spinning read, locked change, plain release. */
static void partners_of_locked_instructions(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	race.sides[1].access = ACCESS_RMW;
	race.sides[1].atomic = true;
	sample_set(&race.sides[1].sync, "synchronizing");
	expect(&race, "partner", "synchronizing");
	/* one load of two counts */
	locked_race(&race)->sides[1].size = 4;
	race.sides[1].address += 4;
	expect(&race, "partner", "synchronizing");
	plain_race(&race);
	race.sides[0].pattern.locked_beside = true;
	race.sides[1].pattern.change = PATTERN_CONSTANT;
	expect(&race, "locked-beside", "partner");
	/* a lock's word is set again */
	locked_race(&race)->sides[0].access = ACCESS_WRITE;
	sample_set(&race.sides[1].insn, "lock cmpxchgl %edx, (%rdi)");
	expect(&race, "partner", "synchronizing");
}

static void near_misses_of_partners(void **state)
{
	struct race_frame *frame;
	struct race race;

	(void)state;
	/* other bytes, fewer bytes, across words */
	locked_race(&race)->sides[0].address += 8;
	expect(&race, NULL, "synchronizing");
	locked_race(&race)->sides[0].size = 4;
	expect(&race, NULL, "synchronizing");
	locked_race(&race)->sides[0].address += 4;
	race.sides[1].address += 4;
	expect(&race, NULL, "synchronizing");
	/* plain read-modify-writes lose what the locked one does */
	locked_race(&race)->sides[0].access = ACCESS_RMW;
	race.sides[0].pattern.change = PATTERN_ADD;
	expect(&race, NULL, "synchronizing");
	locked_race(&race)->sides[0].access = ACCESS_WRITE;
	race.sides[0].pattern.change = PATTERN_ADD;
	expect(&race, NULL, "synchronizing");
	/* a count of users that is set anew, also one whose sum was asked for */
	locked_race(&race)->sides[0].access = ACCESS_WRITE;
	race.sides[1].pattern.change = PATTERN_ADD;
	expect(&race, NULL, "synchronizing");
	locked_race(&race)->sides[0].access = ACCESS_WRITE;
	sample_set(&race.sides[1].insn, "lock xaddl %eax, (%rdi)");
	expect(&race, NULL, "synchronizing");
	/* a body of std::atomic is no locked instruction */
	locked_race(&race)->sides[1].atomic = false;
	sample_set(&race.sides[1].sync, "atomic-code");
	expect(&race, NULL, "atomic-code");
	/* but where nothing could tell an inlined one */
	locked_race(&race)->sides[1].atomic = false;
	sample_set(&race.sides[1].sync, "atomic-code");
	frame = vec_at(&race.sides[0].frames, 0);
	sample_set(&frame->file, NULL);
	frame->line = 0;
	expect(&race, "partner", "atomic-code");
}

/* Of 16 bytes that cmpxchg16b changes, a load has one of the two halves. */
static void halves_of_a_pair_are_partners(void **state)
{
	static const struct {
		uint64_t address;
		uint32_t size;
		unsigned int access;
		const char *evidence;
	} cases[] = {
		{ 0x1000, 8, ACCESS_READ, "partner" },
		{ 0x1008, 8, ACCESS_READ, "partner" },
		{ 0x1008, 8, ACCESS_WRITE, NULL },
		{ 0x1004, 8, ACCESS_READ, NULL },
		{ 0x1008, 4, ACCESS_READ, NULL },
		{ 0x1010, 8, ACCESS_READ, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct race race;

		plain_race(&race);
		race.sides[0].address = cases[i].address;
		race.sides[0].size = cases[i].size;
		race.sides[0].access = cases[i].access;
		race.sides[1].address = 0x1000;
		race.sides[1].size = 16;
		race.sides[1].access = ACCESS_RMW;
		race.sides[1].atomic = true;
		sample_set(&race.sides[1].sync, "synchronizing");
		expect(&race, cases[i].evidence, "synchronizing");
		/* and not of what an instruction without a lock changes */
		plain_race(&race);
		race.sides[0].address = cases[i].address;
		race.sides[0].size = cases[i].size;
		race.sides[1].address = 0x1000;
		race.sides[1].size = 16;
		expect(&race, NULL, NULL);
	}
}

static void an_unseen_side_is_what_the_other_is(void **state)
{
	struct race race;

	(void)state;
	sample_unknown(&race);
	assert_true(syncness_find(&race));
	assert_false(syncness_both(&race));
	race.sides[0].pattern.locked_beside = true;
	assert_true(syncness_find(&race));
	assert_null(race.sides[1].sync);
	assert_true(syncness_both(&race));
	race_deinit(&race);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_no_evidence),
		cmocka_unit_test(types_speak_for_both),
		cmocka_unit_test(types_of_locks_speak_but_for_plain_stores),
		cmocka_unit_test(volatile_makes_no_update_atomic),
		cmocka_unit_test(volatile_is_no_synchronization),
		cmocka_unit_test(source_lines_name_operations),
		cmocka_unit_test(known_functions_synchronize),
		cmocka_unit_test(futex_synchronizes),
		cmocka_unit_test(partners_of_locked_instructions),
		cmocka_unit_test(near_misses_of_partners),
		cmocka_unit_test(halves_of_a_pair_are_partners),
		cmocka_unit_test(an_unseen_side_is_what_the_other_is),
	};

	return cmocka_run_group_tests_name("syncness", tests, NULL, NULL);
}

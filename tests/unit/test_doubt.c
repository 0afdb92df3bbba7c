/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/doubt.c: where a race may be one of atomic operations. */
#include "report/doubt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample-race.h"

/* A store of one thread and a load of the other, and nothing to tell by. */
static void doubtful_race(struct race *race, enum race_missing missing)
{
	sample_race(race);
	for (int i = 0; i < 2; i++) {
		struct race_side *side = &race->sides[i];

		side->missing = missing;
		side->address = race->address;
		side->size = 8;
		side->access = i ? ACCESS_WRITE : ACCESS_READ;
		sample_set(&side->insn,
			   i ? "movq %rax, 0x8(%rbx)" : "movq 0x8(%rdi), %rax");
	}
}

static enum race_missing doubt_of(void (*change)(struct race *race))
{
	enum race_missing missing;
	struct race race;

	doubtful_race(&race, RACE_MISSES_SOURCE);
	change(&race);
	missing = race_doubt(&race);
	race_deinit(&race);
	return missing;
}

static void says_what_is_missing(void **state)
{
	struct race race;

	(void)state;
	doubtful_race(&race, RACE_MISSES_SOURCE);
	assert_string_equal(race_doubt_text(&race),
			    "no source: may be an atomic");
	race.sides[1].missing = RACE_MISSES_DEBUG;
	assert_string_equal(race_doubt_text(&race),
			    "no debug information: may be an atomic");
	race.sides[0].missing = RACE_MISSES_MACRO;
	race.sides[1].missing = RACE_MISSES_MACRO;
	assert_string_equal(race_doubt_text(&race),
			    "behind a macro: may be an atomic");
	race.sides[1].missing = RACE_MISSES_NOTHING;
	assert_null(race_doubt_text(&race));
	race_deinit(&race);
}

static void has_its_line(struct race *race)
{
	struct race_frame *top = vec_at(&race->sides[1].frames, 0);

	sample_set(&top->source, "shard->used = n;");
}

static void is_unaligned(struct race *race)
{
	race->sides[0].address++;
	race->sides[1].address++;
}

static void has_three_bytes(struct race *race)
{
	race->sides[0].size = race->sides[1].size = 3;
}

static void has_sixteen_bytes(struct race *race)
{
	race->sides[0].size = race->sides[1].size = 16;
	race->sides[0].address = race->sides[1].address = 0x1000;
}

static void is_read_and_written(struct race *race)
{
	race->sides[1].access = ACCESS_RMW;
	sample_set(&race->sides[1].insn, "addq $1, 0x8(%rbx)");
}

static void is_compared(struct race *race)
{
	sample_set(&race->sides[0].insn, "cmpq $0, 0x8(%rdi)");
}

static void is_tested(struct race *race)
{
	race->sides[0].size = race->sides[1].size = 1;
	sample_set(&race->sides[0].insn, "testb $4, 0x8(%rdi)");
	sample_set(&race->sides[1].insn, "movb $0, 0x8(%rdi)");
}

static void is_negated(struct race *race)
{
	race->sides[1].access = ACCESS_RMW;
	sample_set(&race->sides[1].insn, "negq 0x8(%rbx)");
}

/* No compiler makes these of atomic operations. */
static void is_shifted(struct race *race)
{
	race->sides[1].access = ACCESS_RMW;
	sample_set(&race->sides[1].insn, "shlq $1, 0x8(%rbx)");
}

static void is_compared_exchange(struct race *race)
{
	race->sides[1].access = ACCESS_RMW;
	sample_set(&race->sides[1].insn, "cmpxchgq %rcx, 0x8(%rbx)");
}

static void is_summed(struct race *race)
{
	sample_set(&race->sides[0].insn, "addq 0x8(%rdi), %rax");
}

static void both_add_to_memory(struct race *race)
{
	for (int i = 0; i < 2; i++) {
		race->sides[i].access = ACCESS_RMW;
		sample_set(&race->sides[i].insn, "addq $1, 0x8(%rbx)");
	}
}

static void is_a_vector_move(struct race *race)
{
	sample_set(&race->sides[1].insn, "movq %xmm0, 0x8(%rbx)");
}

static void is_a_string_move(struct race *race)
{
	sample_set(&race->sides[1].insn, "rep movsq (%rsi), %es:(%rdi)");
}

static void is_a_single_string_move(struct race *race)
{
	sample_set(&race->sides[1].insn, "movsq (%rsi), %es:(%rdi)");
}

static void is_non_temporal(struct race *race)
{
	sample_set(&race->sides[1].insn, "movnti %rax, 0x8(%rbx)");
}

static void is_of_the_kernel(struct race *race)
{
	sample_set(&race->sides[1].syscall, "read");
}

static void is_half_of_the_other(struct race *race)
{
	race->sides[0].size = 4;
}

static void spans_two_members(struct race *race)
{
	sample_set(&race->variable.name, "shards[3].{used,size}");
}

static void updates_twice(struct race *race)
{
	for (int i = 0; i < 2; i++)
		race->sides[i].pattern = (struct code_pattern){
			.change = PATTERN_ADD, .delta = 1, .used = UINT64_MAX
		};
}

static void synchronizes(struct race *race)
{
	race->verdict = VERDICT_SYNC;
}

static void what_cannot_be_an_atomic_is_not_doubted(void **state)
{
	static void (*const changes[])(struct race * race) = {
		has_its_line,
		is_unaligned,
		has_three_bytes,
		has_sixteen_bytes,
		is_shifted,
		is_summed,
		is_a_vector_move,
		is_a_string_move,
		is_a_single_string_move,
		is_non_temporal,
		is_of_the_kernel,
		is_half_of_the_other,
		spans_two_members,
		updates_twice,
		both_add_to_memory,
		synchronizes,
		is_compared_exchange,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		if (doubt_of(changes[i]) != RACE_MISSES_NOTHING)
			fail_msg("change %zu leaves a doubt", i);
	}
}

static void extends(struct race *race)
{
	race->sides[0].size = race->sides[1].size = 1;
	sample_set(&race->sides[0].insn, "movzbl 0x8(%rdi), %eax");
	sample_set(&race->sides[1].insn, "movb $0, 0x8(%rdi)");
}

static void one_updates(struct race *race)
{
	race->sides[1].pattern =
		(struct code_pattern){ .change = PATTERN_ADD, .delta = 1 };
}

/* A store over a sum is a race, but not if it is an atomic one. */
static void other_is_locked(struct race *race)
{
	race->sides[0].access = ACCESS_RMW;
	race->sides[0].atomic = true;
	race->sides[0].missing = RACE_MISSES_NOTHING;
	sample_set(&race->sides[0].insn, "lock addq $1, 0x8(%rdi)");
}

static void nobody_saw_the_other(struct race *race)
{
	race->sides[1].role = RACE_UNKNOWN;
}

static void what_may_be_one_is(void **state)
{
	static void (*const changes[])(struct race * race) = {
		extends,
		one_updates,
		other_is_locked,
		nobody_saw_the_other,
		is_read_and_written,
		is_negated,
		is_compared,
		is_tested,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		if (doubt_of(changes[i]) != RACE_MISSES_SOURCE)
			fail_msg("change %zu leaves no doubt", i);
	}
}

static void a_sighting_without_a_doubt_ends_it(void **state)
{
	struct race one, other;

	(void)state;
	doubtful_race(&one, RACE_MISSES_SOURCE);
	doubtful_race(&other, RACE_MISSES_DEBUG);
	race_join_doubts(&one, &other);
	assert_int_equal(race_doubt(&one), RACE_MISSES_SOURCE);
	is_a_vector_move(&other);
	race_join_doubts(&one, &other);
	assert_int_equal(race_doubt(&one), RACE_MISSES_NOTHING);
	race_deinit(&one);
	race_deinit(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_is_missing),
		cmocka_unit_test(what_cannot_be_an_atomic_is_not_doubted),
		cmocka_unit_test(what_may_be_one_is),
		cmocka_unit_test(a_sighting_without_a_doubt_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

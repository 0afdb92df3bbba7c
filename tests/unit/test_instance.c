/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races in all their orders: what each comes to, of those that lose something and
 * of those that do not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replay-scene.h"

enum { PAGE = 4096 };

static struct {
	uint32_t counter, flag, value, other;
	uint32_t *pointer;
	uint32_t lock, count, pair[2];
} data __attribute__((aligned(PAGE)));

/* counter++, as gcc 14 compiles it with -O0, -O1 and -O2 */
SCENE(count_o0,
      "push %rbp\n"
      "mov %rsp, %rbp\n"
      "mov %rdi, -8(%rbp)\n"
      "mov -8(%rbp), %rax",
      "mov (%rax), %eax\n"
      "lea 1(%rax), %edx\n"
      "mov -8(%rbp), %rax\n"
      "mov %edx, (%rax)\n"
      "nop\n"
      "pop %rbp\n"
      "ret");
SCENE(count_o2, "",
      "addl $1, (%rdi)\n"
      "ret");
SCENE(count_lock, "",
      "lock addl $1, (%rdi)\n"
      "ret");
SCENE(low_bit, "",
      "orl $1, (%rdi)\n"
      "ret");
SCENE(high_bit, "",
      "orl $0x80000000, (%rdi)\n"
      "ret");
SCENE(clear_bit, "",
      "andl $~1, (%rdi)\n"
      "ret");
SCENE(write_one, "",
      "movl $1, 4(%rdi)\n"
      "ret");
SCENE(write_two, "",
      "movl $2, 4(%rdi)\n"
      "ret");
SCENE(clear_pointer, "",
      "movq $0, 16(%rdi)\n"
      "ret");
/* if (pointer) *pointer = 3; the pointer is loaded twice */
SCENE(check_pointer, "",
      "cmpq $0, 16(%rdi)\n"
      "je 1f\n"
      "mov 16(%rdi), %rax\n"
      "movl $3, (%rax)\n"
      "1: ret");

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_verdict(const struct replay_result *result,
			   enum replay_verdict verdict)
{
	if (result->failure)
		print_error("failure: %s\n", result->failure);
	for (size_t i = 0;
	     i < result->changes.count && result->verdict != verdict; i++) {
		const struct replay_change *change =
			vec_at(&result->changes, i);

		print_error("%llx+%u in %x\n",
			    (unsigned long long)change->address, change->size,
			    change->schedules);
	}
	assert_int_equal(result->verdict, verdict);
}

static uint32_t value_of(const struct replay_change *change, int schedule)
{
	uint32_t value = 0;

	assert_true(change->schedules >> schedule & 1);
	memcpy(&value, change->values[schedule], sizeof(value));
	return value;
}

static int schedule_named(const char *name)
{
	for (int i = 0; i < REPLAY_SCHEDULES; i++) {
		if (strcmp(replay_schedule_name(i), name) == 0)
			return i;
	}
	fail_msg("no schedule %s", name);
	return -1;
}

static void a_lost_update_is_a_change_of_the_raced_bytes(void **state)
{
	const struct scene scenes[] = {
		{ { SIDE(count_o0, &data), SIDE(count_o0, &data) },
		  &data.counter,
		  4 },
		{ { SIDE(count_o2, &data), SIDE(count_o2, &data) },
		  &data.counter,
		  4 },
		{ { SIDE(count_o0, &data), SIDE(count_o2, &data) },
		  &data.counter,
		  4 },
	};
	struct replay_result result;

	replay_result_init(&result);
	for (size_t i = 0; i < COUNT(scenes); i++) {
		const struct replay_change *change;

		scene_replay(*state, &scenes[i], &result);
		assert_verdict(&result, REPLAY_CHANGE);
		assert_false(result.beyond);
		assert_int_equal(result.changes.count, 1);
		change = vec_at(&result.changes, 0);
		assert_int_equal(change->address, (uintptr_t)&data.counter);
		assert_int_equal(change->size, 4);
		assert_int_equal(value_of(change, schedule_named("ab-whole")),
				 2);
	}
	replay_result_deinit(&result);
}

static void what_commutes_is_no_change(void **state)
{
	const struct scene scenes[] = {
		{ { SIDE(count_lock, &data), SIDE(count_lock, &data) },
		  &data.counter,
		  4 },
		{ { SIDE(write_one, &data), SIDE(write_one, &data) },
		  &data.flag,
		  4 },
	};
	struct replay_result result;

	replay_result_init(&result);
	for (size_t i = 0; i < COUNT(scenes); i++) {
		scene_replay(*state, &scenes[i], &result);
		assert_verdict(&result, REPLAY_NO_CHANGE);
		assert_null(result.failure);
		assert_int_equal(result.changes.count, 0);
		assert_false(result.beyond);
	}
	replay_result_deinit(&result);
}

static void a_fault_that_an_order_avoids_is_a_fault(void **state)
{
	const struct scene scene = { { SIDE(check_pointer, &data),
				       SIDE(clear_pointer, &data) },
				     &data.pointer,
				     8 };
	struct replay_result result;

	replay_result_init(&result);
	data.pointer = &data.value;
	scene_replay(*state, &scene, &result);
	data.pointer = NULL;
	assert_verdict(&result, REPLAY_FAULT);
	assert_int_equal(result.signal, SIGSEGV);
	assert_int_equal(result.fault_address, 0);
	assert_int_equal(result.fault_schedules,
			 1U << schedule_named("ab") |
				 1U << schedule_named("a(b)a"));
	replay_result_deinit(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_lost_update_is_a_change_of_the_raced_bytes),
		PAIR_TEST(what_commutes_is_no_change),
		PAIR_TEST(a_fault_that_an_order_avoids_is_a_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

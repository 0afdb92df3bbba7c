/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which executions are those of a side, and when it is near (RaceHunter,
 * definition 11). The stack is one of ours.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "sys/memory.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracer/hunt-count.h"
#include "tracer/hunt.h"

static struct program_text text;
static struct addrspace space = { .text = &text };
static struct process process = { .space = &space };
static struct thread first = { .process = &process, .tid = 10 };
static struct thread second = { .process = &process, .tid = 11 };
static struct hunt_target target;

static int setup(void **state)
{
	(void)state;
	memory_init(&space.memory, getpid());
	first.threads_made = 0;
	thread_begin_place(&first);
	thread_set_place(&second, &first);
	target = (struct hunt_target){
		.counts = VEC_INIT(struct hunt_count),
		.state = HUNT_COUNTING,
	};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vec_deinit(&target.counts);
	memory_deinit(&space.memory);
	return 0;
}

static void the_place_tells_threads_apart(void **state)
{
	const struct x86_registers regs = { .rip = 1 };
	struct thread third = { .process = &process };
	struct thread child = { .process = &process };

	(void)state;
	thread_set_place(&third, &first);
	thread_set_place(&child, &second);
	/* the first thread has the length 0 */
	assert_true(hunt_is_meant(&target, &first, &regs));
	assert_false(hunt_is_meant(&target, &second, &regs));
	target.place = (struct thread_place){ .path = { 1 }, .length = 1 };
	assert_false(hunt_is_meant(&target, &second, &regs));
	assert_true(hunt_is_meant(&target, &third, &regs));
	target.place = (struct thread_place){ .path = { 0, 0 }, .length = 2 };
	assert_true(hunt_is_meant(&target, &child, &regs));
	assert_false(hunt_is_meant(&target, &second, &regs));
	target.wire.any = true;
	assert_true(hunt_is_meant(&target, &second, &regs));
}

static void the_stack_has_the_return_addresses_in_order(void **state)
{
	uint64_t words[] = { 7, 0x1111, 8, 0x2222, 9, 0x1111 };
	struct x86_registers regs = { .rip = 1 };

	(void)state;
	/* an unaligned stack pointer is no matter */
	regs.gpr[X86_RSP] = (uintptr_t)words - 3;
	target.wire.stack_count = 2;
	target.wire.stack[0] = 0x1111;
	target.wire.stack[1] = 0x2222;
	assert_true(hunt_is_meant(&target, &first, &regs));
	target.wire.stack[1] = 0x3333;
	assert_false(hunt_is_meant(&target, &first, &regs));
	/* those below the stack pointer are of calls that have returned */
	target.wire.stack[1] = 0x2222;
	regs.gpr[X86_RSP] = (uintptr_t)&words[2];
	words[5] = 0;
	assert_false(hunt_is_meant(&target, &first, &regs));
	/* nothing can be read there */
	regs.gpr[X86_RSP] = 16;
	assert_false(hunt_is_meant(&target, &first, &regs));
}

static void the_execution_before_the_side_makes_it_near(void **state)
{
	(void)state;
	target.wire.ordinal = 2;
	assert_false(hunt_counts(&target, &first));
	assert_int_equal(target.state, HUNT_COUNTING);
	/* each thread counts its own */
	assert_false(hunt_counts(&target, &second));
	assert_int_equal(target.state, HUNT_COUNTING);
	assert_false(hunt_counts(&target, &first));
	assert_int_equal(target.state, HUNT_NEAR);
	assert_true(hunt_counts(&target, &first));
	assert_false(hunt_counts(&target, &first));
	assert_int_equal(target.news.reached, 4);
}

static void the_first_execution_may_be_the_side(void **state)
{
	(void)state;
	target.state = HUNT_NEAR;
	assert_true(hunt_counts(&target, &first));
	assert_false(hunt_counts(&target, &first));
}

/* The kernel has counted up to the one before it. */
static void a_period_counts_at_once(void **state)
{
	(void)state;
	target.wire.ordinal = 1000;
	target.period = 1000;
	assert_false(hunt_counts(&target, &first));
	assert_int_equal(target.state, HUNT_NEAR);
	assert_int_equal(target.news.reached, 1000);
	target.period = 0;
	assert_true(hunt_counts(&target, &first));
}

int main(void)
{
#define TRY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TRY(the_place_tells_threads_apart),
		TRY(the_stack_has_the_return_addresses_in_order),
		TRY(the_execution_before_the_side_makes_it_near),
		TRY(the_first_execution_may_be_the_side),
		TRY(a_period_counts_at_once),
	};

	return cmocka_run_group_tests_name("hunt-count", tests, NULL, NULL);
}

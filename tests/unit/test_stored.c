/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/dataflow/stored.c: whether a plain store follows a read on a way without a
 * locked instruction, and which locked instructions are beside it.
 */
#include "dataflow/nearby.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "x86/access.h"

#include "function-code.h"

/* if (count > 10) count = 0; else lock add */
CODE(limit, HERE(limit) "movq (%rdi), %rax\n"
			"cmpq $10, %rax; ja 1f; lock addq $1, (%rdi); ret\n"
			"1: movq $0, (%rdi); ret");
/* the same without optimization: the pointer is loaded anew */
CODE(limit_slow,
     "pushq %rbp; movq %rsp, %rbp; movq %rdi, -8(%rbp)\n"
     "movq -8(%rbp), %rax" HERE(
	     limit_slow) "movq (%rax), %rax\n"
			 "cmpq $10, %rax; jbe 1f\n"
			 "movq -8(%rbp), %rax; movq $0, (%rax); jmp 2f\n"
			 "1: movq -8(%rbp), %rax; lock addq $1, (%rax)\n"
			 "2: popq %rbp; ret");
/* in a loop, with a call before the store */
CODE(limit_loop,
     "pushq %rbx; movq %rdi, %rbx\n"
     "1:" HERE(limit_loop) "cmpq $10, (%rbx); ja 2f\n"
			   "lock xaddq %rax, (%rbx); jmp 1b\n"
			   "2: call stub_other; movq $0, (%rbx); jmp 1b");
/* an addition without a lock is a store too */
CODE(count_plainly, HERE(count_plainly) "cmpq $10, (%rdi)\n"
					"jne 1f; lock incq (%rdi); ret\n"
					"1: incq (%rdi); ret");
/* a spin lock that is released in the same function, in a loop */
CODE(spin, "1:" HERE(spin) "movq (%rdi), %rax\n"
			   "testq %rax, %rax; jne 1b\n"
			   "lock cmpxchgq %rsi, (%rdi); jne 1b\n"
			   "incq 8(%rdi); movq $0, (%rdi); jmp 1b");
/* a lock that is tried; what was taken is remembered and released later */
CODE(try_later, "xorl %edx, %edx" HERE(
			try_later) "movq (%rdi), %rax\n"
				   "testq %rax, %rax; jne 1f\n"
				   "lock cmpxchgq %rsi, (%rdi); sete %dl\n"
				   "1: incq 8(%rsi); testb %dl, %dl; je 2f\n"
				   "movq $0, (%rdi); 2: ret");
/* the store is elsewhere, or before */
CODE(other_word, HERE(other_word) "movq (%rdi), %rax\n"
				  "cmpq $10, %rax; ja 1f\n"
				  "lock addq $1, (%rdi); ret\n"
				  "1: movq $0, 8(%rdi); ret");
CODE(store_before,
     "movq $0, (%rdi)" HERE(store_before) "movq (%rdi), %rax\n"
					  "cmpq $10, %rax; ja 1f\n"
					  "lock addq $1, (%rdi); 1: ret");

static struct code_pattern near(void **state, const uint8_t *start,
				const uint8_t *here, const uint8_t *end)
{
	struct function_code code = code_of(state, start, end);
	struct code_pattern pattern = { .used = 0 };

	nearby_find(&code, at(here), 0, &pattern);
	assert_true(pattern.locked_beside);
	return pattern;
}

#define NEAR(state, name) near(state, name##_start, name##_here, name##_end)

static void stores_without_the_locked_instruction(void **state)
{
	assert_true(NEAR(state, limit).stored_plainly);
	assert_true(NEAR(state, limit_slow).stored_plainly);
	assert_true(NEAR(state, limit_loop).stored_plainly);
	assert_true(NEAR(state, count_plainly).stored_plainly);
}

static void stores_that_may_be_releases(void **state)
{
	assert_false(NEAR(state, spin).stored_plainly);
	assert_false(NEAR(state, try_later).stored_plainly);
}

static void no_store_follows(void **state)
{
	assert_false(NEAR(state, other_word).stored_plainly);
	assert_false(NEAR(state, store_before).stored_plainly);
}

static void what_the_locked_instruction_does(void **state)
{
	assert_true(NEAR(state, limit).locked_adds);
	assert_true(NEAR(state, limit_slow).locked_adds);
	assert_true(NEAR(state, limit_loop).locked_adds);
	assert_true(NEAR(state, count_plainly).locked_adds);
	assert_false(NEAR(state, spin).locked_adds);
	assert_false(NEAR(state, try_later).locked_adds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stores_without_the_locked_instruction),
		cmocka_unit_test(stores_that_may_be_releases),
		cmocka_unit_test(no_store_follows),
		cmocka_unit_test(what_the_locked_instruction_does),
	};

	return cmocka_run_group_tests_name("stored", tests, set_up, tear_down);
}

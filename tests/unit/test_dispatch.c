/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/dataflow/dispatch.c: pointers to functions that are chosen at the first call,
 * in code as compilers make it, and near misses.
 */
#include "dataflow/dispatch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dataflow/lockset.h"
#include "x86/access.h"

#include "function-code.h"

#define CALLS(name, operand) \
	dispatch_calls(WHOLE(state, name), at(name##_here), operand)

/* Rust's memchr, gcc -O0, and calls through memory. */
CODE(calls_rust, HERE(calls_rust) "movq (%rax), %rax; movl $0x2f, %edi\n"
				  "movq %r14, %rsi; movq %rbx, %rdx\n"
				  "call *%rax; addq $1, %rdx; ret");
CODE(calls_slow, HERE(calls_slow) "movq stub_other(%rip), %rdx\n"
				  "movl -4(%rbp), %eax; movl %eax, %edi\n"
				  "call *%rdx; leave; ret");
CODE(calls_last, HERE(calls_last) "movq stub_other(%rip), %rcx\n"
				  "xorl %eax, %eax; jmp *%rcx");
CODE(calls_memory, HERE(calls_memory) "call *stub_other(%rip); ret");
CODE(jumps_memory, HERE(jumps_memory) "jmp *stub_other(%rip)");
/* near misses: the pointer is used otherwise */
CODE(tests_first, HERE(tests_first) "movq (%rax), %rax; testq %rax, %rax\n"
				    "call *%rax; ret");
CODE(passes_it, HERE(passes_it) "movq (%rax), %rax; movq %rax, %rdi\n"
				"call *%rax; ret");
CODE(stores_it, HERE(stores_it) "movq (%rax), %rax; movq %rax, 8(%rbx)\n"
				"call *%rax; ret");
CODE(follows_it, HERE(follows_it) "movq (%rax), %rax; movq 8(%rax), %rdi\n"
				  "call *%rax; ret");
CODE(calls_member, HERE(calls_member) "movq (%rdi), %rax; call *8(%rax); ret");
CODE(changes_it, HERE(changes_it) "movq (%rax), %rax; addq $8, %rax\n"
				  "call *%rax; ret");
CODE(another_first, HERE(another_first) "movq (%rax), %rax; call stub_other\n"
					"call *%rax; ret");
CODE(another_one, HERE(another_one) "movq (%rax), %rax; call *%rcx; ret");
/* it is kept, so that more may be done with it */
CODE(keeps_it, HERE(keeps_it) "movq (%rax), %rbx; call *%rbx; ret");
CODE(half_of_it, HERE(half_of_it) "movl (%rax), %eax; call *%rax; ret");
CODE(returns_it, HERE(returns_it) "movq (%rax), %rax; ret");
CODE(ends_early, HERE(ends_early) "movq (%rax), %rax; movl $1, %edi");

static void pointers_that_are_called(void **state)
{
	assert_true(CALLS(calls_rust, 0));
	assert_true(CALLS(calls_slow, 0));
	assert_true(CALLS(calls_last, 0));
	assert_true(CALLS(calls_memory, 0) || CALLS(calls_memory, 1));
	assert_true(CALLS(jumps_memory, 0));
}

static void near_misses_of_calls(void **state)
{
	assert_false(CALLS(tests_first, 0));
	assert_false(CALLS(passes_it, 0));
	assert_false(CALLS(stores_it, 0));
	assert_false(CALLS(follows_it, 0));
	assert_false(CALLS(calls_member, 0));
	assert_false(CALLS(changes_it, 0));
	assert_false(CALLS(another_first, 0));
	assert_false(CALLS(another_one, 0));
	assert_false(CALLS(keeps_it, 0));
	assert_false(CALLS(half_of_it, 0));
	assert_false(CALLS(returns_it, 0));
	assert_false(CALLS(ends_early, 0));
	/* what a call pushes */
	assert_false(CALLS(calls_memory, 2));
}

CODE(store_reg, HERE(store_reg) "movq %rcx, (%rax); jmp *%rcx");
CODE(store_number, HERE(store_number) "movq $0x401130, stub_other(%rip); ret");
CODE(store_half, HERE(store_half) "movl %ecx, (%rax); ret");
CODE(store_added, HERE(store_added) "addq %rcx, (%rax); ret");
CODE(store_vector, HERE(store_vector) "movq %xmm0, (%rax); ret");
CODE(store_none, HERE(store_none) "movq (%rax), %rcx; ret");

#define STORES(name) \
	dispatch_stores(WHOLE(state, name), at(name##_here), &reg, &imm)

static void stores(void **state)
{
	uint8_t reg = 0;
	int64_t imm = -1;

	assert_true(STORES(store_reg));
	assert_int_equal(reg, X86_RCX);
	assert_true(STORES(store_number));
	assert_int_equal(reg, X86_REG_NONE);
	assert_int_equal(imm, 0x401130);
	assert_false(STORES(store_half));
	assert_false(STORES(store_added));
	assert_false(STORES(store_vector));
	assert_false(STORES(store_none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointers_that_are_called),
		cmocka_unit_test(near_misses_of_calls),
		cmocka_unit_test(stores),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

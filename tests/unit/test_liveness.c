/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Registers that code reads before it writes them.
 */
#include "function-code.h"

#include <string.h>

#include "dataflow/liveness.h"

enum { RAX = 1 << X86_RAX, RBX = 1 << X86_RBX, RDX = 1 << X86_RDX };

/* Code and stack of the test itself. */
static size_t own_code(void *context, uint64_t address, uint8_t *bytes,
		       size_t size)
{
	(void)context;
	memcpy(bytes, (const void *)(uintptr_t)address, size);
	return size;
}

static bool own_memory(void *context, uint64_t address, uint8_t *bytes,
		       size_t size)
{
	const uint64_t *known = context;

	/* all but the addresses above it */
	if (address > *known)
		return false;
	memcpy(bytes, (const void *)(uintptr_t)address, size);
	return true;
}

static uint32_t live_on(void **state, const uint8_t *start, const uint64_t *rsp,
			uint32_t asked)
{
	struct x86_registers regs = { .rip = at(start) };
	uint64_t known = ~UINT64_C(0);
	uint32_t live, undecided = 0;
	struct liveness_thread thread = { .decoder = *state,
					  .regs = &regs,
					  .code = own_code,
					  .memory = own_memory,
					  .context = &known };

	regs.gpr[X86_RSP] = regs.gpr[X86_RBP] = (uintptr_t)rsp;
	if (!rsp)
		known = 0;
	live = liveness_find(&thread, asked, &undecided);
	assert_int_equal(live & undecided, 0);
	return live | undecided;
}

/* Read, or not decided. */
static uint32_t live(void **state, const uint8_t *start, uint32_t asked)
{
	return live_on(state, start, NULL, asked);
}

CODE(read_first, "mov %eax, (%rdi)\n"
		 "ud2");
CODE(written_first, "mov $1, %eax\n"
		    "mov %eax, (%rdi)\n"
		    "ud2");
CODE(cleared, "xor %eax, %eax\n"
	      "pxor %xmm0, %xmm0\n"
	      "mov %eax, (%rdi)\n"
	      "movss %xmm0, (%rdi)\n"
	      "ud2");
CODE(low_byte, "mov $1, %al\n"
	       "mov %eax, (%rdi)\n"
	       "ud2");
CODE(low_byte_alone, "mov (%rdi), %al\n"
		     "test %al, %al\n"
		     "sete %al\n"
		     "movzbl %al, %ecx\n"
		     "mov %ecx, (%rdi)\n"
		     "xor %eax, %eax\n"
		     "ud2");
CODE(no_operation, "nopl (%rax, %rbx)\n"
		   "ud2");
CODE(word_of_it, "mov (%rdi), %al\n"
		 "mov %ax, (%rdi)\n"
		 "ud2");
CODE(either_way, "test %edi, %edi\n"
		 "je 1f\n"
		 "mov $1, %eax\n"
		 "mov $2, %ebx\n"
		 "ud2\n"
		 "1: mov %eax, (%rdi)\n"
		 "mov $2, %ebx\n"
		 "ud2");
CODE(endless, "1: pause\n"
	      "jmp 1b");
CODE(long_way, ".rept 600\n"
	       "mov %edi, (%rsi)\n"
	       ".endr\n"
	       "ud2");
CODE(indirect, "jmp *%rcx");

static void what_is_read_first_is_alive(void **state)
{
	assert_int_equal(live(state, read_first_start, RAX | RDX), RAX);
	assert_int_equal(live(state, written_first_start, RAX), 0);
	assert_int_equal(live(state, low_byte_start, RAX), RAX);
	assert_int_equal(live(state, low_byte_alone_start, RAX), 0);
	assert_int_equal(live(state, word_of_it_start, RAX), RAX);
	assert_int_equal(live(state, no_operation_start, RAX | RBX), 0);
}

static void what_is_cleared_by_itself_is_dead(void **state)
{
	assert_int_equal(live(state, cleared_start, RAX | LIVENESS_XMM0), 0);
}

static void any_way_counts(void **state)
{
	assert_int_equal(live(state, either_way_start, RAX | RBX), RAX);
}

static void what_is_not_decided_is_alive(void **state)
{
	assert_int_equal(live(state, long_way_start, RBX), RBX);
	assert_int_equal(live(state, indirect_start, RAX | RBX), RAX | RBX);
}

CODE(takes_double, "movapd %xmm0, %xmm2\n"
		   "ret");
CODE(takes_number, "mov %edi, %eax\n"
		   "pxor %xmm0, %xmm0\n"
		   "ret");
CODE(calls_with_number, "call takes_number_start\n"
			"mov %eax, (%rdi)\n"
			"mov %rbx, (%rdi)\n"
			"ud2");
CODE(calls_with_double, "call takes_double_start\n"
			"ud2");
CODE(calls_by_register, "call *%rax\n"
			"ud2");

static void arguments_that_nothing_reads_are_dead_at_a_call(void **state)
{
	const uint32_t all = RAX | RDX | RBX | LIVENESS_XMM0;

	assert_int_equal(live(state, calls_with_number_start, all), RBX);
	assert_int_equal(live(state, calls_with_double_start, all),
			 LIVENESS_XMM0);
	assert_int_equal(live(state, calls_by_register_start, all), RAX);
}

CODE(pops_and_returns, "add $8, %rsp\n"
		       "push %rcx\n"
		       "lea 8(%rsp), %rsp\n"
		       "pop %rbx\n"
		       "ret");
CODE(leaves, "mov %rbp, %rsp\n"
	     "leave\n"
	     "ret");

static void a_return_leads_to_the_caller(void **state)
{
	const uint64_t reads[] = { 0, 0, at(read_first_start) };
	const uint64_t writes[] = { 0, 0, at(written_first_start) };
	const uint64_t left[] = { 0, at(written_first_start) };

	assert_int_equal(
		live_on(state, pops_and_returns_start, reads, RAX | RBX), RAX);
	assert_int_equal(
		live_on(state, pops_and_returns_start, writes, RAX | RBX), 0);
	/* a frame pointer that is followed */
	assert_int_equal(live_on(state, leaves_start, left, RAX), 0);
	/* nothing tells where to: a result is one, a second word is none */
	assert_int_equal(live(state, pops_and_returns_start, RAX | RDX), RAX);
}

/* It calls itself before it reads anything. */
CODE(recursive, "call recursive_start\n"
		"ret");

/* As gcc has it where it knows the callee (-fipa-ra). */
CODE(adds_in_r8, "call takes_number_start\n"
		 "adds_in_r8_back: add %rax, %r8\n"
		 "add %rdx, %r8\n"
		 "mov %r8, %rax\n"
		 "mov $1, %r9d\n"
		 "ud2");
CODE(adds_beyond, "call calls_with_number_start\n"
		  "add %rax, %r8\n"
		  "ud2");
CODE(returns_number, "ret");
extern const uint8_t adds_in_r8_back[];

static void what_a_known_callee_leaves_alone_is_alive(void **state)
{
	const uint32_t both = 1 << X86_R8 | 1 << X86_R9;
	const uint64_t caller[] = { at(adds_in_r8_back) };

	assert_int_equal(live(state, adds_in_r8_start, both | RAX | RDX),
			 1 << X86_R8 | RDX);
	/* the same from within such a callee */
	assert_int_equal(live_on(state, returns_number_start, caller, both),
			 1 << X86_R8);
	/* that one calls another */
	assert_int_equal(live(state, adds_beyond_start, both), 0);
}

static void a_function_may_call_itself(void **state)
{
	assert_int_equal(live(state, recursive_start, LIVENESS_XMM0), 0);
}

/*
 * As a compiler has it of a loop that calls functions of a table: rdx is what a
 * callee left. Its ways are without end if the loop is followed round by round.
 */
CODE(calls_of_table, "call *%rcx\n"
		     "calls_of_table_back: cmp $13, %rbp\n"
		     "jne 2f\n"
		     "1: inc %rbx\n"
		     "test %r14, %r14\n"
		     "je 3f\n"
		     "cmp %r14, %rbx\n"
		     "jb 1b\n"
		     "2: mov (%rsi), %rcx\n"
		     "test %rcx, %rcx\n"
		     "je 1b\n"
		     "jmp calls_of_table_start\n"
		     "3: ud2");
/* The same, but that one of its ways takes the second word of the result. */
CODE(takes_of_table, "call *%rcx\n"
		     "takes_of_table_back: cmp $13, %rbp\n"
		     "jne 2f\n"
		     "1: inc %rbx\n"
		     "test %r14, %r14\n"
		     "je 3f\n"
		     "cmp %r14, %rbx\n"
		     "jb 1b\n"
		     "2: mov (%rsi), %rcx\n"
		     "test %rcx, %rcx\n"
		     "je 1b\n"
		     "jmp takes_of_table_start\n"
		     "3: mov %rdx, (%rdi)\n"
		     "ud2");
/* A tail call: its callee returns in its place. */
CODE(hands_on, "mov %rax, %rdi\n"
	       "pop %rax\n"
	       "jmp takes_number_start");
CODE(hands_on_both, "mov %rdx, %rdi\n"
		    "pop %rax\n"
		    "jmp takes_number_start");
extern const uint8_t calls_of_table_back[], takes_of_table_back[];

static void a_loop_is_followed_once(void **state)
{
	/* it may be left by an exception, which finds rbx as it was */
	assert_int_equal(live(state, endless_start, RBX | RDX), RBX);
	assert_int_equal(live(state, calls_of_table_back, RDX), 0);
	assert_int_equal(live(state, takes_of_table_back, RDX), RDX);
	assert_int_equal(live(state, calls_of_table_back, RBX), RBX);
}

CODE(system_call, "1: syscall\n"
		  "dec %r9\n"
		  "jne 1b\n"
		  "ud2");

static void a_system_call_reads_its_arguments(void **state)
{
	const uint32_t rcx = 1 << X86_RCX, rdi = 1 << X86_RDI;

	assert_int_equal(live(state, system_call_start, RAX | RDX | rdi | rcx),
			 RAX | RDX | rdi);
}

CODE(stores_third, "mov %rdx, (%rdi)\n"
		   "xor %edx, %edx\n"
		   "ret");
CODE(passes_third, "mov %rax, %rsi\n"
		   "call stores_third_start\n"
		   "ud2");
CODE(stores_first, "xor %edx, %edx\n"
		   "mov %rdx, (%rdi)\n"
		   "ret");
CODE(passes_first, "mov %rax, %rsi\n"
		   "call stores_first_start\n"
		   "ud2");

static void a_callee_reads_its_arguments(void **state)
{
	assert_int_equal(live(state, passes_third_start, RDX), RDX);
	assert_int_equal(live(state, passes_first_start, RDX), 0);
}

static void a_tail_call_leads_to_the_caller(void **state)
{
	const uint64_t calls[] = { 0, at(calls_of_table_back) };
	const uint64_t takes[] = { 0, at(takes_of_table_back) };

	assert_int_equal(live_on(state, hands_on_start, calls, RDX), 0);
	assert_int_equal(live_on(state, hands_on_start, takes, RDX), RDX);
	assert_int_equal(live_on(state, hands_on_both_start, calls, RDX), RDX);
	assert_int_equal(live_on(state, hands_on_start, calls, RAX), RAX);
}

/* A second round of the loop has other registers left than the first. */
CODE(later_round, "xor %ecx, %ecx\n"
		  "1: test %edi, %edi\n"
		  "je 2f\n"
		  "mov %ebx, (%rsi)\n"
		  "ud2\n"
		  "2: inc %ecx\n"
		  "test %ecx, %ecx\n"
		  "je 3f\n"
		  "mov $1, %eax\n"
		  "jmp 1b\n"
		  "3: mov %eax, (%rsi)\n"
		  "ud2");
/* A way that loses a register before it comes to where another has been. */
CODE(meets_again, "test %edi, %edi\n"
		  "je 1f\n"
		  "mov $1, %eax\n"
		  "jmp 2f\n"
		  "1: jmp 2f\n"
		  "2: mov %eax, (%rsi)\n"
		  "ud2");

static void ways_that_meet_count_each(void **state)
{
	assert_int_equal(live(state, later_round_start, RAX | RBX | RDX),
			 RAX | RBX);
	assert_int_equal(live(state, meets_again_start, RAX), RAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_first_is_alive),
		cmocka_unit_test(what_is_cleared_by_itself_is_dead),
		cmocka_unit_test(any_way_counts),
		cmocka_unit_test(what_is_not_decided_is_alive),
		cmocka_unit_test(
			arguments_that_nothing_reads_are_dead_at_a_call),
		cmocka_unit_test(a_return_leads_to_the_caller),
		cmocka_unit_test(what_a_known_callee_leaves_alone_is_alive),
		cmocka_unit_test(a_function_may_call_itself),
		cmocka_unit_test(a_loop_is_followed_once),
		cmocka_unit_test(a_system_call_reads_its_arguments),
		cmocka_unit_test(a_callee_reads_its_arguments),
		cmocka_unit_test(a_tail_call_leads_to_the_caller),
		cmocka_unit_test(ways_that_meet_count_each),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

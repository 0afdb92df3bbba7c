/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/dataflow/lockset.c with flow.c and values.c: locks around accesses, and near
 * misses; nearby.c: what is done beside them; and src/conflict/locks.c's names.
 */
#include "dataflow/lockset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "conflict/locks.h"
#include "dataflow/nearby.h"
#include "x86/access.h"
#include "x86/decode.h"

#include "function-code.h"

static bool idle; /* of the last one */

#define REREADS(state, name, lock) \
	lockset_rereads(WHOLE(state, name), at(name##_here), 0, lock, &idle)
#define HELD(state, name, caller, held) \
	lockset_at(WHOLE(state, name), at(name##_here), 0, caller, held)

/* if (!at->value) { lock(&at->lock); if (!at->value) make(); unlock(); } */
#define CHECK(name, lock_argument, again)                                         \
	CODE(name,                                                                \
	     HERE(name) "movq 0x20(%rdi), %rax; testq %rax, %rax\n"               \
			"je 1f; ret\n"                                            \
			"1: pushq %rbp; pushq %rbx; subq $8, %rsp\n"              \
			"movq %rdi, %rbx\n" lock_argument "\n"                    \
			"call stub_lock\n" again "\n"                             \
			"testq %rax, %rax; jne 2f\n"                              \
			"movq %rbx, 0x20(%rbx); movq %rbx, %rax\n"                \
			"2: movq %rax, %rbp; movq %rbx, %rdi; call stub_unlock\n" \
			"movq %rbp, %rax; addq $8, %rsp; popq %rbx; popq %rbp; ret")

CHECK(check, "movq %rbx, %rdi", "movq 0x20(%rbx), %rax");
CHECK(check_member, "leaq 0x30(%rbx), %rdi", "movq 0x20(%rbx), %rax");
CHECK(check_global, "leaq stub_other(%rip), %rdi", "movq 0x20(%rbx), %rax");
CHECK(check_other_field, "movq %rbx, %rdi", "movq 0x28(%rbx), %rax");
CHECK(check_half, "movq %rbx, %rdi", "movl 0x20(%rbx), %eax");
CHECK(check_not_again, "movq %rbx, %rdi", "xorl %eax, %eax");
CHECK(check_unknown, "movq 8(%rbx), %rdi", "movq 0x20(%rbx), %rax");
/* the same at -O0: at lives in the frame */
CODE(check_slow,
     "pushq %rbp; movq %rsp, %rbp; subq $0x20, %rsp; movq %rdi, -0x18(%rbp)\n"
     "movq -0x18(%rbp), %rax" HERE(
	     check_slow) "movq 0x50(%rax), %rax\n"
			 "movq %rax, -8(%rbp); cmpq $0, -8(%rbp); jne 1f\n"
			 "movq -0x18(%rbp), %rax; addq $0x28, %rax; movq %rax, %rdi\n"
			 "call stub_lock; movq -0x18(%rbp), %rax; movq 0x50(%rax), %rax\n"
			 "movq %rax, -8(%rbp); movq -0x18(%rbp), %rax; addq $0x28, %rax\n"
			 "movq %rax, %rdi; call stub_unlock; 1: movq -8(%rbp), %rax; leave; ret");
/* locked whatever it was */
CODE(check_always, HERE(check_always) "movq 0x20(%rdi), %rax\n"
				      "testq %rax, %rax; je 1f; nop; 1:\n"
				      "pushq %rbx; movq %rdi, %rbx\n"
				      "call stub_lock; movq 0x20(%rbx), %rax\n"
				      "movq %rbx, %rdi; call stub_unlock\n"
				      "popq %rbx; ret");
/* another object by then */
CODE(check_moved, HERE(check_moved) "movq 0x20(%rdi), %rax\n"
				    "testq %rax, %rax; je 1f; ret; 1:\n"
				    "pushq %rbx; movq %rdi, %rbx\n"
				    "call stub_lock; call stub_other\n"
				    "movq 0x20(%rax), %rax; popq %rbx; ret");

/* if (at->count) { lock(at); if (at->count) ... } */
#define LOOK_FIRST(name, without)                                                 \
	CODE(name,                                                                \
	     HERE(name) "cmpl $0, 0x28(%rdi); jne 1f\n" without                   \
			"\nret; 1: pushq %rbx; movq %rdi, %rbx; call stub_lock\n" \
			"cmpl $0, 0x28(%rbx); je 2f; decl 0x28(%rbx)\n"           \
			"2: movq %rbx, %rdi; popq %rbx; jmp stub_unlock")

LOOK_FIRST(look_only, "xorl %eax, %eax");
LOOK_FIRST(look_reads, "movl 0x30(%rdi), %eax");
LOOK_FIRST(look_writes, "movl $1, 0x30(%rdi)");
LOOK_FIRST(look_calls, "call stub_other");
LOOK_FIRST(look_returns, "movq %rdi, %rax");
/* what is seldom done is put aside, out of the function */
LOOK_FIRST(look_away, "js stub_other");

static void what_is_done_without_the_lock(void **state)
{
	struct lock_place lock;

	assert_true(REREADS(state, look_only, &lock));
	assert_true(idle);
	assert_true(REREADS(state, look_reads, &lock));
	assert_false(idle);
	assert_true(REREADS(state, look_writes, &lock));
	assert_false(idle);
	assert_true(REREADS(state, look_calls, &lock));
	assert_false(idle);
	assert_true(REREADS(state, look_returns, &lock));
	assert_false(idle);
	assert_true(REREADS(state, look_away, &lock));
	assert_false(idle);
	/* the value that was read is used by the caller */
	assert_true(REREADS(state, check, &lock));
	assert_false(idle);
	assert_true(REREADS(state, check_slow, &lock));
	assert_false(idle);
}

static void second_reads(void **state)
{
	struct lock_place lock = { 0 };

	assert_true(REREADS(state, check, &lock));
	assert_int_equal(lock.where, LOCK_AT_BESIDE);
	assert_int_equal(lock.disp, -0x20);
	assert_true(REREADS(state, check_member, &lock));
	assert_int_equal(lock.where, LOCK_AT_BESIDE);
	assert_int_equal(lock.disp, 0x10);
	assert_true(REREADS(state, check_global, &lock));
	assert_int_equal(lock.where, LOCK_AT_FIXED);
	assert_int_equal(lock.disp, at(stub_other));
	assert_true(REREADS(state, check_slow, &lock));
	assert_int_equal(lock.where, LOCK_AT_BESIDE);
	assert_int_equal(lock.disp, -0x28);
	/* a lock behind a pointer: where, is not known */
	assert_true(REREADS(state, check_unknown, &lock));
	assert_int_equal(lock.where, LOCK_AT_UNKNOWN);
}

static void near_misses_of_second_reads(void **state)
{
	struct lock_place lock;

	assert_false(REREADS(state, check_other_field, &lock));
	assert_false(REREADS(state, check_half, &lock));
	assert_false(REREADS(state, check_not_again, &lock));
	assert_false(REREADS(state, check_always, &lock));
	assert_false(REREADS(state, check_moved, &lock));
}

/* lock(at); ... at->value = rsi, ... unlock(at) */
#define WRITE(name, between, after)                                      \
	CODE(name, "pushq %rbx; pushq %rbp; movq %rdi, %rbx\n"           \
		   "movq %rsi, %rbp; call stub_lock\n" between HERE(     \
			   name) "movq %rbp, 0x20(%rbx)\n" after         \
				 "\nmovq %rbx, %rdi; call stub_unlock\n" \
				 "popq %rbp; popq %rbx; ret")

WRITE(write_last, "movq $7, 8(%rbp)", "");
WRITE(write_frame, "", "movq %rbp, -8(%rsp)");
WRITE(write_early, "", "movq $7, 8(%rbp)");
WRITE(write_calls, "", "movq %rbp, %rdi; call stub_other");
WRITE(write_away, "", "testq %rbp, %rbp; js stub_other");
WRITE(write_unlocked, "movq %rbx, %rdi; call stub_unlock", "");
WRITE(write_maybe,
      "testq %rbp, %rbp; je 1f; movq %rbx, %rdi\n"
      "call stub_unlock; 1:",
      "");
CODE(write_tail,
     "pushq %rbx; movq %rdi, %rbx; call stub_lock" HERE(
	     write_tail) "movq $1, stub_other(%rip); movq %rbx, %rdi\n"
			 "popq %rbx; jmp stub_unlock");
CODE(write_tail_other,
     "pushq %rbx; movq %rdi, %rbx; call stub_lock" HERE(
	     write_tail_other) "movq $1, stub_other(%rip); movq %rbx, %rdi\n"
			       "popq %rbx; jmp stub_other");
CODE(write_kept,
     "pushq %rbx; movq %rdi, %rbx; call stub_lock" HERE(
	     write_kept) "movq $1, stub_other(%rip); popq %rbx; ret");
/* the callee stores; here is where it returns to */
CODE(write_callee,
     "pushq %rbx; movq %rdi, %rbx; call stub_lock\n"
     "call stub_other" HERE(
	     write_callee) "movq %rbx, %rdi; call stub_unlock; popq %rbx; ret");
CODE(write_switch,
     "call stub_lock; jmp *(%rax,%rdx,8)" HERE(
	     write_switch) "movq $1, stub_other(%rip); call stub_unlock; ret");

static void locks_held(void **state)
{
	struct lockset held;

	HELD(state, write_last, false, &held);
	assert_int_equal(held.count, 1);
	assert_int_equal(held.locks[0].where, LOCK_AT_BESIDE);
	assert_int_equal(held.locks[0].disp, -0x20);
	assert_false(held.early);
	HELD(state, write_frame, false, &held);
	assert_int_equal(held.count, 1);
	assert_false(held.early);
	HELD(state, write_tail, false, &held);
	assert_int_equal(held.count, 1);
	assert_int_equal(held.locks[0].where, LOCK_AT_REGISTER);
	assert_int_equal(held.locks[0].reg, X86_RBX);
	assert_false(held.early);
	HELD(state, write_callee, true, &held);
	assert_int_equal(held.count, 1);
	assert_int_equal(held.locks[0].where, LOCK_AT_REGISTER);
	assert_false(held.early);
}

static void near_misses_of_locks(void **state)
{
	struct lockset held;

	HELD(state, write_unlocked, false, &held);
	assert_int_equal(held.count, 0);
	HELD(state, write_maybe, false, &held);
	assert_int_equal(held.count, 0);
	HELD(state, write_switch, false, &held);
	assert_int_equal(held.count, 0);
}

static void what_comes_after(void **state)
{
	struct lockset held;

	HELD(state, write_early, false, &held);
	assert_int_equal(held.count, 1);
	assert_true(held.early);
	HELD(state, write_calls, false, &held);
	assert_true(held.early);
	HELD(state, write_away, false, &held);
	assert_int_equal(held.count, 1);
	assert_true(held.early);
	HELD(state, write_tail_other, false, &held);
	assert_true(held.early);
	HELD(state, write_kept, false, &held);
	assert_int_equal(held.count, 1);
	assert_true(held.early);
}

/* The same memory, and that beside it. */
CODE(near_spin,
     "pushq %rbp; movq %rsp, %rbp; movq %rdi, -8(%rbp)\n"
     "1: movq -8(%rbp), %rax" HERE(
	     near_spin) "movl (%rax), %eax\n"
			"testl %eax, %eax; jne 1b; movq -8(%rbp), %rdx\n"
			"movl $1, %ecx; xorl %eax, %eax; lock cmpxchgl %ecx, (%rdx)\n"
			"jne 1b; leave; ret");
CODE(near_no_spin,
     "pushq %rbp; movq %rsp, %rbp; movq %rdi, -8(%rbp)\n"
     "movq -8(%rbp), %rax" HERE(
	     near_no_spin) "movl (%rax), %eax; movq %rsi, -8(%rbp)\n"
			   "movq -8(%rbp), %rdx; lock cmpxchgl %ecx, (%rdx)\n"
			   "leave; ret");
/* as gst_mini_object_unref(), which calls at its end what an object names */
CODE(near_tail,
     "pushq %rbx; movq %rdi, %rbx; leaq 8(%rdi), %rax" HERE(
	     near_tail) "movl 8(%rdi), %edx; testl %edx, %edx; jle 1f\n"
			"movl $-1, %edx; lock xaddl %edx, (%rax)\n"
			"movq 40(%rbx), %rax; popq %rbx; jmp *%rax\n"
			"1: popq %rbx; ret");
CODE(near_table,
     "pushq %rbx; movq %rdi, %rbx; leaq 8(%rdi), %rax" HERE(
	     near_table) "movl 8(%rdi), %edx; popq %rbx; addq %rdx, %rcx\n"
			 "jmp *%rcx; lock xaddl %edx, (%rax); ret");
/* Rust's futex_wait(), and the instruction; near misses */
CODE(near_futex,
     "pushq %rbx; movq %rdi, %rbx; movl %esi, %ebp\n"
     "1:" HERE(near_futex) "movl (%rbx), %eax; cmpl %ebp, %eax; jne 2f\n"
			   "movl $0xca, %edi; movq %rbx, %rsi\n"
			   "movl $0x89, %edx; call *%r15\n"
			   "testq %rax, %rax; js 1b; 2: popq %rbx; ret");
CODE(near_syscall, HERE(near_syscall) "movl 8(%rdi), %edx; addq $8, %rdi\n"
				      "xorl %esi, %esi; movl $0xca, %eax\n"
				      "syscall; ret");
CODE(near_other_call,
     "movq %rdi, %rbx" HERE(
	     near_other_call) "movl (%rbx), %eax\n"
			      "movl $0xcb, %edi\n"
			      "movq %rbx, %rsi; call *%r15; ret");
CODE(near_other_word,
     "movq %rdi, %rbx" HERE(
	     near_other_word) "movl (%rbx), %eax\n"
			      "movl $0xca, %edi\n"
			      "leaq 4(%rbx), %rsi; call *%r15; ret");
CODE(near_wide_word,
     "movq %rdi, %rbx" HERE(near_wide_word) "movq (%rbx), %rax\n"
					    "movl $0xca, %edi\n"
					    "movq %rbx, %rsi; call *%r15; ret");
CODE(near_twice,
     "cmpq $0, 8(%rdi); je 1f" HERE(
	     near_twice) "movq 8(%rdi), %rax; movq (%rax), %rax; 1: ret");
CODE(near_call,
     "pushq %rbx; movq %rdi, %rbx; cmpq $0, 8(%rbx); je 1f\n"
     "call stub_lock" HERE(
	     near_call) "movq 8(%rbx), %rax; movq (%rax), %rax; 1: popq %rbx; ret");
CODE(near_pair, HERE(near_pair) "movq (%rdi), %rax; movq 8(%rdi), %rdx\n"
				"subq %rax, %rdx; movq %rdx, %rax; ret");
CODE(near_no_pair,
     HERE(near_no_pair) "movq (%rdi), %rax\n"
			"movq 16(%rdi), %rdx; subq %rax, %rdx; ret");
CODE(near_writes,
     "movl %esi, 4(%rdi)" HERE(
	     near_writes) "movl %edx, 8(%rdi); movq %rdx, 12(%rdi); ret");

#define NEARBY(state, name, pattern)                                        \
	nearby_find(&(struct function_code[]){ code_of(state, name##_start, \
						       name##_end) }[0],    \
		    at(name##_here), 0, pattern)

static void what_is_nearby(void **state)
{
	struct code_pattern pattern = { 0 };

	NEARBY(state, near_spin, &pattern);
	assert_true(pattern.locked_beside);
	pattern = (struct code_pattern){ 0 };
	NEARBY(state, near_no_spin, &pattern);
	assert_false(pattern.locked_beside);
	NEARBY(state, near_tail, &pattern);
	assert_true(pattern.locked_beside);
	pattern = (struct code_pattern){ 0 };
	NEARBY(state, near_table, &pattern);
	assert_false(pattern.locked_beside);
	NEARBY(state, near_other_call, &pattern);
	assert_false(pattern.locked_beside);
	NEARBY(state, near_other_word, &pattern);
	assert_false(pattern.locked_beside);
	NEARBY(state, near_wide_word, &pattern);
	assert_false(pattern.locked_beside);
	NEARBY(state, near_futex, &pattern);
	assert_true(pattern.locked_beside);
	pattern = (struct code_pattern){ 0 };
	NEARBY(state, near_syscall, &pattern);
	assert_true(pattern.locked_beside);
	NEARBY(state, near_twice, &pattern);
	assert_true(pattern.retested);
	NEARBY(state, near_call, &pattern);
	assert_false(pattern.retested);
	NEARBY(state, near_pair, &pattern);
	assert_int_equal(pattern.pair, PATTERN_PAIR_ABOVE);
	pattern.pair = 0;
	NEARBY(state, near_no_pair, &pattern);
	assert_int_equal(pattern.pair, 0);
	NEARBY(state, near_writes, &pattern);
	assert_int_equal(pattern.pair, PATTERN_PAIR_BELOW);
}

/* Whatever the bytes: it ends, and stays inside them. */
static void any_bytes(void **state)
{
	uint8_t bytes[96];
	struct rng rng;

	rng_init(&rng, 1);
	for (int i = 0; i < 20000; i++) {
		size_t size = 1 + rng_below(&rng, sizeof(bytes));
		uint8_t *copy = malloc(size);
		struct function_code code;
		struct lockset held;
		struct code_pattern pattern = { 0 };
		struct lock_place lock;

		assert_non_null(copy);
		for (size_t j = 0; j < size; j++)
			bytes[j] = (uint8_t)rng_next(&rng);
		/* calls, branches and moves more often than by chance */
		if (i % 2 && size > 16) {
			memcpy(bytes, "\x48\x8b\x47\x20\x74\x02\x48\x89", 8);
			bytes[8] = 0xe8;
		}
		memcpy(copy, bytes, size);
		code = code_of(state, copy, copy + size);
		lockset_rereads(&code, at(copy), 0, &lock, &idle);
		lockset_at(&code, at(copy) + i % 12, 0, i % 3 == 0, &held);
		nearby_find(&code, at(copy), 0, &pattern);
		assert_true(held.count <= LOCKSET_MAX);
		free(copy);
	}
}

static void names(void **state)
{
	(void)state;
	assert_int_equal(locks_function("pthread_mutex_lock"), LOCK_CALL_LOCK);
	assert_int_equal(locks_function("___pthread_mutex_lock"),
			 LOCK_CALL_LOCK);
	assert_int_equal(locks_function("_ZNSt5mutex6unlockEv"),
			 LOCK_CALL_UNLOCK);
	assert_int_equal(locks_function("pthread_mutex_trylock"),
			 LOCK_CALL_OTHER);
	assert_int_equal(locks_function("my_pthread_mutex_lock"),
			 LOCK_CALL_OTHER);
	assert_int_equal(locks_function(NULL), LOCK_CALL_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(second_reads),
		cmocka_unit_test(what_is_done_without_the_lock),
		cmocka_unit_test(near_misses_of_second_reads),
		cmocka_unit_test(locks_held),
		cmocka_unit_test(near_misses_of_locks),
		cmocka_unit_test(what_comes_after),
		cmocka_unit_test(what_is_nearby),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests_name("guard", tests, set_up, tear_down);
}

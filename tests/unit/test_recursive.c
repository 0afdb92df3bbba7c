/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/dataflow/recursive.c: the owner of a recursive lock, in code as compilers make
 * it, and near misses.
 */
#include "dataflow/recursive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "dataflow/lockset.h"
#include "x86/access.h"
#include "x86/decode.h"

#include "function-code.h"

#define CHECKS(state, name) \
	recursive_check(WHOLE(state, name), at(name##_here), 0, &check)
#define RELEASES(state, name, lock) \
	recursive_releases(WHOLE(state, name), at(name##_here), lock)

static struct recursive_check check; /* the last one */

/*
 * Rust's ReentrantLock::lock(): the lock 0x30 behind the owner. Read, what is
 * done where it is unequal, and what takes the lock.
 */
#define LOCK(name, read, unequal, lock, store)                               \
	CODE(name, "pushq %r14; pushq %rbx; pushq %rax; movq (%rdi), %rbx\n" \
		   "call stub_other; testq %rax, %rax; je 4f\n"              \
		   "movq %rax, %r14" HERE(name) read                         \
	     "\n"                                                            \
	     "jne 1f; movl 0x34(%rbx), %eax\n"                               \
	     "incl %eax; movl %eax, 0x34(%rbx); jmp 3f\n"                    \
	     "1: " unequal "\n" lock "\njne 5f\n" #name "_store: 2: " store  \
	     "\n"                                                            \
	     "movl $1, 0x34(%rbx); 3: movq %rbx, %rax\n"                     \
	     "addq $8, %rsp; popq %rbx; popq %r14; ret\n"                    \
	     "4: ud2; 5: leaq 0x30(%rbx), %rdi; call stub_other; jmp 2b")
#define READ "movq (%rbx), %rax; cmpq %r14, %rax"
#define SET "movl $1, %ecx; xorl %eax, %eax"
#define TAKE "lock cmpxchgl %ecx, 0x30(%rbx)"
#define STORE "movq %r14, (%rbx)"

LOCK(lock_rust, READ, SET, TAKE, STORE);
LOCK(lock_memory, "cmpq %r14, (%rbx)", SET, TAKE, STORE);
LOCK(lock_turned, "cmpq (%rbx), %r14", SET, TAKE, STORE);
LOCK(lock_exchange, READ, SET, "xchgl %ecx, 0x30(%rbx)\ntestl %ecx, %ecx",
     STORE);
LOCK(lock_before, READ, SET, "lock btsl $0, -8(%rbx)", STORE);
LOCK(lock_copied, READ, "movl $1, %ecx; movq %r14, %r12; xorl %eax, %eax", TAKE,
     "movq %r12, (%rbx)");
LOCK(lock_half, "movl (%rbx), %eax; cmpl %r14d, %eax", SET, TAKE,
     "movl %r14d, (%rbx)");
/* near misses: the value is used otherwise */
LOCK(used_stored, READ, "movq %rax, 0x40(%rbx)\n" SET, TAKE, STORE);
LOCK(used_tested, READ, "testq %rax, %rax; je 5f\n" SET, TAKE, STORE);
LOCK(used_followed, READ, "movq (%rax), %rcx; xorl %eax, %eax", TAKE, STORE);
LOCK(used_passed, READ, "movq %rax, %rdi; call stub_other\n" SET, TAKE, STORE);
LOCK(used_twice, READ, "jb 5f\n" SET, TAKE, STORE);
LOCK(used_before, "movq (%rbx), %rax; movq %rax, %rdx; cmpq %r14, %rax", SET,
     TAKE, STORE);
LOCK(used_kept, READ, "movl $1, %ecx", TAKE, STORE);
LOCK(used_after, READ, "movl $1, %ecx; movq %rax, %r13; xorl %eax, %eax", TAKE,
     "movq %r14, (%rbx); movq %r13, 0x40(%rbx)");
CODE(used_returned,
     HERE(used_returned) "movq (%rdi), %r8; cmpq %rsi, %r8; je 2f; movl $1, %ecx\n"
			 "1: movl %ecx, %edx; xchgl %edx, 0xc(%rdi); testl %edx, %edx; jne 1b\n"
			 "movq %rsi, (%rdi); movl $1, 8(%rdi); movq %r8, %rax; ret\n"
			 "2: incl 8(%rdi); xorl %eax, %eax; ret");
LOCK(used_ordered, "movq (%rbx), %rax; cmpq %r14, %rax; ja 5f", SET, TAKE,
     STORE);
/* something else is stored, or elsewhere */
LOCK(store_other, READ, SET, TAKE, "movq %rcx, (%rbx)");
LOCK(store_number, READ, SET, TAKE, "movq $1, (%rbx)");
LOCK(store_beside, READ, SET, TAKE, "movq %r14, 8(%rbx)");
LOCK(store_part, READ, SET, TAKE, "movl %r14d, (%rbx)");
LOCK(store_changed, READ, SET, TAKE, "incq %r14; movq %r14, (%rbx)");
/* no lock, or of another object, or taken after */
LOCK(lock_none, READ, SET, "cmpxchgl %ecx, 0x30(%rbx)", STORE);
LOCK(lock_other, READ, SET, "lock cmpxchgl %ecx, 0x30(%rdx)", STORE);
LOCK(lock_around, READ, "testq %rdx, %rdx; jne 2f\n" SET, TAKE, STORE);
LOCK(lock_late, READ, SET, "movq %r14, (%rbx)\n" TAKE, STORE);
/* the comparison is with a number, or memory */
LOCK(with_number, "movq (%rbx), %rax; cmpq $7, %rax", SET, TAKE, STORE);
LOCK(with_memory, "movq (%rbx), %rax; cmpq 8(%rbx), %rax", SET, TAKE, STORE);

/* The same by calls: the mutex is 16 bytes behind the owner. */
CODE(lock_call,
     "pushq %rbp; pushq %rbx; pushq %rax; movq %rdi, %rbx; movq %rsi, %rbp\n" HERE(
	     lock_call) "movq (%rdi), %rax; cmpq %rsi, %rax; je 1f\n"
			"leaq 16(%rdi), %rdi; call stub_lock\n"
			"lock_call_store: movq %rbp, (%rbx); movl $1, 8(%rbx)\n"
			"2: popq %rax; popq %rbx; popq %rbp; ret; 1: incl 8(%rbx); jmp 2b");
CODE(lock_no_call,
     "pushq %rbp; pushq %rbx; pushq %rax; movq %rdi, %rbx; movq %rsi, %rbp\n" HERE(
	     lock_no_call) "movq (%rdi), %rax; cmpq %rsi, %rax; je 1f\n"
			   "leaq 16(%rdi), %rdi; call stub_other\n"
			   "movq %rbp, (%rbx); movl $1, 8(%rbx)\n"
			   "2: popq %rax; popq %rbx; popq %rbp; ret; 1: incl 8(%rbx); jmp 2b");

extern const uint8_t lock_rust_store[], lock_call_store[], lock_none_store[],
	lock_before_store[];

static void owners(void **state)
{
	assert_true(CHECKS(state, lock_rust));
	assert_int_equal(check.reg, X86_R14);
	assert_int_equal(check.store_reg, X86_R14);
	assert_int_equal(check.lock, 0x30);
	assert_true(check.store == at(lock_rust_store));
	assert_true(CHECKS(state, lock_memory));
	assert_true(CHECKS(state, lock_turned));
	assert_int_equal(check.reg, X86_R14);
	assert_true(CHECKS(state, lock_exchange));
	assert_true(CHECKS(state, lock_before));
	assert_int_equal(check.lock, -8);
	assert_true(CHECKS(state, lock_copied));
	assert_int_equal(check.store_reg, X86_R12);
	assert_true(CHECKS(state, lock_half));
	assert_true(CHECKS(state, lock_call));
	assert_int_equal(check.reg, X86_RSI);
	assert_int_equal(check.store_reg, X86_RBP);
	assert_int_equal(check.lock, 16);
}

static void near_misses(void **state)
{
	assert_false(CHECKS(state, used_stored));
	assert_false(CHECKS(state, used_tested));
	assert_false(CHECKS(state, used_followed));
	assert_false(CHECKS(state, used_passed));
	assert_false(CHECKS(state, used_twice));
	assert_false(CHECKS(state, used_before));
	assert_false(CHECKS(state, used_kept));
	assert_false(CHECKS(state, used_after));
	assert_false(CHECKS(state, used_returned));
	assert_false(CHECKS(state, used_ordered));
	assert_false(CHECKS(state, store_other));
	assert_false(CHECKS(state, store_number));
	assert_false(CHECKS(state, store_beside));
	assert_false(CHECKS(state, store_part));
	assert_false(CHECKS(state, store_changed));
	assert_false(CHECKS(state, lock_none));
	assert_false(CHECKS(state, lock_other));
	assert_false(CHECKS(state, lock_around));
	assert_false(CHECKS(state, lock_late));
	assert_false(CHECKS(state, with_number));
	assert_false(CHECKS(state, with_memory));
	assert_false(CHECKS(state, lock_no_call));
}

static void stores(void **state)
{
	assert_true(recursive_owns(WHOLE(state, lock_rust), at(lock_rust_store),
				   &check));
	assert_int_equal(check.lock, 0x30);
	assert_true(recursive_owns(WHOLE(state, lock_call), at(lock_call_store),
				   &check));
	assert_true(recursive_owns(WHOLE(state, lock_before),
				   at(lock_before_store), &check));
	assert_false(recursive_owns(WHOLE(state, lock_none),
				    at(lock_none_store), &check));
	/* another instruction of the same function */
	assert_false(recursive_owns(WHOLE(state, lock_rust),
				    at(lock_rust_store) + 3, &check));
}

/* if (--at->depth == 0) { at->owner = 0; release(&at->lock); } */
#define UNLOCK(name, store, behind)                                           \
	CODE(name, "subq $24, %rsp; movq %rdi, 8(%rsp); movq 8(%rsp), %rax\n" \
		   "addl $-1, 0x34(%rax); jne 1f" HERE(name) store            \
	     "\n" behind "\n1: addq $24, %rsp; ret")

UNLOCK(unlock, "movq $0, (%rax)",
       "movq 8(%rsp), %rdi; xorl %eax, %eax; xchgl %eax, 0x30(%rdi)");
UNLOCK(unlock_plain, "movq $0, (%rax)", "movl $0, 0x30(%rax)");
UNLOCK(unlock_add, "movq $-1, (%rax)", "lock decl 0x30(%rax)");
UNLOCK(unlock_zero, "xorl %ecx, %ecx; unlock_zero_store: movq %rcx, (%rax)",
       "movl $0, 0x30(%rax)");
UNLOCK(unlock_call, "movq $0, (%rax)",
       "leaq 0x30(%rax), %rdi; call stub_unlock");
CODE(unlock_tail,
     "subl $1, 8(%rdi); je 1f; ret; 1:" HERE(
	     unlock_tail) "movq $0, (%rdi); addq $16, %rdi; jmp stub_unlock");
UNLOCK(unlock_other, "movq $0, (%rax)", "leaq 8(%rax), %rdi; call stub_unlock");
UNLOCK(unlock_number, "movq $7, (%rax)", "movl $0, 0x30(%rax)");
UNLOCK(unlock_value, "movq %rsi, (%rax)", "movl $0, 0x30(%rax)");
UNLOCK(unlock_none, "movq $0, (%rax)", "nop");
UNLOCK(unlock_read, "movq $0, (%rax)", "movl 0x30(%rax), %ecx");
UNLOCK(unlock_maybe, "movq $0, (%rax)",
       "testl %esi, %esi; je 1f; movl $0, 0x30(%rax)");
UNLOCK(unlock_late, "movq $0, (%rax)", "call stub_other; movl $0, 0x30(%rax)");

extern const uint8_t unlock_zero_store[];

static void releases(void **state)
{
	assert_true(RELEASES(state, unlock, 0x30));
	assert_true(RELEASES(state, unlock_plain, 0x30));
	assert_true(RELEASES(state, unlock_add, 0x30));
	assert_true(recursive_releases(WHOLE(state, unlock_zero),
				       at(unlock_zero_store), 0x30));
	assert_true(RELEASES(state, unlock_call, 0x30));
	assert_true(RELEASES(state, unlock_tail, 16));
	assert_false(RELEASES(state, unlock_other, 0x30));
	assert_false(RELEASES(state, unlock, 0x38));
	assert_false(RELEASES(state, unlock_number, 0x30));
	assert_false(RELEASES(state, unlock_value, 0x30));
	assert_false(RELEASES(state, unlock_none, 0x30));
	assert_false(RELEASES(state, unlock_read, 0x30));
	assert_false(RELEASES(state, unlock_maybe, 0x30));
	assert_false(RELEASES(state, unlock_late, 0x30));
}

/* Whatever the bytes: it ends, and stays inside them. */
static void any_bytes(void **state)
{
	struct rng rng;

	rng_init(&rng, 1);
	for (int i = 0; i < 20000; i++) {
		uint8_t bytes[96];
		size_t size = 1 + rng_below(&rng, sizeof(bytes));
		uint8_t *copy = malloc(size);
		struct function_code code;

		assert_non_null(copy);
		for (size_t j = 0; j < size; j++)
			bytes[j] = (uint8_t)rng_next(&rng);
		/* an owner's read, comparison and branch */
		if (i % 2 && size > 16)
			memcpy(bytes, "\x48\x8b\x03\x4c\x39\xf0\x75\x02", 8);
		if (i % 4 == 1 && size > 24)
			memcpy(bytes + 10, "\xf0\x0f\xb1\x4b\x30\x4c\x89\x33",
			       8);
		memcpy(copy, bytes, size);
		code = code_of(state, copy, copy + size);
		recursive_check(&code, at(copy), 0, &check);
		recursive_owns(&code, at(copy) + rng_below(&rng, 100), &check);
		recursive_releases(&code, at(copy) + i % 12, i % 64);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners),    cmocka_unit_test(near_misses),
		cmocka_unit_test(stores),    cmocka_unit_test(releases),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests_name("recursive", tests, set_up,
					   tear_down);
}

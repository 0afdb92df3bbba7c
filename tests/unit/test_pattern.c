/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/dataflow/pattern.c: what code does with a value, and near misses of it.
 */
#include "dataflow/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "x86/decode.h"

/*
 * Code that is never run: from NAME_start to NAME_end; the access is at
 * NAME_here. As compilers write it.
 */
#define CODE(name, before, access, after)                                  \
	extern const uint8_t name##_start[], name##_here[], name##_end[];  \
	__asm__(".pushsection .text\n" #name "_start:\n" before "\n" #name \
		"_here:\n" access "\n" #name "_here2:\n" after "\n" #name  \
		"_end:\n"                                                  \
		".popsection\n")

static int set_up(void **state)
{
	struct decoder *decoder = NULL;

	assert_null(decoder_create(&decoder));
	*state = decoder;
	return 0;
}

static int tear_down(void **state)
{
	decoder_destroy(*state);
	return 0;
}

static struct code_pattern look(struct decoder *decoder, const uint8_t *start,
				const uint8_t *here, const uint8_t *end)
{
	struct code_pattern pattern;

	memset(&pattern, 0xaa, sizeof(pattern));
	pattern_find(decoder, start, (size_t)(end - start),
		     (uint64_t)(uintptr_t)start, (uint64_t)(uintptr_t)here, 0,
		     &pattern);
	return pattern;
}

#define LOOK(state, name) look(*(state), name##_start, name##_here, name##_end)

CODE(memory_add, "", "addl $3, 8(%rdi)", "ret");
CODE(memory_dec, "", "decq (%rdi)", "je 1f; nop; 1: ret");
CODE(memory_dec_later, "", "decq (%rdi)",
     "mov %rsi, %rdx; jne 1f; nop; 1: ret");
CODE(memory_dec_lost, "", "decq (%rdi)",
     "testq %rsi, %rsi; jne 1f; nop; 1: ret");
CODE(memory_add_register, "", "addq %rsi, 8(%rdi)", "ret");
CODE(memory_sub_register, "", "subq %rsi, 8(%rdi)", "ret");
CODE(store_sub_register, "movl (%rdi), %eax; subl %esi, %eax",
     "movl %eax, (%rdi)", "ret");
CODE(load_add, "", "movl 8(%rdi), %eax",
     "addl $1, %eax; movl %eax, 8(%rdi); xorl %eax, %eax; ret");
CODE(store_add, "movl 8(%rdi), %eax; leal -2(%rax), %edx", "movl %edx, 8(%rdi)",
     "xorl %eax, %eax; xorl %edx, %edx; ret");
CODE(store_add_rip, "mov 0x1000+store_add_rip_here(%rip), %rax; add $1, %rax",
     "mov %rax, 0x1000+store_add_rip_here(%rip)", "ret");
CODE(store_other, "movl 12(%rdi), %eax; addl $1, %eax", "movl %eax, 8(%rdi)",
     "ret");
CODE(store_moved, "movl 8(%rdi), %eax; addl $1, %eax; addq $64, %rdi",
     "movl %eax, 8(%rdi)", "ret");
CODE(load_add_used, "", "movl 8(%rdi), %eax",
     "addl $1, %eax; movl %eax, 8(%rdi); ret");
CODE(store_next, "movl 8(%rdi), %eax; leal 1(%rax), %edx", "movl %edx, 8(%rdi)",
     "ret");
CODE(store_index,
     "movl 8(%rdi), %ecx; movl %ecx, %edx; andl $63, %edx; "
     "movb %sil, (%rsi,%rdx); addl $1, %ecx",
     "movl %ecx, 8(%rdi)", "ret");
CODE(load_dec_zero, "", "movl (%rdi), %eax",
     "subl $1, %eax; movl %eax, (%rdi); jne 1f; xorl %eax, %eax; 1: "
     "movl $0, %eax; ret");

static void counters(void **state)
{
	struct code_pattern pattern = LOOK(state, memory_add);

	assert_int_equal(pattern.change, PATTERN_ADD);
	assert_int_equal(pattern.delta, 3);
	assert_int_equal(pattern.used, 0);
	assert_false(pattern.tests_zero);
	pattern = LOOK(state, memory_dec);
	assert_int_equal(pattern.change, PATTERN_ADD);
	assert_int_equal(pattern.delta, -1);
	assert_true(pattern.tests_zero);
	assert_true(LOOK(state, memory_dec_later).tests_zero);
	assert_false(LOOK(state, memory_dec_lost).tests_zero);
	pattern = LOOK(state, memory_add_register);
	assert_int_equal(pattern.change, PATTERN_ADD);
	assert_int_equal(pattern.delta, 0);
	pattern = LOOK(state, memory_sub_register);
	assert_int_equal(pattern.change, PATTERN_DERIVED);
	pattern = LOOK(state, store_sub_register);
	assert_int_equal(pattern.change, PATTERN_DERIVED);
}

static void counters_in_registers(void **state)
{
	struct code_pattern pattern = LOOK(state, load_add);

	assert_int_equal(pattern.change, PATTERN_ADD);
	assert_int_equal(pattern.delta, 1);
	assert_int_equal(pattern.used, 0);
	pattern = LOOK(state, store_add);
	assert_int_equal(pattern.change, PATTERN_ADD);
	assert_int_equal(pattern.delta, -2);
	assert_int_equal(pattern.used, 0);
	pattern = LOOK(state, store_add_rip);
	assert_int_equal(pattern.change, PATTERN_ADD);
	assert_int_equal(pattern.delta, 1);
	pattern = LOOK(state, load_dec_zero);
	assert_int_equal(pattern.delta, -1);
	assert_true(pattern.tests_zero);
}

static void not_the_same_place(void **state)
{
	assert_int_equal(LOOK(state, store_other).change, PATTERN_UNKNOWN);
	assert_int_equal(LOOK(state, store_moved).change, PATTERN_UNKNOWN);
}

static void counter_whose_value_goes_on(void **state)
{
	struct code_pattern pattern = LOOK(state, load_add_used);

	assert_int_equal(pattern.change, PATTERN_ADD);
	assert_int_equal(pattern.used, UINT32_MAX);
	/* the old value is a number that is given out, or an index */
	pattern = LOOK(state, store_next);
	assert_int_equal(pattern.change, PATTERN_ADD);
	assert_int_equal(pattern.used, UINT32_MAX);
	pattern = LOOK(state, store_index);
	assert_int_equal(pattern.change, PATTERN_ADD);
	assert_int_not_equal(pattern.used, 0);
}

CODE(test_memory, "", "testb $4, 1(%rdi)", "ret");
CODE(bt_memory, "", "btl $7, (%rdi)", "ret");
CODE(cmp_memory, "", "cmpl $4, (%rdi)", "ret");
CODE(load_test, "", "movzbl (%rdi), %eax",
     "testb $0x10, %al; je 1f; movl $1, %eax; ret; 1: xorl %eax, %eax; ret");
CODE(load_test_used, "", "movzbl (%rdi), %eax",
     "testb $0x10, %al; je 1f; movl $1, %eax; 1: ret");
CODE(load_set, "", "movl (%rdi), %eax",
     "cmpw $1000, %ax; seta %al; movzbl %al, %eax; ret");
CODE(load_set_rest, "", "movl (%rdi), %eax", "cmpw $9, %ax; seta %al; ret");
CODE(load_and, "", "movl (%rdi), %eax", "andl $3, %eax; ret");
CODE(load_field, "", "movl (%rdi), %eax", "shrl $4, %eax; andl $7, %eax; ret");
CODE(load_call, "", "movl (%rdi), %esi", "call 1f; 1: ret");
CODE(load_pointer, "", "movq (%rdi), %rax", "movl 8(%rax), %eax; ret");
/* what is looked at through the flags that it leaves */
CODE(load_upper, "", "movq (%rdi), %rax",
     "movq %rax, %rcx; shrq $32, %rcx; je 1f; nop; 1: movzbl %al, %eax; ret");
CODE(load_bit, "", "movl (%rdi), %eax",
     "movl %eax, %ecx; andl $8, %ecx; setne %dl; xorl %ecx, %ecx\n"
     "andl $1, %eax; ret");
CODE(load_dead, "", "movl (%rdi), %eax", "xorl %eax, %eax; ret");

CODE(load_sum, "movl (%rsi), %eax", "addl (%rdi), %eax",
     "addl 4(%rsi), %eax; addl %edx, %eax; movzwl %ax, %eax; ret");
CODE(load_sum_rest, "movl (%rsi), %eax", "addl (%rdi), %eax",
     "addl 4(%rsi), %eax; ret");
CODE(load_sum_sign, "movl (%rsi), %eax", "addl (%rdi), %eax",
     "js 1f; movzwl %ax, %eax; ret; 1: xorl %eax, %eax; ret");
CODE(load_sum_later_sign, "movl (%rsi), %eax", "addl (%rdi), %eax",
     "addl 4(%rsi), %eax; js 1f; movzwl %ax, %eax; ret; 1: ret");
/* what is below is carried */
CODE(load_sum_and, "movl (%rsi), %eax", "addl (%rdi), %eax",
     "andl $0xf00, %eax; ret");
CODE(load_one_more_and, "", "movl (%rdi), %eax",
     "addl $1, %eax; andl $0xf00, %eax; ret");
CODE(load_sum_address, "movq (%rsi), %rax", "addq (%rdi), %rax",
     "addq (%rax), %rax; movzwl %ax, %eax; ret");
CODE(load_sum_store, "movl (%rsi), %eax", "addl (%rdi), %eax",
     "movl %eax, (%rdi); xorl %eax, %eax; ret");

static void bits_that_sums_need(void **state)
{
	struct code_pattern pattern = LOOK(state, load_sum_store);

	assert_int_equal(LOOK(state, load_sum).used, 0xffff);
	assert_int_equal(LOOK(state, load_sum_rest).used, UINT32_MAX);
	assert_int_equal(LOOK(state, load_sum_sign).used, UINT32_MAX);
	assert_int_equal(LOOK(state, load_sum_later_sign).used, UINT32_MAX);
	assert_int_equal(LOOK(state, load_sum_and).used, 0xfff);
	assert_int_equal(LOOK(state, load_one_more_and).used, 0xfff);
	assert_true(LOOK(state, load_sum_address).used == UINT64_MAX);
	assert_int_equal(pattern.change, PATTERN_ADD);
}

static void bits_that_are_looked_at(void **state)
{
	assert_int_equal(LOOK(state, test_memory).used, 4);
	assert_int_equal(LOOK(state, bt_memory).used, 0x80);
	assert_int_equal(LOOK(state, cmp_memory).used, UINT32_MAX);
	assert_int_equal(LOOK(state, load_test).used, 0x10);
	assert_int_equal(LOOK(state, load_set).used, 0xffff);
	assert_int_equal(LOOK(state, load_set_rest).used, UINT32_MAX);
	assert_int_equal(LOOK(state, load_and).used, 3);
	assert_int_equal(LOOK(state, load_field).used, 0x70);
	assert_int_equal(LOOK(state, load_upper).used,
			 UINT64_C(0xffffffff000000ff));
	assert_int_equal(LOOK(state, load_bit).used, 9);
	assert_int_equal(LOOK(state, load_dead).used, 0);
}

static void what_a_value_is_for(void **state)
{
	assert_true(LOOK(state, test_memory).compared);
	assert_true(LOOK(state, load_test).compared);
	assert_false(LOOK(state, load_call).compared);
	assert_true(LOOK(state, load_dec_zero).compared);
	assert_false(LOOK(state, load_add).compared);
	assert_true(LOOK(state, load_pointer).dereferenced);
	assert_false(LOOK(state, load_call).dereferenced);
}

static void whole_values(void **state)
{
	assert_int_equal(LOOK(state, load_test_used).used, 0xff);
	assert_int_equal(LOOK(state, load_call).used, UINT32_MAX);
	assert_true(LOOK(state, load_pointer).used == UINT64_MAX);
}

CODE(or_memory, "", "orb $8, (%rdi)", "ret");
CODE(and_memory, "", "andl $~6, (%rdi)", "ret");
CODE(bts_memory, "", "btsl $5, (%rdi)", "ret");
CODE(load_or, "", "movzbl (%rdi), %eax",
     "orl $2, %eax; movb %al, (%rdi); "
     "xorl %eax, %eax; ret");
CODE(store_field, "movzbl (%rdi), %eax; andl $-8, %eax; orl $5, %eax",
     "movb %al, (%rdi)", "ret");
CODE(store_mix,
     "movzbl (%rdi), %eax; andl $7, %esi; andl $-8, %eax; orl %esi, %eax",
     "movb %al, (%rdi)", "ret");
/* a field of some bits is counted, as gcc 12 does it at -O1 */
#define COUNT_FIELD                                          \
	"movl %eax, %edx; andl $-16, %edx; addl $16, %edx; " \
	"andl $15, %eax; orl %edx, %eax;"
CODE(load_field_count, "", "movzbl (%rdi), %eax",
     COUNT_FIELD "movb %al, (%rdi); ret");
CODE(store_field_count, "movzbl (%rdi), %eax;" COUNT_FIELD, "movb %al, (%rdi)",
     "ret");
CODE(load_field_kept, "", "movzbl (%rdi), %eax",
     COUNT_FIELD "movb %al, 1(%rdi); ret");
CODE(load_field_other, "", "movzbl (%rdi), %eax",
     COUNT_FIELD "xorl %eax, %eax; movb %al, (%rdi); ret");
CODE(load_field_branch, "", "movzbl (%rdi), %eax",
     "testl %esi, %esi; je 1f; " COUNT_FIELD "movb %al, (%rdi); 1: ret");
CODE(load_pop, "", "movq (%rdi), %rax",
     "movq 8(%rax), %rdx; movq %rdx, (%rdi); ret");
CODE(store_constant, "", "movl $1, (%rdi)", "ret");
CODE(store_argument, "", "movl %esi, (%rdi)", "ret");
CODE(negate, "", "negl (%rdi)", "ret");

static void bits_that_change(void **state)
{
	struct code_pattern pattern = LOOK(state, or_memory);

	assert_int_equal(pattern.change, PATTERN_BITS);
	assert_int_equal(pattern.changed, 8);
	pattern = LOOK(state, and_memory);
	assert_int_equal(pattern.change, PATTERN_BITS);
	assert_int_equal(pattern.changed, 6);
	assert_int_equal(LOOK(state, bts_memory).changed, 0x20);
	pattern = LOOK(state, load_or);
	assert_int_equal(pattern.change, PATTERN_BITS);
	assert_int_equal(pattern.changed, 2);
	assert_int_equal(pattern.used, 0);
	pattern = LOOK(state, store_field);
	assert_int_equal(pattern.change, PATTERN_BITS);
	assert_int_equal(pattern.changed, 7);
}

static void other_writes(void **state)
{
	struct code_pattern pattern = LOOK(state, store_constant);

	assert_int_equal(pattern.change, PATTERN_CONSTANT);
	assert_int_equal(pattern.used, 0);
	assert_int_equal(LOOK(state, store_argument).change, PATTERN_UNKNOWN);
	assert_int_equal(LOOK(state, negate).change, PATTERN_DERIVED);
	/* what is or'ed in is not known, so neither is what changes */
	assert_int_not_equal(LOOK(state, store_mix).change, PATTERN_BITS);
}

CODE(spin_lock, "", "1: movq (%rdi), %rax",
     "testq %rax, %rax; jne 1b; lock cmpxchgq %rsi, (%rdi); jne 1b; ret");
CODE(no_spin_lock, "", "1: movq (%rdi), %rax",
     "testq %rax, %rax; jne 1b; lock cmpxchgq %rsi, 8(%rdi); jne 1b; ret");
CODE(wrap_store, "lock xaddq %rax, (%rdi); cmpq $10, %rax; jbe 1f",
     "movq $0, (%rdi)", "1: ret");
CODE(drop_store, "lock subq %rax, (%rdi); je 1f", "movq $0, (%rdi)", "1: ret");
CODE(mark_store, "lock orq %rax, (%rdi); je 1f", "movq $0, (%rdi)", "1: ret");

CODE(load_compared, "", "cmpq (%rdi), %rsi",
     "jb 1f; addq $10, %rsi; movq %rsi, (%rdi); 1: ret");
CODE(store_compared, "cmpq (%rdi), %rsi; jb 1f; addq $10, %rsi",
     "movq %rsi, (%rdi)", "1: ret");

/* Half of an update, though what is done to the value is not understood. */
static void values_that_come_back(void **state)
{
	assert_int_equal(LOOK(state, load_field_count).change, PATTERN_DERIVED);
	assert_int_equal(LOOK(state, store_field_count).change,
			 PATTERN_DERIVED);
	assert_int_equal(LOOK(state, load_field_branch).change,
			 PATTERN_DERIVED);
	/* elsewhere, or something else, or what lay where it led to */
	assert_int_equal(LOOK(state, load_field_kept).change, PATTERN_UNKNOWN);
	assert_int_equal(LOOK(state, load_field_other).change, PATTERN_UNKNOWN);
	assert_int_equal(LOOK(state, load_pop).change, PATTERN_UNKNOWN);
	/* what is stored was only compared with what was there */
	assert_int_equal(LOOK(state, load_compared).change, PATTERN_UNKNOWN);
	assert_int_equal(LOOK(state, store_compared).change, PATTERN_UNKNOWN);
}

static void locks_beside(void **state)
{
	assert_true(LOOK(state, spin_lock).locked_beside);
	assert_false(LOOK(state, no_spin_lock).locked_beside);
	/* which add to it */
	assert_false(LOOK(state, spin_lock).locked_adds);
	assert_true(LOOK(state, wrap_store).locked_adds);
	assert_true(LOOK(state, drop_store).locked_adds);
	assert_true(LOOK(state, mark_store).locked_beside);
	assert_false(LOOK(state, mark_store).locked_adds);
}

/* Not optimized: pointers and values go through the frame. */
#define FRAME "pushq %rbp; movq %rsp, %rbp; movq %rdi, -24(%rbp)\n"
CODE(slow_add, FRAME "movq -24(%rbp), %rax", "movl 8(%rax), %eax",
     "leal 1(%rax), %edx; movq -24(%rbp), %rax; movl %edx, 8(%rax); "
     "nop; popq %rbp; ret");
CODE(slow_add_store,
     FRAME "movq -24(%rbp), %rax; movl 8(%rax), %eax; "
	   "leal -1(%rax), %edx; movq -24(%rbp), %rax",
     "movl %edx, 8(%rax)", "nop; popq %rbp; ret");
CODE(slow_add_other, FRAME "movq -24(%rbp), %rax", "movl 8(%rax), %eax",
     "leal 1(%rax), %edx; movq -32(%rbp), %rax; movl %edx, 8(%rax); ret");
CODE(slow_add_moved, FRAME "movq -24(%rbp), %rax", "movl 8(%rax), %eax",
     "addq $16, -24(%rbp); addl $1, %eax; movl %eax, %edx; "
     "movq -24(%rbp), %rax; movl %edx, 8(%rax); ret");
CODE(slow_test, FRAME "movq -24(%rbp), %rax", "movl 8(%rax), %eax",
     "movl %eax, -4(%rbp); movl -4(%rbp), %eax; andl $4, %eax; "
     "testl %eax, %eax; je 1f; nop; 1: xorl %eax, %eax; leave; ret");
CODE(slow_compare, FRAME "movq -24(%rbp), %rax", "movq 8(%rax), %rax",
     "movq %rax, -8(%rbp); cmpq $0, -8(%rbp); je 1f; nop; "
     "1: movl $0, %eax; leave; ret");
CODE(slow_shown, FRAME "leaq -16(%rbp), %rcx; movq -24(%rbp), %rax",
     "movl 8(%rax), %eax", "movl %eax, -4(%rbp); xorl %eax, %eax; leave; ret");
CODE(slow_call, FRAME "movq -24(%rbp), %rax", "movl 8(%rax), %eax",
     "movl %eax, -4(%rbp); xorl %eax, %eax; call 1f; 1: leave; ret");
CODE(slow_half, FRAME "movq -24(%rbp), %rax", "movl 8(%rax), %eax",
     "movl %eax, -4(%rbp); movb $0, -4(%rbp); leave; ret");
/* rbp is a pointer like another here: what is stored there is used */
CODE(no_frame, "movq %rdi, %rbp", "movl 8(%rax), %eax",
     "movl %eax, -4(%rbp); xorl %eax, %eax; ret");

static void values_in_the_frame(void **state)
{
	struct code_pattern pattern = LOOK(state, slow_add);

	assert_int_equal(pattern.change, PATTERN_ADD);
	assert_int_equal(pattern.delta, 1);
	assert_int_equal(pattern.used & ~UINT64_C(0xffffffff), 0);
	pattern = LOOK(state, slow_add_store);
	assert_int_equal(pattern.change, PATTERN_ADD);
	assert_int_equal(pattern.delta, -1);
	pattern = LOOK(state, slow_test);
	assert_int_equal(pattern.used, 4);
	assert_true(pattern.compared);
	assert_true(LOOK(state, slow_compare).compared);
}

static void near_misses_in_the_frame(void **state)
{
	assert_int_equal(LOOK(state, slow_add_other).change, PATTERN_UNKNOWN);
	assert_int_equal(LOOK(state, slow_add_moved).change, PATTERN_UNKNOWN);
	assert_int_equal(LOOK(state, slow_shown).used, UINT32_MAX);
	assert_int_equal(LOOK(state, slow_call).used, UINT32_MAX);
	assert_int_equal(LOOK(state, slow_half).used, UINT32_MAX);
	assert_int_equal(LOOK(state, no_frame).used, UINT32_MAX);
}

CODE(loop_forever, "", "1: movl (%rdi), %eax",
     "2: testl %ebx, %ebx; je 2b; jmp 2b");
CODE(cut_off, "", "movl (%rdi), %eax", "");
CODE(vector, "", "movups (%rdi), %xmm0", "ret");
CODE(not_an_access, "", "nop", "ret");

/* Ends, and claims nothing. */
static void what_cannot_be_followed(void **state)
{
	assert_int_equal(LOOK(state, loop_forever).used, UINT32_MAX);
	assert_int_equal(LOOK(state, cut_off).used, UINT32_MAX);
	assert_true(LOOK(state, vector).used == UINT64_MAX);
	assert_true(LOOK(state, not_an_access).used == UINT64_MAX);
	assert_int_equal(LOOK(state, vector).change, PATTERN_UNKNOWN);
}

/* Whatever the bytes: it ends, and stays inside them. */
static void any_bytes(void **state)
{
	uint8_t bytes[96];
	struct rng rng;

	rng_init(&rng, 1);
	for (int i = 0; i < 20000; i++) {
		struct code_pattern pattern;
		uint8_t *copy;
		size_t size = 1 + rng_below(&rng, sizeof(bytes));

		for (size_t j = 0; j < size; j++)
			bytes[j] = (uint8_t)rng_next(&rng);
		/* loads and stores, most of the time */
		if (i % 4)
			bytes[0] = i % 4 == 1 ? 0x8b : 0x89;
		/* of just this size, for the sanitizers to watch */
		copy = malloc(size);
		assert_non_null(copy);
		memcpy(copy, bytes, size);
		pattern_find(*state, copy, size, 0x1000,
			     0x1000 + rng_below(&rng, size), 0, &pattern);
		free(copy);
	}
}

CODE(set_number, "", "movl $5, (%rdi)", "ret");
CODE(set_register, "movl $5, %eax; movl (%rsi), %ecx", "movl %eax, (%rdi)",
     "ret");
CODE(set_address, "leaq 0x1000(%rip), %rax", "movq %rax, (%rdi)", "ret");
CODE(set_called, "leaq 0x1000(%rip), %rax", "movq %rax, (%rdi)",
     "jmp *0x2000(%rip)");
CODE(set_zero, "xorl %eax, %eax", "movl %eax, (%rdi)", "ret");
CODE(set_wide, "movabsq $0x1122334455667788, %rax", "movq %rax, (%rdi)", "ret");
CODE(set_kept, "movl $5, %ebx; call *%rsi", "movl %ebx, (%rdi)", "ret");
CODE(set_argument, "", "movl %esi, (%rdi)", "ret");
CODE(set_loaded, "movl $5, %eax; movl (%rsi), %eax", "movl %eax, (%rdi)",
     "ret");
CODE(set_part, "movl $5, %eax; movb %sil, %al", "movl %eax, (%rdi)", "ret");
CODE(set_lost, "movl $5, %eax; call *%rsi", "movl %eax, (%rdi)", "ret");
CODE(set_either, "movl %esi, %eax; testl %esi, %esi; je 1f; movl $5, %eax; 1:",
     "movl %eax, (%rdi)", "ret");
CODE(set_from_table, "movl $5, %eax; jmp *%rsi; nop; movl $5, %eax",
     "movl %eax, (%rdi)", "ret");
CODE(set_bits, "", "orl $4, (%rdi)", "ret");
CODE(set_vector, "", "movups %xmm0, (%rdi)", "ret");

CODE(set_sum, "movl $5, %eax; addl $3, %eax; leal (%rax, %rax, 4), %eax",
     "movl %eax, (%rdi)", "ret");
CODE(set_word, "movl %esi, %eax; movw $5, %ax", "movl %eax, (%rdi)", "ret");
CODE(set_low_zero, "movl %esi, %eax; xorw %ax, %ax", "movl %eax, (%rdi)",
     "ret");
CODE(set_selector, "movw %fs, %ax; movzwl %ax, %eax", "movl %eax, (%rdi)",
     "ret");
CODE(set_condition, "movl $5, %eax; testl %esi, %esi; sete %al",
     "movl %eax, (%rdi)", "ret");
/* table[i] = 7 * i, as gcc compiles it */
CODE(set_element,
     "movzbl %dil, %eax; leal (, %rdi, 8), %edx; subl %edi, %edx; "
     "leaq 0x1000(%rip), %rcx",
     "movb %dl, (%rcx, %rax)", "ret");
CODE(set_itself, "movq %rdi, %rbx; call *%rsi", "movq %rbx, 8(%rbx)", "ret");
/* set_flags(s, s->flags | 4), and a node that is put into a list */
CODE(set_flags, "orl $8, %esi", "movl %esi, (%rdi)", "ret");
CODE(set_head, "", "movq %rdi, 0x1000(%rip)", "ret");
CODE(set_spilled, "movq %rdi, -8(%rsp); movq -8(%rsp), %rax",
     "movl %eax, (%rdi)", "ret");
CODE(set_thread, "movq %fs:0, %rax", "movq %rax, (%rdi)", "ret");
CODE(set_later,
     "testl %edi, %edi; je 1f; movl %esi, %edi; 1: leal 1(%rdi), %eax",
     "movl %eax, (%rdi)", "ret");

#define CONSTANT(state, name)                                        \
	pattern_stores_constant(*(state), name##_start,              \
				(size_t)(name##_end - name##_start), \
				(uint64_t)(uintptr_t)name##_start,   \
				(uint64_t)(uintptr_t)name##_here)

static void what_is_always_the_same_is_constant(void **state)
{
	assert_true(CONSTANT(state, set_number));
	assert_true(CONSTANT(state, set_register));
	assert_true(CONSTANT(state, set_address));
	assert_true(CONSTANT(state, set_called));
	assert_true(CONSTANT(state, set_zero));
	assert_true(CONSTANT(state, set_wide));
	assert_true(CONSTANT(state, set_kept));
	assert_true(CONSTANT(state, set_sum));
	assert_false(CONSTANT(state, set_word));
	assert_false(CONSTANT(state, set_low_zero));
	assert_false(CONSTANT(state, set_selector));
	assert_false(CONSTANT(state, set_condition));
	assert_false(CONSTANT(state, set_element));
	assert_false(CONSTANT(state, set_argument));
	assert_false(CONSTANT(state, set_loaded));
	assert_false(CONSTANT(state, set_part));
	assert_false(CONSTANT(state, set_lost));
	/* on one of the ways there */
	assert_false(CONSTANT(state, set_either));
	assert_false(CONSTANT(state, set_from_table));
	assert_false(CONSTANT(state, set_bits));
	assert_false(CONSTANT(state, set_vector));
	assert_false(CONSTANT(state, store_add));
}

#define MADE(state, name)                                        \
	pattern_stores_made(*(state), name##_start,              \
			    (size_t)(name##_end - name##_start), \
			    (uint64_t)(uintptr_t)name##_start,   \
			    (uint64_t)(uintptr_t)name##_here)

static void what_a_caller_hands_over_is_not_made(void **state)
{
	assert_true(MADE(state, set_number));
	assert_true(MADE(state, set_kept));
	assert_true(MADE(state, set_sum));
	assert_true(MADE(state, set_element));
	assert_true(MADE(state, set_itself));
	assert_false(MADE(state, set_argument));
	assert_false(MADE(state, set_flags));
	assert_false(MADE(state, set_head));
	/* memory, flags, results, and what two ways lead to */
	assert_false(MADE(state, set_loaded));
	assert_false(MADE(state, set_spilled));
	assert_false(MADE(state, set_thread));
	assert_false(MADE(state, set_condition));
	assert_false(MADE(state, set_lost));
	assert_false(MADE(state, set_later));
	assert_false(MADE(state, set_from_table));
	/* no plain store */
	assert_false(MADE(state, set_bits));
	assert_false(MADE(state, set_vector));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_always_the_same_is_constant),
		cmocka_unit_test(what_a_caller_hands_over_is_not_made),
		cmocka_unit_test(counters),
		cmocka_unit_test(counters_in_registers),
		cmocka_unit_test(not_the_same_place),
		cmocka_unit_test(counter_whose_value_goes_on),
		cmocka_unit_test(bits_that_are_looked_at),
		cmocka_unit_test(bits_that_sums_need),
		cmocka_unit_test(what_a_value_is_for),
		cmocka_unit_test(whole_values),
		cmocka_unit_test(bits_that_change),
		cmocka_unit_test(other_writes),
		cmocka_unit_test(values_that_come_back),
		cmocka_unit_test(locks_beside),
		cmocka_unit_test(values_in_the_frame),
		cmocka_unit_test(near_misses_in_the_frame),
		cmocka_unit_test(what_cannot_be_followed),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests_name("pattern", tests, set_up, tear_down);
}

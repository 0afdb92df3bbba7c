/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/x86/decode.c and decode-trap.c: text, names, cut-off bytes, and finding
 * the instruction that trapped. What single instructions do to memory is in
 * the tables of tests/decode.
 */
#include "x86/decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

enum { BASE = 0x401000, NOT_FOUND = -1 };

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

static void expect_text(struct decoder *decoder, const char *bytes, size_t size,
			const char *expected)
{
	char text[64];

	decoder_text(decoder, (const uint8_t *)bytes, size, BASE, text,
		     sizeof(text));
	assert_string_equal(text, expected);
}

static void text_is_in_att_syntax(void **state)
{
	expect_text(*state, "\x48\x89\x43\x10", 4, "movq %rax, 0x10(%rbx)");
	expect_text(*state, "\x48\x01\x77\x08", 4, "addq %rsi, 8(%rdi)");
	expect_text(*state, "\xc3", 1, "retq");
}

static void text_of_what_the_library_does_not_know(void **state)
{
	char text[8];

	expect_text(*state, "\x06", 1, "(bad)");
	/* kortestd %k1, %k2; Capstone 5 may know it */
	decoder_text(*state, (const uint8_t *)"\xc4\xe1\xf9\x98\xd1", 5, BASE,
		     text, sizeof(text));
	assert_true(strncmp(text, ".byte", 5) == 0 ||
		    strncmp(text, "kortest", 7) == 0);
	assert_true(strlen(text) < sizeof(text));
}

/* Every prefix of an instruction is undecodable and of length 1. */
static void cut_off_bytes_are_undecodable(void **state)
{
	static const char *const whole[] = {
		"\x48\x8b\x84\xc8\x11\x22\x33\x44",
		"\x66\x0f\x38\x17\x84\xc8\x11\x22\x33\x44",
		"\x62\xf1\x7c\x48\x11\x84\xc8\x11\x22\x33\x44",
		"\xc4\xe2\x7d\x5a\x84\xc8\x11\x22\x33\x44",
		"\x48\xb8\x11\x22\x33\x44\x55\x66\x77\x88",
	};

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		const uint8_t *bytes = (const uint8_t *)whole[i];
		size_t size = strlen(whole[i]);
		struct insn_access insn;

		decoder_decode(*state, bytes, size, BASE, &insn);
		assert_int_equal(insn.length, size);
		assert_int_equal(insn.refusal, X86_OK);
		for (size_t cut = 1; cut < size; cut++) {
			decoder_decode(*state, bytes, cut, BASE, &insn);
			assert_int_equal(insn.length, 1);
			assert_int_equal(insn.refusal, X86_REFUSED_UNDECODABLE);
			assert_int_equal(insn.operand_count, 0);
		}
	}
}

static void says_where_vectors_are(void **state)
{
	static const struct {
		const char *bytes;
		bool vector;
	} cases[] = {
		{ "\x0f\x12\x01", true }, /* movlps (%rcx), %xmm0 */
		{ "\xf3\x0f\x7e\x01", true }, /* movq (%rcx), %xmm0 */
		{ "\x0f\x2f\x01", true }, /* comiss (%rcx), %xmm0 */
		{ "\x66\x44\x0f\xd6\x01", true }, /* movq %xmm8, (%rcx) */
		{ "\xf2\x0f\x2a\x01", true }, /* cvtsi2sd (%rcx), %xmm0 */
		{ "\xc5\xfe\x6f\x01", true }, /* vmovdqu (%rcx), %ymm0 */
		/* vmovdqu64 (%rcx), %zmm0 */
		{ "\x62\xf1\xfe\x48\x6f\x01", true },
		{ "\x0f\x6f\x01", false }, /* movq (%rcx), %mm0 */
		{ "\xf2\x0f\x2c\x01", false }, /* cvttsd2si (%rcx), %eax */
		{ "\x48\x8b\x01", false }, /* movq (%rcx), %rax */
		/* andnl (%rcx), %eax, %eax */
		{ "\xc4\xe2\x78\xf2\x01", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *bytes = cases[i].bytes;
		struct insn_access insn;

		decoder_decode(*state, (const uint8_t *)bytes, strlen(bytes),
			       BASE, &insn);
		assert_int_equal(insn.operand_count, 1);
		if (insn.vector != cases[i].vector)
			fail_msg("case %zu", i);
	}
}

static void fifteen_bytes_are_the_limit(void **state)
{
	uint8_t bytes[20];
	struct insn_access insn;

	memset(bytes, 0x2e, sizeof(bytes));
	bytes[14] = 0x90;
	decoder_decode(*state, bytes, sizeof(bytes), BASE, &insn);
	assert_int_equal(insn.length, 15);
	bytes[14] = 0x2e;
	bytes[15] = 0x90;
	decoder_decode(*state, bytes, sizeof(bytes), BASE, &insn);
	assert_int_equal(insn.length, 1);
	assert_int_equal(insn.refusal, X86_REFUSED_UNDECODABLE);
}

/* The decoder takes f2 for a rep here, which manuals leave open. */
static void repne_before_stos_repeats(void **state)
{
	uint8_t bytes[4] = { 0 };
	void *to = bytes;
	uint64_t count = sizeof(bytes);

	(void)state;
	__asm__ volatile(".byte 0xf2, 0xaa"
			 : "+D"(to), "+c"(count)
			 : "a"(7)
			 : "memory");
	assert_int_equal(count, 0);
	assert_memory_equal(bytes, "\7\7\7\7", 4);
}

/* A function, where the thread stands in it, and what trapped. */
struct trap_case {
	const char *name;
	const char *bytes;
	size_t size;
	int rip; /* offset, for the reader */
	struct x86_registers regs;
	struct mem_access watched;
	int expected; /* offset, or NOT_FOUND */
};

/*
 * Assembled at BASE, "rip:" being where the thread stands; the instruction that
 * has to be found is at the offset that ends the entry.
 */
static const struct trap_case trap_cases[] = {
	/* movq %rax,(%rbx); rip: nop */
	{ "store_that_ends_at_rip",
	  "\x48\x89\x03\x90",
	  4,
	  3,
	  { .gpr[X86_RBX] = 0x1000, .rip = BASE + 3 },
	  { 0x1000, 8, 0 },
	  0 },
	/* movq %rax,(%rbx); rip: nop */
	{ "store_to_elsewhere_is_not_it",
	  "\x48\x89\x03\x90",
	  4,
	  3,
	  { .gpr[X86_RBX] = 0x2000, .rip = BASE + 3 },
	  { 0x1000, 8, 0 },
	  NOT_FOUND },
	/* movq %rax,4(%rbx); rip: nop */
	{ "overlap_is_enough",
	  "\x48\x89\x43\x04\x90",
	  5,
	  4,
	  { .gpr[X86_RBX] = 0x1000, .rip = BASE + 4 },
	  { 0x100b, 1, 0 },
	  0 },
	/* movq %rax,4(%rbx); rip: nop */
	{ "next_byte_is_no_overlap",
	  "\x48\x89\x43\x04\x90",
	  5,
	  4,
	  { .gpr[X86_RBX] = 0x1000, .rip = BASE + 4 },
	  { 0x100c, 1, 0 },
	  NOT_FOUND },
	/* movq (%rax),%rax; rip: nop */
	{ "load_over_its_own_base",
	  "\x48\x8b\x00\x90",
	  4,
	  3,
	  { .gpr[X86_RAX] = 7, .rip = BASE + 3 },
	  { 0x1000, 8, 0 },
	  0 },
	/* movzbl (%rbx,%rcx),%ecx; rip: nop */
	{ "load_over_its_own_index",
	  "\x0f\xb6\x0c\x0b\x90",
	  5,
	  4,
	  { .gpr[X86_RBX] = 0x1000, .gpr[X86_RCX] = 7, .rip = BASE + 4 },
	  { 0x1500, 1, 0 },
	  0 },
	/* movq (%rbx),%rax; rip: nop */
	{ "load_with_base_intact_elsewhere",
	  "\x48\x8b\x03\x90",
	  4,
	  3,
	  { .gpr[X86_RBX] = 0x2000, .rip = BASE + 3 },
	  { 0x1000, 8, 0 },
	  NOT_FOUND },
	/* nop; movl $1,0xff9(%rip); rip: ret */
	{ "rip_relative",
	  "\x90\xc7\x05\xf9\x0f\x00\x00\x01\x00\x00\x00\xc3",
	  12,
	  11,
	  { .rip = BASE + 11 },
	  { 0x402004, 4, 0 },
	  1 },
	/* addq %rax,%rbx; rip: nop */
	{ "register_instruction_is_not_it",
	  "\x48\x01\xc3\x90",
	  4,
	  3,
	  { .rip = BASE + 3 },
	  { 0x1000, 8, 0 },
	  NOT_FOUND },
	/* movl (%rdi),%eax; rip: addl $1,%eax; jne rip; ret */
	{ "loop_head_by_fall_through",
	  "\x8b\x07\x83\xc0\x01\x75\xfb\xc3",
	  8,
	  2,
	  { .gpr[X86_RDI] = 0x1000, .rip = BASE + 2 },
	  { 0x1000, 4, 0 },
	  0 },
	/* movl %eax,(%rsi); 1: incl %ecx; cmpl $0,(%rdi); rip: jne 1b; ret */
	{ "compare_before_branch",
	  "\x89\x06\xff\xc1\x83\x3f\x00\x75\xf9\xc3",
	  10,
	  7,
	  { .gpr[X86_RDI] = 0x1000, .gpr[X86_RSI] = 0x2000, .rip = BASE + 7 },
	  { 0x1000, 4, 0 },
	  4 },
	/* movl %eax,(%rsi); rip: incl %ecx; cmpl $0,(%rdi); jne rip; ret */
	{ "fused_compare_branch_taken",
	  "\x89\x06\xff\xc1\x83\x3f\x00\x75\xf9\xc3",
	  10,
	  2,
	  { .gpr[X86_RDI] = 0x1000, .gpr[X86_RSI] = 0x2000, .rip = BASE + 2 },
	  { 0x1000, 4, 0 },
	  4 },
	/* 1: incl %ecx; cmpl $0,(%rdi); jne 1b; rip: ret */
	{ "fused_compare_branch_not_taken",
	  "\xff\xc1\x83\x3f\x00\x75\xf9\xc3",
	  8,
	  7,
	  { .gpr[X86_RDI] = 0x1000, .rip = BASE + 7 },
	  { 0x1000, 4, 0 },
	  2 },
	/* movl (%rdi),%eax; rip: incl %ecx; cmpl $0,(%rdi); jne rip; ret */
	{ "fall_through_wins_over_fused",
	  "\x8b\x07\xff\xc1\x83\x3f\x00\x75\xf9\xc3",
	  10,
	  2,
	  { .gpr[X86_RDI] = 0x1000, .rip = BASE + 2 },
	  { 0x1000, 4, 0 },
	  0 },
	/*
	 * cmpl $3,%eax; ja 9f; jmp *0x1000(,%rax,8); movl $1,%eax; ret; rip:
	 * movl $2,%eax; ret; 9: ud2
	 */
	{ "jump_through_table",
	  "\x83\xf8\x03\x77\x13\xff\x24\xc5\x00\x10\x00\x00"
	  "\xb8\x01\x00\x00\x00\xc3\xb8\x02\x00\x00\x00\xc3"
	  "\x0f\x0b",
	  26,
	  18,
	  { .gpr[X86_RAX] = 2, .rip = BASE + 18 },
	  { 0x1010, 8, 0 },
	  5 },
	/*
	 * want2: jmp *0x1000(,%rax,8); movl $1,%eax; ret; rip: movl $2,%eax;
	 * ret
	 */
	{ "jump_through_other_entry",
	  "\xff\x24\xc5\x00\x10\x00\x00\xb8\x01\x00\x00\x00"
	  "\xc3\xb8\x02\x00\x00\x00\xc3",
	  19,
	  13,
	  { .gpr[X86_RAX] = 3, .rip = BASE + 13 },
	  { 0x1010, 8, 0 },
	  NOT_FOUND },
	/* movl %eax,(%rdi); jmp *%rdx; rip: ret */
	{ "nothing_falls_through_a_jump",
	  "\x89\x07\xff\xe2\xc3",
	  5,
	  4,
	  { .gpr[X86_RDI] = 0x1000, .rip = BASE + 4 },
	  { 0x1000, 4, 0 },
	  NOT_FOUND },
	/* nop; rip: rep movsb; ret */
	{ "rep_mid_way",
	  "\x90\xf3\xa4\xc3",
	  4,
	  1,
	  { .gpr[X86_RDI] = 0x1004,
	    .gpr[X86_RSI] = 0x2004,
	    .gpr[X86_RCX] = 5,
	    .rip = BASE + 1 },
	  { 0x1003, 1, 0 },
	  1 },
	/* nop; rip: rep movsb; ret */
	{ "rep_mid_way_source",
	  "\x90\xf3\xa4\xc3",
	  4,
	  1,
	  { .gpr[X86_RDI] = 0x1004,
	    .gpr[X86_RSI] = 0x2004,
	    .gpr[X86_RCX] = 5,
	    .rip = BASE + 1 },
	  { 0x2003, 1, 0 },
	  1 },
	/* std; rip: rep stosq; ret */
	{ "rep_downwards",
	  "\xfd\xf3\x48\xab\xc3",
	  5,
	  1,
	  { .gpr[X86_RDI] = 0x1000,
	    .gpr[X86_RCX] = 5,
	    .rflags = 0x400,
	    .rip = BASE + 1 },
	  { 0x1008, 8, 0 },
	  1 },
	/* nop; rip: rep stosb; ret */
	{ "rep_in_blocks",
	  "\x90\xf3\xaa\xc3",
	  4,
	  1,
	  { .gpr[X86_RDI] = 0x1040, .gpr[X86_RCX] = 5, .rip = BASE + 1 },
	  { 0x1008, 8, 0 },
	  1 },
	/* movb $1,(%rbx); rip: rep stosb; ret */
	{ "rep_not_begun",
	  "\xc6\x03\x01\xf3\xaa\xc3",
	  6,
	  3,
	  { .gpr[X86_RDI] = 0x1800,
	    .gpr[X86_RBX] = 0x1000,
	    .gpr[X86_RCX] = 5,
	    .rip = BASE + 3 },
	  { 0x1000, 1, 0 },
	  0 },
	/* movb $1,(%rbx); rip: rep stosb; ret */
	{ "rep_not_begun_near",
	  "\xc6\x03\x01\xf3\xaa\xc3",
	  6,
	  3,
	  { .gpr[X86_RDI] = 0x1010,
	    .gpr[X86_RBX] = 0x1000,
	    .gpr[X86_RCX] = 5,
	    .rip = BASE + 3 },
	  { 0x1000, 1, 0 },
	  0 },
	/* rep stosb; rip: ret */
	{ "rep_finished",
	  "\xf3\xaa\xc3",
	  3,
	  2,
	  { .gpr[X86_RDI] = 0x1008, .rip = BASE + 2 },
	  { 0x1007, 1, 0 },
	  0 },
	/* stosl; rip: ret */
	{ "single_string_store",
	  "\xab\xc3",
	  2,
	  1,
	  { .gpr[X86_RDI] = 0x1004, .rip = BASE + 1 },
	  { 0x1000, 4, 0 },
	  0 },
	/* lodsb; rip: ret */
	{ "single_string_load",
	  "\xac\xc3",
	  2,
	  1,
	  { .gpr[X86_RSI] = 0x1001, .rip = BASE + 1 },
	  { 0x1000, 1, 0 },
	  0 },
	/* repe cmpsb; rip: jne rip */
	{ "compare_strings",
	  "\xf3\xa6\x75\xfe",
	  4,
	  2,
	  { .gpr[X86_RSI] = 0x1001, .gpr[X86_RDI] = 0x2001, .rip = BASE + 2 },
	  { 0x2000, 1, 0 },
	  0 },
	/* pushq %rax; rip: nop */
	{ "push_slot",
	  "\x50\x90",
	  2,
	  1,
	  { .gpr[X86_RSP] = 0x6ff8, .rip = BASE + 1 },
	  { 0x6ff8, 8, 0 },
	  0 },
	/* popq %rax; rip: nop */
	{ "pop_slot",
	  "\x58\x90",
	  2,
	  1,
	  { .gpr[X86_RSP] = 0x7008, .rip = BASE + 1 },
	  { 0x7000, 8, 0 },
	  0 },
	/* pushq 8(%rsp); rip: nop */
	{ "push_memory",
	  "\xff\x74\x24\x08\x90",
	  5,
	  4,
	  { .gpr[X86_RSP] = 0x6ff8, .rip = BASE + 4 },
	  { 0x7008, 8, 0 },
	  0 },
	/* popq 8(%rsp); rip: nop */
	{ "pop_memory",
	  "\x8f\x44\x24\x08\x90",
	  5,
	  4,
	  { .gpr[X86_RSP] = 0x7008, .rip = BASE + 4 },
	  { 0x7010, 8, 0 },
	  0 },
	/* leave; rip: ret */
	{ "leave_slot",
	  "\xc9\xc3",
	  2,
	  1,
	  { .gpr[X86_RSP] = 0x7108, .gpr[X86_RBP] = 0x7200, .rip = BASE + 1 },
	  { 0x7100, 8, 0 },
	  0 },
	/* call rip; rip: popq %rax */
	{ "call_to_the_next",
	  "\xe8\x00\x00\x00\x00\x58",
	  6,
	  5,
	  { .gpr[X86_RSP] = 0x6ff8, .rip = BASE + 5 },
	  { 0x6ff8, 8, 0 },
	  0 },
	/* call 8f; rip: nop; 8: ret */
	{ "return_is_another_functions",
	  "\xe8\x01\x00\x00\x00\x90\xc3",
	  7,
	  5,
	  { .gpr[X86_RSP] = 0x7000, .rip = BASE + 5 },
	  { 0x6ff8, 8, 0 },
	  NOT_FOUND },
	/* syscall; rip: ret */
	{ "system_call_is_the_kernels",
	  "\x0f\x05\xc3",
	  3,
	  2,
	  { .rip = BASE + 2 },
	  { 0x1000, 8, 0 },
	  NOT_FOUND },
	/* xchgq %rax,(%rax); rip: ret */
	{ "exchange_over_its_base",
	  "\x48\x87\x00\xc3",
	  4,
	  3,
	  { .rip = BASE + 3 },
	  { 0x1000, 8, 0 },
	  0 },
	/* lock cmpxchgl %ecx,(%rdx); rip: jne rip */
	{ "compare_and_exchange",
	  "\xf0\x0f\xb1\x0a\x75\xfe",
	  6,
	  4,
	  { .gpr[X86_RDX] = 0x1000, .rip = BASE + 4 },
	  { 0x1000, 4, 0 },
	  0 },
	/*
	 * cmpl $0,(%rsi); je 1f; .byte 0xf0; 1: cmpxchgl %ecx,(%rdx); rip: jne
	 * rip
	 */
	{ "jump_over_the_lock_prefix",
	  "\x83\x3e\x00\x74\x01\xf0\x0f\xb1\x0a\x75\xfe",
	  11,
	  9,
	  { .gpr[X86_RDX] = 0x1000, .rip = BASE + 9 },
	  { 0x1000, 4, 0 },
	  5 },
	/* jmp 1f; .p2align 5; 1: nop; movq %rax,(%rbx); rip: jmp 1b */
	{ "padding_before_a_loop",
	  "\xeb\x1e\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00"
	  "\x00\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00"
	  "\x0f\x1f\x84\x00\x00\x00\x00\x00\x90\x48\x89\x03"
	  "\xeb\xfa",
	  38,
	  36,
	  { .gpr[X86_RBX] = 0x1000, .rip = BASE + 36 },
	  { 0x1000, 8, 0 },
	  33 },
	/* jmp 1f; .byte 0x48,0xb8,0x11; 1: nop; movq %rax,(%rbx); rip: ret */
	{ "data_swallows_the_target",
	  "\xeb\x03\x48\xb8\x11\x90\x48\x89\x03\xc3",
	  10,
	  9,
	  { .gpr[X86_RBX] = 0x1000, .rip = BASE + 9 },
	  { 0x1000, 8, 0 },
	  6 },
	/*
	 * jmp 1f; .byte 0xc7,0x03; 1: movq %rcx,%rdx; movb %al,(%rbx); rip:
	 * ret
	 */
	{ "data_right_before",
	  "\xeb\x02\xc7\x03\x48\x89\xca\x88\x03\xc3",
	  10,
	  9,
	  { .gpr[X86_RBX] = 0x1000, .rip = BASE + 9 },
	  { 0x1000, 1, 0 },
	  7 },
	/* vpgatherdd %ymm0,(%rdi,%ymm1,4),%ymm2; rip: ret */
	{ "gather_is_refused",
	  "\xc4\xe2\x7d\x90\x14\x8f\xc3",
	  7,
	  6,
	  { .rip = BASE + 6 },
	  { 0x1000, 4, 0 },
	  0 },
	/* nop; movl %eax,(%rdi); rip: */
	{ "at_the_end_of_the_function",
	  "\x90\x89\x07",
	  3,
	  3,
	  { .gpr[X86_RDI] = 0x1000, .rip = BASE + 3 },
	  { 0x1000, 4, 0 },
	  1 },
	/* rip: movl %eax,(%rdi); ret */
	{ "at_the_start_of_the_function",
	  "\x89\x07\xc3",
	  3,
	  0,
	  { .gpr[X86_RDI] = 0x1000, .rip = BASE + 0 },
	  { 0x1000, 4, 0 },
	  NOT_FOUND },
	/* vmovups %zmm0,0x40(%rdi); rip: ret */
	{ "wide_store",
	  "\x62\xf1\x7c\x48\x11\x47\x01\xc3",
	  8,
	  7,
	  { .gpr[X86_RDI] = 0x1000, .rip = BASE + 7 },
	  { 0x1078, 8, 0 },
	  0 },
};

static void check_trap(struct decoder *decoder, const struct trap_case *known)
{
	uint64_t address = 0;
	struct insn_access insn;
	bool found = decode_find_trapped(decoder, (const uint8_t *)known->bytes,
					 known->size, BASE, &known->regs,
					 &known->watched, &address, &insn);
	int offset = found ? (int)(address - BASE) : NOT_FOUND;

	if (offset != known->expected)
		fail_msg("%s: found %d, expected %d", known->name, offset,
			 known->expected);
}

static void trapped_instruction_is_found(void **state)
{
	for (size_t i = 0; i < sizeof(trap_cases) / sizeof(trap_cases[0]); i++)
		check_trap(*state, &trap_cases[i]);
}

static void rip_outside_of_the_function_finds_nothing(void **state)
{
	static const uint8_t bytes[] = { 0x48, 0x89, 0x03, 0x90 };
	struct mem_access watched = { 0x1000, 8, 0 };
	struct x86_registers regs = { .gpr[X86_RBX] = 0x1000 };
	uint64_t address = 0;
	struct insn_access insn;

	for (int offset = -2; offset < 8; offset++) {
		bool found;

		regs.rip = BASE + (uint64_t)(int64_t)offset;
		found = decode_find_trapped(*state, bytes, sizeof(bytes), BASE,
					    &regs, &watched, &address, &insn);
		assert_int_equal(found, offset == 3);
	}
}

static void refused_candidate_has_no_operands(void **state)
{
	/* vpgatherdd %ymm0, (%rdi,%ymm1,4), %ymm2; ret */
	static const uint8_t bytes[] = { 0xc4, 0xe2, 0x7d, 0x90,
					 0x14, 0x8f, 0xc3 };
	struct mem_access watched = { 0x1000, 8, 0 };
	struct x86_registers regs = { .rip = BASE + 6 };
	uint64_t address = 0;
	struct insn_access insn;

	assert_true(decode_find_trapped(*state, bytes, sizeof(bytes), BASE,
					&regs, &watched, &address, &insn));
	assert_int_equal(insn.refusal, X86_REFUSED_GATHER);
	assert_int_equal(insn.operand_count, 0);
}

/* nop; call *8(%rdi); nop: the thread is at the callee. */
static void call_through_memory_is_found_in_the_caller(void **state)
{
	static const uint8_t bytes[] = { 0x90, 0xff, 0x57, 0x08, 0x90 };
	struct mem_access watched = { 0x1008, 8, 0 };
	struct x86_registers regs = {
		.rip = 0x500000,
		.gpr[X86_RDI] = 0x1000,
		.gpr[X86_RSP] = 0x6ff8,
	};
	struct mem_access slot = { 0x6ff8, 8, 0 };
	struct mem_access elsewhere = { 0x1000, 8, 0 };
	uint64_t address = 0;
	struct insn_access insn;

	assert_true(decode_find_call(*state, bytes, sizeof(bytes), BASE,
				     BASE + 4, &regs, &watched, &address,
				     &insn));
	assert_int_equal(address, BASE + 1);
	assert_int_equal(insn.operands[0].kind, ACCESS_READ);
	assert_true(decode_find_call(*state, bytes, sizeof(bytes), BASE,
				     BASE + 4, &regs, &slot, &address, &insn));
	assert_false(decode_find_call(*state, bytes, sizeof(bytes), BASE,
				      BASE + 4, &regs, &elsewhere, &address,
				      &insn));
	assert_false(decode_find_call(*state, bytes, sizeof(bytes), BASE,
				      BASE + 3, &regs, &watched, &address,
				      &insn));
}

/* call *8(%rsp): rsp has moved since. */
static void call_through_the_stack_is_found(void **state)
{
	static const uint8_t bytes[] = { 0xff, 0x54, 0x24, 0x08, 0x90 };
	struct mem_access watched = { 0x7008, 8, 0 };
	struct x86_registers regs = {
		.rip = 0x500000,
		.gpr[X86_RSP] = 0x6ff8,
	};
	uint64_t address = 0;
	struct insn_access insn;

	assert_true(decode_find_call(*state, bytes, sizeof(bytes), BASE,
				     BASE + 4, &regs, &watched, &address,
				     &insn));
	assert_int_equal(address, BASE);
}

/*
 * nop; call 0x20 from BASE; nop. There: mov (%rsi), %eax; jmp *8(%rdi). The thread is
 * where that led.
 */
static void jump_through_memory_is_found_in_what_was_called(void **state)
{
	static const uint8_t caller[] = { 0x90, 0xe8, 0x1a, 0, 0, 0, 0x90 };
	static const uint8_t called[] = { 0x8b, 0x06, 0xff, 0x67, 0x08 };
	struct mem_access watched = { 0x1008, 8, 0 };
	struct mem_access elsewhere = { 0x1000, 8, 0 };
	struct x86_registers regs = {
		.rip = 0x500000,
		.gpr[X86_RDI] = 0x1000,
		.gpr[X86_RSI] = 0x1000,
	};
	uint64_t target = 0, address = 0;
	struct insn_access insn;

	assert_true(decode_called(*state, caller, sizeof(caller), BASE,
				  BASE + 6, &target));
	assert_int_equal(target, BASE + 0x20);
	assert_false(decode_called(*state, caller, sizeof(caller), BASE,
				   BASE + 1, &target));
	assert_true(decode_find_jump(*state, called, sizeof(called), target,
				     &regs, &watched, &address, &insn));
	assert_int_equal(address, target + 2);
	assert_int_equal(insn.flow, X86_FLOW_JUMP);
	/* no load, and no jump that reads something else */
	assert_false(decode_find_jump(*state, called, sizeof(called), target,
				      &regs, &elsewhere, &address, &insn));
}

/* Any bytes at all: no crash, no answer outside of them. */
static void random_bytes_do_no_harm(void **state)
{
	struct rng rng;

	rng_init(&rng, 1);
	for (int round = 0; round < 2000; round++) {
		uint8_t bytes[64];
		struct x86_registers regs = { .rip = 0 };
		struct mem_access watched = { 0, 64, 0 };
		uint64_t address = 0;
		struct insn_access insn;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)rng_next(&rng);
		regs.rip = BASE + rng_below(&rng, sizeof(bytes) + 1);
		if (!decode_find_trapped(*state, bytes, sizeof(bytes), BASE,
					 &regs, &watched, &address, &insn))
			continue;
		assert_in_range(address, BASE, BASE + sizeof(bytes) - 1);
		assert_in_range(insn.length, 1, X86_INSN_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_in_att_syntax),
		cmocka_unit_test(text_of_what_the_library_does_not_know),
		cmocka_unit_test(cut_off_bytes_are_undecodable),
		cmocka_unit_test(says_where_vectors_are),
		cmocka_unit_test(fifteen_bytes_are_the_limit),
		cmocka_unit_test(repne_before_stos_repeats),
		cmocka_unit_test(trapped_instruction_is_found),
		cmocka_unit_test(rip_outside_of_the_function_finds_nothing),
		cmocka_unit_test(refused_candidate_has_no_operands),
		cmocka_unit_test(call_through_memory_is_found_in_the_caller),
		cmocka_unit_test(call_through_the_stack_is_found),
		cmocka_unit_test(
			jump_through_memory_is_found_in_what_was_called),
		cmocka_unit_test(random_bytes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

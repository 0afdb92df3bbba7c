/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sampling/first.c: what a function may do to memory before an access, and how
 * it may come there again.
 */
#include "sampling/first.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"
#include "sampling/scan.h"
#include "x86/decode.h"

enum { START = 0x1000, LOCK = 0x3000, MOST = 16 };

/* A function's instructions, and its access. */
struct code {
	const char *what;
	uint8_t bytes[48];
	uint8_t size;
	uint8_t access; /* offset */
	bool update, first;
};

static bool call_locks(void *context, const struct scan_site *call)
{
	assert_null(context);
	assert_int_equal(call->insn.flow, X86_FLOW_CALL);
	return call->insn.target == LOCK;
}

static bool is_first(const struct code *code)
{
	struct scan_site sites[MOST];
	struct vec insns = { sites, 0, MOST, sizeof(sites[0]) };
	struct decoder *decoder = NULL;
	bool first;

	assert_null(decoder_create(&decoder));
	for (size_t at = 0; at < code->size;) {
		struct scan_site *site = &sites[insns.count++];

		assert_true(insns.count <= MOST);
		site->address = START + at;
		decoder_decode(decoder, code->bytes + at, code->size - at,
			       site->address, &site->insn);
		assert_true(site->insn.length > 0);
		at += site->insn.length;
	}
	decoder_destroy(decoder);
	first = first_access(&insns, START + code->access, code->update,
			     &(struct first_locks){ .takes = call_locks });
	return first;
}

static const struct code all[] = {
	{ "mov (%rdi), %eax; ret", { 0x8b, 0x07, 0xc3 }, 3, 0, false, true },
	{ "mov 8(%rdi), %ecx; mov (%rdi), %eax; ret: another load before",
	  { 0x8b, 0x4f, 0x08, 0x8b, 0x07, 0xc3 },
	  6,
	  3,
	  false,
	  false },
	{ "mov (%rdi), %eax; mov %eax, 8(%rdi); ret: what is behind it",
	  { 0x8b, 0x07, 0x89, 0x47, 0x08, 0xc3 },
	  6,
	  0,
	  false,
	  true },
	{ "push %rbp; mov %rsp, %rbp; mov %rdi, -8(%rbp); mov -8(%rbp), %rax; "
	  "mov (%rax), %eax; pop %rbp; ret: its frame",
	  { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0x7d, 0xf8, 0x48, 0x8b, 0x45,
	    0xf8, 0x8b, 0x00, 0x5d, 0xc3 },
	  16,
	  12,
	  false,
	  true },
	{ "mov 8(%rbp), %eax; mov (%rdi), %eax; ret: rbp is a pointer",
	  { 0x8b, 0x45, 0x08, 0x8b, 0x07, 0xc3 },
	  6,
	  3,
	  false,
	  false },
	{ "mov %fs:0x28, %rax; mov (%rdi), %eax; ret: its thread's memory",
	  { 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0, 0x8b, 0x07, 0xc3 },
	  12,
	  9,
	  false,
	  true },
	{ "call 0x2000; mov (%rdi), %eax; ret",
	  { 0xe8, 0xfb, 0x0f, 0, 0, 0x8b, 0x07, 0xc3 },
	  8,
	  5,
	  false,
	  false },
	{ "call 0x3000; mov (%rdi), %eax; ret: the call takes a lock",
	  { 0xe8, 0xfb, 0x1f, 0, 0, 0x8b, 0x07, 0xc3 },
	  8,
	  5,
	  false,
	  true },
	{ "mov %ecx, 8(%rdi); call 0x3000; mov (%rdi), %eax; ret: a store before",
	  { 0x89, 0x4f, 0x08, 0xe8, 0xf8, 0x1f, 0, 0, 0x8b, 0x07, 0xc3 },
	  11,
	  8,
	  false,
	  false },
	{ "1: mov (%rdi), %eax; test %eax, %eax; je 1b; ret: a loop",
	  { 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xfa, 0xc3 },
	  7,
	  0,
	  false,
	  false },
	{ "mov (%rdi), %eax; 1: dec %eax; jne 1b; ret: a loop behind it",
	  { 0x8b, 0x07, 0xff, 0xc8, 0x75, 0xfc, 0xc3 },
	  7,
	  0,
	  false,
	  true },
	{ "mov (%rdi), %eax; jmp *%rax: it may lead anywhere",
	  { 0x8b, 0x07, 0xff, 0xe0 },
	  4,
	  0,
	  false,
	  false },
	{ "mov (%rdi), %eax; inc %eax; mov %eax, (%rdi); ret: an update's load",
	  { 0x8b, 0x07, 0xff, 0xc0, 0x89, 0x07, 0xc3 },
	  7,
	  4,
	  true,
	  true },
	{ "the same, of a store that is no update",
	  { 0x8b, 0x07, 0xff, 0xc0, 0x89, 0x07, 0xc3 },
	  7,
	  4,
	  false,
	  false },
	{ "mov 0x10(%rip), %eax; inc %eax; mov %eax, 8(%rip); ret: one place",
	  { 0x8b, 0x05, 0x10, 0, 0, 0, 0xff, 0xc0, 0x89, 0x05, 0x08, 0, 0, 0,
	    0xc3 },
	  15,
	  8,
	  true,
	  true },
	{ "mov 0x10(%rip), %eax; inc %eax; mov %eax, 16(%rip); ret: two",
	  { 0x8b, 0x05, 0x10, 0, 0, 0, 0xff, 0xc0, 0x89, 0x05, 0x10, 0, 0, 0,
	    0xc3 },
	  15,
	  8,
	  true,
	  false },
	{ "ret: there is no access", { 0xc3 }, 1, 5, false, false },
};

static void what_comes_before_decides(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (is_first(&all[i]) != all[i].first)
			fail_msg("%s", all[i].what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_before_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

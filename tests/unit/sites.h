/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions whose accesses lie at known addresses, and the sites that the
 * front end would make of them. Include once in a test, after tracee.h.
 */
#ifndef TESTS_UNIT_SITES_H
#define TESTS_UNIT_SITES_H

#include "wire/message.h"
#include "x86/decode.h"

/*
 * site_write: *rdi = rsi. site_read: rax = *rdi. site_add: *rdi += rsi, with
 * site_add_late in the middle of a longer instruction: behind its prefix.
 * site_far lies on the next page.
 */
extern const char site_write[], site_read[], site_add[], site_add_late[],
	site_far[], site_wide[];

__asm__(".text\n"
	".p2align 12\n"
	"do_write:\n\t"
	"nop\n"
	"site_write: movq %rsi, (%rdi)\n\t"
	"ret\n"
	"do_read:\n"
	"site_read: movq (%rdi), %rax\n\t"
	"ret\n"
	"do_add:\n"
	"site_add: .byte 0x3e\n"
	"site_add_late: addq %rsi, (%rdi)\n\t"
	"ret\n"
	"do_wide:\n"
	"site_wide: movups %xmm0, (%rdi)\n\t"
	"ret\n"
	".p2align 12\n"
	"do_far:\n"
	"site_far: movq %rsi, (%rdi)\n\t"
	"ret\n"
	".p2align 12\n"
	".byte 0\n");

void do_write(volatile uint64_t *word, uint64_t value);
uint64_t do_read(const volatile uint64_t *word);
void do_add(volatile uint64_t *word, uint64_t value);
void do_wide(volatile void *words);
void do_far(volatile uint64_t *word, uint64_t value);

static inline struct wire_site site_at(const char *label, uint64_t id)
{
	struct wire_site site = { .id = id, .address = (uintptr_t)label };
	struct decoder *decoder;

	assert_ok(decoder_create(&decoder));
	decoder_decode(decoder, (const uint8_t *)label, X86_INSN_MAX,
		       site.address, &site.insn);
	decoder_destroy(decoder);
	assert_int_equal(site.insn.operand_count, 1);
	memcpy(site.bytes, label, site.insn.length);
	return site;
}

#endif

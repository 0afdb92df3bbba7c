/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The vector instructions of src/x86/uses-*.c, one at a time, against the
 * processor: with random registers the emulator must make what the processor
 * makes. Then some bytes of the registers are asked about and changed: whatever
 * the processor makes otherwise must be marked. Of instructions that only move
 * bytes nothing else may be.
 */
#include "dataflow/uses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "dataflow/uses-parts.h"
#include "x86/decode.h"

enum { USED = 4, ROUNDS = 60 };
enum isa { SSE, AVX2, AVX512 };

/* What an instruction may change, and a place for its memory operand. */
struct machine {
	uint8_t reg[USED][X86_VECTOR_BYTES] __attribute__((aligned(64)));
	uint8_t memory[X86_VECTOR_BYTES] __attribute__((aligned(64)));
	uint64_t mask, rax;
};

/* The code of each follows the other, with ret. */
#define CODE(text_)                                                           \
	({                                                                    \
		const uint8_t *code_;                                         \
		__asm__("jmp 2f\n1:\t" text_ "\n\tret\n2:\tlea 1b(%%rip), %0" \
			: "=r"(code_));                                       \
		code_;                                                        \
	})

#define CLOBBERS "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc"

static void execute_256(const uint8_t *code, struct machine *machine)
{
	register uint64_t rax __asm__("rax") = machine->rax;

	__asm__ volatile("vmovdqu (%1), %%ymm0\n\tvmovdqu 64(%1), %%ymm1\n\t"
			 "vmovdqu 128(%1), %%ymm2\n\t"
			 "vmovdqu 192(%1), %%ymm3\n\t"
			 "lea -128(%%rsp), %%rsp\n\tcall *%2\n\t"
			 "lea 128(%%rsp), %%rsp\n\t"
			 "vmovdqu %%ymm0, (%1)\n\tvmovdqu %%ymm1, 64(%1)\n\t"
			 "vmovdqu %%ymm2, 128(%1)\n\t"
			 "vmovdqu %%ymm3, 192(%1)\n\tvzeroupper"
			 : "+r"(rax)
			 : "r"(machine->reg), "r"(code), "D"(machine->memory)
			 : CLOBBERS);
	machine->rax = rax;
}

static void execute_512(const uint8_t *code, struct machine *machine)
{
	register uint64_t rax __asm__("rax") = machine->rax;

	__asm__ volatile("vmovdqu64 (%1), %%zmm0\n\t"
			 "vmovdqu64 64(%1), %%zmm1\n\t"
			 "vmovdqu64 128(%1), %%zmm2\n\t"
			 "vmovdqu64 192(%1), %%zmm3\n\tkmovq (%4), %%k1\n\t"
			 "lea -128(%%rsp), %%rsp\n\tcall *%2\n\t"
			 "lea 128(%%rsp), %%rsp\n\t"
			 "vmovdqu64 %%zmm0, (%1)\n\t"
			 "vmovdqu64 %%zmm1, 64(%1)\n\t"
			 "vmovdqu64 %%zmm2, 128(%1)\n\t"
			 "vmovdqu64 %%zmm3, 192(%1)\n\tvzeroupper"
			 : "+r"(rax)
			 : "r"(machine->reg), "r"(code), "D"(machine->memory),
			   "r"(&machine->mask)
			 : CLOBBERS);
	machine->rax = rax;
}

static bool has_512(void)
{
	return __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vbmi");
}

static void execute(const uint8_t *code, struct machine *machine)
{
	if (has_512())
		execute_512(code, machine);
	else
		execute_256(code, machine);
}

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
	return own_code(context, address, bytes, size) == size;
}

/* By the emulator; bytes with a bit in `asked' are asked about. */
static void emulate(struct decoder *decoder, const uint8_t *code,
		    const struct machine *machine, const uint8_t asked[USED],
		    struct uses_run *run)
{
	static struct x86_registers regs;
	static struct x86_vectors vectors;
	static struct uses_thread thread = { .regs = &regs,
					     .vectors = &vectors,
					     .code = own_code,
					     .memory = own_memory };
	static struct uses_question question;
	static unsigned int steps;

	thread.decoder = decoder;
	regs.rip = question.address = (uintptr_t)code;
	regs.gpr[X86_RDI] = (uintptr_t)machine->memory;
	regs.gpr[X86_RAX] = machine->rax;
	vectors.known = true;
	memcpy(vectors.reg, machine->reg, sizeof(machine->reg));
	vectors.mask[1] = machine->mask;
	*run = (struct uses_run){ .thread = &thread,
				  .question = &question,
				  .steps = &steps };
	uses_begin(run);
	for (int i = 0; i < USED; i++) {
		for (int j = 0; j < X86_VECTOR_BYTES; j++) {
			if (!(asked[i] >> j % 8 & 1))
				continue;
			run->state.vectors[i].value[j] = 0;
			run->state.vectors[i].asked[j] = 0xff;
		}
	}
	while (!run->ended && *(const uint8_t *)run->state.rip != 0xc3)
		uses_execute(run);
}

struct row {
	const char *text;
	const uint8_t *code;
	enum isa isa;
	bool moves; /* it only moves bytes */
};

static void check_reg(const struct row *row, const struct vector *vector,
		      const uint8_t *seen, unsigned int size)
{
	for (unsigned int j = 0; j < size; j++) {
		uint8_t open = vector->asked[j] | vector->unknown[j];

		if ((seen[j] & (uint8_t)~open) != vector->value[j])
			fail_msg("%s: byte %u is %#x, not %#x but for %#x",
				 row->text, j, seen[j], vector->value[j], open);
	}
}

static void check_moved(const struct row *row, const struct vector *vector,
			const uint8_t *a, const uint8_t *b, unsigned int size)
{
	for (unsigned int j = 0; j < size; j++) {
		if ((vector->asked[j] != 0) != (a[j] != b[j]) ||
		    vector->unknown[j])
			fail_msg("%s: byte %u is asked about: %#x, unlike %#x",
				 row->text, j, vector->asked[j], a[j] ^ b[j]);
	}
}

static void check_rax(const struct row *row, const struct number *number,
		      uint64_t seen)
{
	if ((seen & ~(number->asked | number->unknown)) != number->value)
		fail_msg("%s: rax is %#lx, not %#lx", row->text,
			 (unsigned long)seen, (unsigned long)number->value);
}

static void check_once(struct decoder *decoder, const struct row *row,
		       struct rng *rng, bool asks)
{
	unsigned int size = has_512() ? 64 : 32;
	struct machine before, after, other;
	uint8_t asked[USED] = { 0 };
	static struct uses_run run;

	for (size_t i = 0; i < sizeof(before); i++)
		((uint8_t *)&before)[i] =
			(uint8_t)(rng_below(rng, 4) ? rng_below(rng, 256) : 0);
	for (int i = 0; asks && i < USED; i++)
		asked[i] = (uint8_t)rng_below(rng, 256);
	after = other = before;
	for (int i = 0; i < USED; i++) {
		for (int j = 0; j < X86_VECTOR_BYTES; j++) {
			if (asked[i] >> j % 8 & 1)
				other.reg[i][j] ^= 0xff;
		}
	}
	emulate(decoder, row->code, &before, asked, &run);
	if (run.ended)
		fail_msg("%s: not known", row->text);
	execute(row->code, &after);
	execute(row->code, &other);
	for (int i = 0; i < USED; i++) {
		check_reg(row, &run.state.vectors[i], after.reg[i], size);
		check_reg(row, &run.state.vectors[i], other.reg[i], size);
		if (row->moves)
			check_moved(row, &run.state.vectors[i], after.reg[i],
				    other.reg[i], size);
	}
	check_rax(row, &run.state.gpr[X86_RAX], after.rax);
	check_rax(row, &run.state.gpr[X86_RAX], other.rax);
}

#define MOVES(isa_, text_)                     \
	{                                      \
		text_, CODE(text_), isa_, true \
	}
#define MAKES(isa_, text_)                      \
	{                                       \
		text_, CODE(text_), isa_, false \
	}

static void check_rows(const struct row *rows, size_t count)
{
	struct decoder *decoder;
	struct rng rng;

	rng_init(&rng, 1);
	assert_null(decoder_create(&decoder));
	for (size_t i = 0; i < count; i++) {
		if (rows[i].isa == AVX512 && !has_512())
			continue;
		if (!__builtin_cpu_supports("avx2"))
			break;
		for (int round = 0; round < ROUNDS; round++)
			check_once(decoder, &rows[i], &rng, round % 2);
	}
	decoder_destroy(decoder);
}

static void moves_bytes(void **state)
{
	const struct row rows[] = {
		MOVES(SSE, "shufps $0x88, %%xmm1, %%xmm0"),
		MOVES(SSE, "shufps $0xdd, (%%rdi), %%xmm0"),
		MOVES(SSE, "shufpd $1, %%xmm1, %%xmm0"),
		MOVES(SSE, "unpcklps %%xmm1, %%xmm0"),
		MOVES(SSE, "unpckhpd %%xmm1, %%xmm0"),
		MOVES(SSE, "punpcklwd %%xmm1, %%xmm0"),
		MOVES(SSE, "punpckhdq %%xmm1, %%xmm0"),
		MOVES(SSE, "punpcklqdq %%xmm1, %%xmm0"),
		MOVES(SSE, "pshufd $0x4e, %%xmm1, %%xmm0"),
		MOVES(SSE, "pshuflw $0x1b, %%xmm1, %%xmm0"),
		MOVES(SSE, "pshufhw $0x93, %%xmm1, %%xmm0"),
		MOVES(SSE, "psrldq $5, %%xmm0"),
		MOVES(SSE, "pslldq $3, %%xmm0"),
		MOVES(SSE, "palignr $7, %%xmm1, %%xmm0"),
		MOVES(SSE, "movsd %%xmm1, %%xmm0"),
		MOVES(SSE, "movss %%xmm1, %%xmm0"),
		MOVES(SSE, "movss (%%rdi), %%xmm0"),
		MOVES(SSE, "movhlps %%xmm1, %%xmm0"),
		MOVES(SSE, "movlhps %%xmm1, %%xmm0"),
		MOVES(SSE, "movddup %%xmm1, %%xmm0"),
		MOVES(SSE, "movddup (%%rdi), %%xmm0"),
		MOVES(SSE, "movsldup %%xmm1, %%xmm0"),
		MOVES(SSE, "movshdup %%xmm1, %%xmm0"),
		MOVES(SSE, "blendps $5, %%xmm1, %%xmm0"),
		MOVES(SSE, "pblendw $0x5a, %%xmm1, %%xmm0"),
		MOVES(SSE, "insertps $0x92, %%xmm1, %%xmm0"),
		MOVES(SSE, "insertps $0x21, (%%rdi), %%xmm0"),
		MOVES(SSE, "pinsrb $3, %%eax, %%xmm0"),
		MOVES(SSE, "pinsrw $5, %%eax, %%xmm0"),
		MOVES(SSE, "pinsrq $1, %%rax, %%xmm0"),
		MOVES(SSE, "pinsrd $2, (%%rdi), %%xmm0"),
		MOVES(SSE, "pmovzxbd %%xmm1, %%xmm0"),
		MOVES(AVX2, "vmovsd %%xmm2, %%xmm1, %%xmm0"),
		MOVES(AVX2, "vmovss %%xmm2, %%xmm1, %%xmm0"),
		MOVES(AVX2, "vmovsd (%%rdi), %%xmm0"),
		MOVES(AVX2, "vpmovzxwq (%%rdi), %%ymm0"),
		MOVES(AVX2, "vbroadcastsd (%%rdi), %%ymm0"),
		MOVES(AVX2, "vbroadcastf128 (%%rdi), %%ymm0"),
		MOVES(AVX2, "vpblendd $0xa5, %%ymm2, %%ymm1, %%ymm0"),
		MOVES(AVX2, "vpblendw $0xa5, %%ymm2, %%ymm1, %%ymm0"),
		MOVES(AVX2, "vblendpd $5, %%ymm2, %%ymm1, %%ymm0"),
		MOVES(AVX2, "vshufps $0x88, %%ymm2, %%ymm1, %%ymm0"),
		MOVES(AVX2, "vshufpd $6, %%ymm2, %%ymm1, %%ymm0"),
		MOVES(AVX2, "vpermq $0xd8, %%ymm1, %%ymm0"),
		MOVES(AVX2, "vpermpd $0x1b, (%%rdi), %%ymm0"),
		MOVES(AVX2, "vpermilps $0xb1, %%ymm1, %%ymm0"),
		MOVES(AVX2, "vpermilpd $5, %%ymm1, %%ymm0"),
		MOVES(AVX2, "vperm2i128 $0x21, %%ymm2, %%ymm1, %%ymm0"),
		MOVES(AVX2, "vperm2f128 $0x83, %%ymm2, %%ymm1, %%ymm0"),
		MOVES(AVX2, "vextracti128 $1, %%ymm1, %%xmm0"),
		MOVES(AVX2, "vextractf128 $0, %%ymm1, %%xmm0"),
		MOVES(AVX2, "vinserti128 $1, %%xmm2, %%ymm1, %%ymm0"),
		MOVES(AVX2, "vpsrldq $9, %%ymm1, %%ymm0"),
		MOVES(AVX2, "vpalignr $20, %%ymm2, %%ymm1, %%ymm0"),
		MOVES(AVX512, "vmovsd %%xmm2, %%xmm1, %%xmm0%{%%k1%}"),
		MOVES(AVX512, "vmovss %%xmm2, %%xmm1, %%xmm0%{%%k1%}%{z%}"),
		MOVES(AVX512, "vmovsd (%%rdi), %%xmm0%{%%k1%}"),
		MOVES(AVX512, "vmovss (%%rdi), %%xmm0%{%%k1%}%{z%}"),
		MOVES(AVX512, "valignd $5, %%zmm2, %%zmm1, %%zmm0"),
		MOVES(AVX512, "valignq $3, %%ymm2, %%ymm1, %%ymm0"),
		MOVES(AVX512, "vshufi32x4 $0xb1, %%zmm2, %%zmm1, %%zmm0"),
		MOVES(AVX512, "vshuff64x2 $2, %%ymm2, %%ymm1, %%ymm0"),
		MOVES(AVX512, "vextracti64x4 $1, %%zmm1, %%ymm0"),
		MOVES(AVX512, "vextractf32x4 $3, %%zmm1, %%xmm0"),
		MOVES(AVX512, "vinserti64x2 $2, %%xmm2, %%zmm1, %%zmm0"),
		MOVES(AVX512, "vshufps $0x88, %%zmm2, %%zmm1, %%zmm0%{%%k1%}"),
		MOVES(AVX512, "vbroadcastf64x4 (%%rdi), %%zmm0%{%%k1%}"),
		MOVES(AVX512, "vbroadcastf32x4 (%%rdi), %%zmm0%{%%k1%}%{z%}"),
		MOVES(AVX512, "vbroadcastsd (%%rdi), %%zmm0%{%%k1%}"),
		MOVES(AVX512, "vpshuflw $9, %%zmm1, %%zmm0%{%%k1%}%{z%}"),
		MOVES(AVX512, "vpmovdw %%zmm1, %%ymm0"),
		MOVES(AVX512, "vpmovwb %%ymm1, %%xmm0"),
	};

	(void)state;
	check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void makes_values(void **state)
{
	const struct row rows[] = {
		MAKES(SSE, "pcmpgtq %%xmm1, %%xmm0"),
		MAKES(AVX2, "vpcmpgtq (%%rdi), %%ymm1, %%ymm0"),
		MAKES(AVX512, "vpcmpgtq %%zmm2, %%zmm1, %%k1"),
		MAKES(SSE, "pshufb %%xmm1, %%xmm0"),
		MAKES(SSE, "pshufb (%%rdi), %%xmm0"),
		MAKES(SSE, "packuswb %%xmm1, %%xmm0"),
		MAKES(SSE, "packsswb %%xmm1, %%xmm0"),
		MAKES(SSE, "packssdw %%xmm1, %%xmm0"),
		MAKES(SSE, "packusdw %%xmm1, %%xmm0"),
		MAKES(SSE, "psrlw $8, %%xmm0"),
		MAKES(SSE, "psrad $31, %%xmm0"),
		MAKES(SSE, "psllq $32, %%xmm0"),
		MAKES(SSE, "psrlq %%xmm1, %%xmm0"),
		MAKES(SSE, "psraw (%%rdi), %%xmm0"),
		MAKES(SSE, "pmullw %%xmm1, %%xmm0"),
		MAKES(SSE, "pmuludq %%xmm1, %%xmm0"),
		MAKES(SSE, "pmaddwd %%xmm1, %%xmm0"),
		MAKES(SSE, "psadbw %%xmm1, %%xmm0"),
		MAKES(SSE, "addps %%xmm1, %%xmm0"),
		MAKES(SSE, "mulpd (%%rdi), %%xmm0"),
		MAKES(SSE, "mulss %%xmm1, %%xmm0"),
		MAKES(SSE, "addsd (%%rdi), %%xmm0"),
		MAKES(SSE, "sqrtss %%xmm1, %%xmm0"),
		MAKES(SSE, "cmpltps %%xmm1, %%xmm0"),
		MAKES(SSE, "pmovsxbw %%xmm1, %%xmm0"),
		MAKES(SSE, "pblendvb %%xmm0, %%xmm2, %%xmm1"),
		MAKES(SSE, "blendvpd %%xmm0, (%%rdi), %%xmm1"),
		MAKES(SSE, "pextrb $5, %%xmm1, %%eax"),
		MAKES(SSE, "pextrw $2, %%xmm1, %%eax"),
		MAKES(SSE, "pextrq $1, %%xmm1, %%rax"),
		MAKES(SSE, "extractps $3, %%xmm1, %%eax"),
		MAKES(SSE, "cvttss2si %%xmm1, %%eax"),
		MAKES(SSE, "cvtsd2si (%%rdi), %%rax"),
		MAKES(SSE,
		      "xor %%eax, %%eax\n\tucomisd %%xmm1, %%xmm0\n\tseta %%al"),
		MAKES(AVX2, "vpermd %%ymm2, %%ymm1, %%ymm0"),
		MAKES(AVX2, "vpermps (%%rdi), %%ymm1, %%ymm0"),
		MAKES(AVX2, "vpermilps %%ymm2, %%ymm1, %%ymm0"),
		MAKES(AVX2, "vpermilpd %%ymm2, %%ymm1, %%ymm0"),
		MAKES(AVX2, "vpackuswb %%ymm2, %%ymm1, %%ymm0"),
		MAKES(AVX2, "vpsrlq $32, %%ymm1, %%ymm0"),
		MAKES(AVX2, "vpsrlvd %%ymm2, %%ymm1, %%ymm0"),
		MAKES(AVX2, "vpsllvq %%ymm2, %%ymm1, %%ymm0"),
		MAKES(AVX2, "vpmulld %%ymm2, %%ymm1, %%ymm0"),
		MAKES(AVX2, "vphaddd %%ymm2, %%ymm1, %%ymm0"),
		MAKES(AVX2, "vblendvps %%ymm3, %%ymm2, %%ymm1, %%ymm0"),
		MAKES(AVX2, "vpblendvb %%ymm3, (%%rdi), %%ymm1, %%ymm0"),
		MAKES(AVX2, "vmulpd %%ymm2, %%ymm1, %%ymm0"),
		MAKES(AVX2, "vsubsd %%xmm2, %%xmm1, %%xmm0"),
		MAKES(AVX2, "vpmovsxwd %%xmm1, %%ymm0"),
		MAKES(AVX512, "vpermd %%zmm2, %%zmm1, %%zmm0"),
		MAKES(AVX512, "vpermb %%ymm2, %%ymm1, %%ymm0"),
		MAKES(AVX512, "vpermw %%zmm2, %%zmm1, %%zmm0%{%%k1%}"),
		MAKES(AVX512, "vpermt2d %%zmm2, %%zmm1, %%zmm0"),
		MAKES(AVX512, "vpermi2w (%%rdi), %%ymm1, %%ymm0"),
		MAKES(AVX512, "vpermt2q %%ymm2, %%ymm1, %%ymm0%{%%k1%}%{z%}"),
		MAKES(AVX512, "vpermi2ps %%zmm2, %%zmm1, %%zmm0"),
		MAKES(AVX512, "vpsraq $40, %%zmm1, %%zmm0"),
		MAKES(AVX512, "vpsrld $4, (%%rdi), %%ymm0%{%%k1%}"),
		MAKES(AVX512, "vpmullq %%zmm2, %%zmm1, %%zmm0"),
		MAKES(AVX512, "vmulps (%%rdi)%{1to16%}, %%zmm1, %%zmm0"),
		MAKES(AVX512, "vpmovusqd %%zmm1, %%ymm0"),
	};

	(void)state;
	check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Is byte i of what the mask selects used by what follows the load? */
static enum uses_answer answer_of_masked(struct decoder *decoder, int i)
{
	/* of the 64 bytes 16 to 19 are used */
	const uint8_t *code = CODE("vmovdqu8 (%%rdi), %%zmm0%{%%k1%}%{z%}\n\t"
				   "vextracti32x4 $1, %%zmm0, %%xmm0\n\t"
				   "vmovd %%xmm0, %%eax\n\t"
				   "vpxor %%xmm0, %%xmm0, %%xmm0");
	static struct machine machine;
	struct x86_registers regs = { .rip = (uintptr_t)code };
	struct x86_vectors vectors = { .known = true };
	struct uses_thread thread = { .decoder = decoder,
				      .regs = &regs,
				      .vectors = &vectors,
				      .code = own_code,
				      .memory = own_memory };
	struct uses_question question = {
		.address = (uintptr_t)code,
		.done = true,
		.asked = UINT64_C(1) << i,
	};
	uint64_t selected;

	regs.gpr[X86_RDI] = (uintptr_t)machine.memory;
	vectors.mask[1] = ~UINT64_C(0xffff);
	assert_true(uses_masked(&thread, question.address, &question.access,
				&selected));
	assert_int_equal(question.access.address,
			 (uintptr_t)machine.memory + 16);
	return uses_find(&thread, &question, NULL);
}

static void masked_load_begins_where_its_mask_does(void **state)
{
	struct decoder *decoder;

	(void)state;
	assert_null(decoder_create(&decoder));
	assert_int_equal(answer_of_masked(decoder, 0), USES_SOME);
	assert_int_equal(answer_of_masked(decoder, 3), USES_SOME);
	assert_int_equal(answer_of_masked(decoder, 4), USES_NONE);
	assert_int_equal(answer_of_masked(decoder, 20), USES_NONE);
	decoder_destroy(decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(masked_load_begins_where_its_mask_does),
		cmocka_unit_test(moves_bytes),
		cmocka_unit_test(makes_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

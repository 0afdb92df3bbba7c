/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/dataflow/uses-before.c: an instruction that has overwritten what it was told
 * is asked about the bytes that it loaded. And src/dataflow/uses-ways.c: what of a
 * vector register a caller takes.
 */
#include "dataflow/uses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "x86/decode.h"

/* A function from NAME to NAME_end, which asks of the load at NAME_load. */
#define CODE(name_, before_, load_, behind_)                                \
	extern const uint8_t name_[], name_##_load[], name_##_end[];        \
	__asm__(".pushsection .rodata\n" #name_ ":\n\t" before_ "\n" #name_ \
		"_load:\n\t" load_ "\n\t" behind_ "\n" #name_               \
		"_end:\n\t.popsection")

CODE(copied, "movdqa %xmm3, %xmm0", "pand (%rdi), %xmm0",
     "movdqa %xmm0, (%rdi)\n\tret");
CODE(constant, "mov $0xff, %eax\n\tmovd %eax, %xmm0", "pand (%rdi), %xmm0",
     "movdqa %xmm0, (%rdi)\n\tret");
/* the mask is another one each time but the first */
CODE(looped, "movdqa %xmm3, %xmm0\n1:", "pand (%rdi), %xmm0",
     "movdqa %xmm0, (%rdi)\n\tdec %ecx\n\tjne 1b\n\tret");
/* what is not executed before it tells nothing */
CODE(jumped, "jmp 1f\n\tmovdqa %xmm3, %xmm0\n1:", "pand (%rdi), %xmm0",
     "movdqa %xmm0, (%rdi)\n\tret");
/* of what a branch leads over, its end counts, and what it leaves alone */
CODE(skipped,
     "movdqa %xmm3, %xmm0\n\ttest %ecx, %ecx; je 1f\n\tmov $1, %eax\n1:",
     "pand (%rdi), %xmm0", "movdqa %xmm0, (%rdi)\n\tret");
CODE(skipped_mask, "movdqa %xmm3, %xmm0; je 1f\n\tmovdqa %xmm2, %xmm0\n1:",
     "pand (%rdi), %xmm0", "movdqa %xmm0, (%rdi)\n\tret");
CODE(skipped_store, "movdqa %xmm3, %xmm0; je 1f\n\tmovdqa %xmm2, (%rsi)\n1:",
     "pand (%rdi), %xmm0", "movdqa %xmm0, (%rdi)\n\tret");
/* a branch that was not taken leaves all */
CODE(passed, "movdqa %xmm3, %xmm0\n\ttest %ecx, %ecx; jne 1f",
     "pand (%rdi), %xmm0", "movdqa %xmm0, (%rdi)\n1:\tret");
/* two branches lead to either end */
CODE(joined, "jne 1f\n\tmovdqa %xmm3, %xmm0; je 1f\n\tmov $1, %eax\n1:",
     "pand (%rdi), %xmm0", "movdqa %xmm0, (%rdi)\n\tret");
CODE(entered, "jne 2f\n\tmovdqa %xmm3, %xmm0; je 1f\n2:\tmov $1, %eax\n1:",
     "pand (%rdi), %xmm0", "movdqa %xmm0, (%rdi)\n\tret");
/* nor does an instruction that is not known here */
CODE(strange, "movdqa %xmm3, %xmm0\n\taesenc %xmm1, %xmm0",
     "pand (%rdi), %xmm0", "movdqa %xmm0, (%rdi)\n\tret");
CODE(summed, "nop", "movdqu (%rdi), %xmm0", "movd %xmm0, %eax\n\tret");
CODE(caller, "nop", "add %eax, %ebx", "pxor %xmm0, %xmm0\n\tret");
CODE(taker, "nop", "movdqa %xmm0, (%rdi)", "ret");
CODE(keeper, "nop", "movdqa %xmm0, %xmm2", "ret");
CODE(forwarder, "nop", "add $8, %rsp", "ret");

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

static uint8_t data[X86_VECTOR_BYTES] __attribute__((aligned(64)));

/* A thread with 8 bytes of ones in xmm3, and return addresses on its stack. */
struct asked {
	const uint8_t *code, *load, *end;
	const uint8_t *returns[3];
	bool done, vectors;
	uint64_t bytes;
};

static enum uses_answer answer_to(const struct asked *asked)
{
	struct x86_registers regs = { .rip = (uintptr_t)asked->load };
	struct x86_vectors vectors = { .known = asked->vectors };
	struct uses_thread thread = {
		.regs = &regs,
		.vectors = &vectors,
		.code = own_code,
		.memory = own_memory,
		.body = asked->code,
		.body_size = (size_t)(asked->end - asked->code),
		.body_start = (uintptr_t)asked->code,
	};
	struct uses_question question = {
		.address = (uintptr_t)asked->load,
		.done = asked->done,
		.access = { .kind = ACCESS_READ,
			    .address = (uintptr_t)data,
			    .size = 16 },
		.asked = asked->bytes,
	};
	enum uses_answer answer;

	memset(data, 0x55, sizeof(data));
	memcpy(question.bytes, data, 16);
	regs.gpr[X86_RDI] = (uintptr_t)data;
	regs.gpr[X86_RSP] = (uintptr_t)asked->returns;
	memset(vectors.reg[3], 0xff, 8);
	/* as the instruction left it */
	memset(vectors.reg[0], 0x55, 8);
	assert_null(decoder_create(&thread.decoder));
	answer = uses_find(&thread, &question, NULL);
	decoder_destroy(thread.decoder);
	return answer;
}

#define ASKED(name_) .code = (name_), .load = name_##_load, .end = name_##_end

static void a_copied_mask_is_found(void **state)
{
	struct asked asked = { ASKED(copied), .done = true, .vectors = true };

	(void)state;
	asked.bytes = 0xff00;
	assert_int_equal(answer_to(&asked), USES_NONE);
	asked.bytes = 0x0080;
	assert_int_equal(answer_to(&asked), USES_SOME);
}

static void a_constant_is_found_without_the_registers(void **state)
{
	struct asked asked = { ASKED(constant), .done = true };

	(void)state;
	asked.bytes = 0xfffe;
	assert_int_equal(answer_to(&asked), USES_NONE);
	asked.bytes = 0x0001;
	assert_int_not_equal(answer_to(&asked), USES_NONE);
}

static void branches_leave_the_mask(void **state)
{
	struct asked all[] = { { ASKED(skipped) }, { ASKED(passed) } };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		all[i].done = all[i].vectors = true;
		all[i].bytes = 0xff00;
		assert_int_equal(answer_to(&all[i]), USES_NONE);
		all[i].bytes = 0x0080;
		assert_int_equal(answer_to(&all[i]), USES_SOME);
	}
}

static void code_that_may_not_have_run_tells_nothing(void **state)
{
	struct asked all[] = {
		{ ASKED(looped) },	  { ASKED(jumped) },
		{ ASKED(strange) },	  { ASKED(skipped_mask) },
		{ ASKED(skipped_store) }, { ASKED(joined) },
		{ ASKED(entered) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		all[i].done = all[i].vectors = true;
		all[i].bytes = 0xff00;
		assert_int_not_equal(answer_to(&all[i]), USES_NONE);
	}
}

/* The registers were not left by this code: xmm0 is not what it makes. */
static void what_does_not_fit_is_not_believed(void **state)
{
	struct asked asked = { ASKED(constant), .done = true, .vectors = true };

	(void)state;
	asked.bytes = 0xfff0;
	assert_int_not_equal(answer_to(&asked), USES_NONE);
}

static void a_sum_leaves_its_parts_behind_the_result(void **state)
{
	struct asked asked = { ASKED(summed), .vectors = true };

	(void)state;
	asked.bytes = 0xff00;
	asked.returns[0] = caller_load;
	assert_int_equal(answer_to(&asked), USES_NONE);
	/* by way of another one, which returns what it was given */
	asked.returns[0] = forwarder_load;
	asked.returns[2] = caller_load;
	assert_int_equal(answer_to(&asked), USES_NONE);
	asked.bytes = 0x00f0;
	assert_int_equal(answer_to(&asked), USES_SOME);
}

static void a_vector_that_is_returned_is_used(void **state)
{
	struct asked asked = { ASKED(summed), .vectors = true };

	(void)state;
	asked.bytes = 0xff00;
	asked.returns[0] = taker_load;
	assert_int_equal(answer_to(&asked), USES_SOME);
	asked.returns[0] = keeper_load;
	assert_int_equal(answer_to(&asked), USES_SOME);
	asked.returns[0] = forwarder_load;
	asked.returns[2] = taker_load;
	assert_int_equal(answer_to(&asked), USES_SOME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copied_mask_is_found),
		cmocka_unit_test(a_constant_is_found_without_the_registers),
		cmocka_unit_test(branches_leave_the_mask),
		cmocka_unit_test(code_that_may_not_have_run_tells_nothing),
		cmocka_unit_test(what_does_not_fit_is_not_believed),
		cmocka_unit_test(a_sum_leaves_its_parts_behind_the_result),
		cmocka_unit_test(a_vector_that_is_returned_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

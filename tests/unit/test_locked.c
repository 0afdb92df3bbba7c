/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/conflict/locked.c: which variables of this program are locked somewhere. */
#include "conflict/locked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/error.h"
#include "image/elftext.h"
#include "x86/decode.h"

/*
 * Functions that are never called, as compilers write them; the variables are
 * this program's own.
 */
__asm__(".pushsection .bss\n"
	".balign 8\n"
	".globl by_exchange, by_compare, by_add, plain, pointed_to, wide\n"
	".globl tested, printed, counted\n"
	".globl features, number, mixed, set_too, passed, unasked\n"
	"by_exchange: .zero 8\n"
	"by_compare: .zero 8\n"
	"by_add: .zero 8\n"
	"plain: .zero 8\n"
	"pointed_to: .zero 8\n"
	"wide: .zero 8\n"
	"tested: .zero 8\n"
	"printed: .zero 8\n"
	"counted: .zero 8\n"
	"features: .zero 8\n"
	"number: .zero 8\n"
	"mixed: .zero 8\n"
	"set_too: .zero 8\n"
	"passed: .zero 8\n"
	"unasked: .zero 8\n"
	".popsection\n"
	".pushsection .text\n"
	".type locking, @function\n"
	"locking:\n"
	"	xchgl %eax, by_exchange(%rip)\n"
	"	lock cmpxchgq %rcx, by_compare(%rip)\n"
	"	lock addl $1000000, by_add(%rip)\n"
	"	movq %rax, plain(%rip)\n"
	"	addl $1, plain(%rip)\n"
	"	leaq pointed_to(%rip), %rdi\n"
	"	lock incq (%rdi)\n"
	"	xchgq %rax, wide(%rip)\n"
	"	ret\n"
	".size locking, . - locking\n"
	".type deciding, @function\n"
	"deciding:\n"
	"	addq $1, tested(%rip)\n"
	"	addq $1, printed(%rip)\n"
	"	addq $1, counted(%rip)\n"
	"	movq printed(%rip), %rdi\n"
	"	call locking\n"
	"	movq tested(%rip), %rax\n"
	"	cmpq wide(%rip), %rax\n"
	"	je 1f\n"
	"	nop\n"
	"1:	ret\n"
	".size deciding, . - deciding\n"
	".type asking, @function\n"
	"asking:\n"
	"	pushq %rbx\n"
	"	movq %rdi, -8(%rsp)\n"
	"	movl $1, %eax\n"
	"	cpuid\n"
	"	movl -8(%rsp), %ebx\n"
	"	movq %rdx, features(%rip)\n"
	"	movq $1, number(%rip)\n"
	"	movq %rdx, set_too(%rip)\n"
	"	movq %rdx, passed(%rip)\n"
	"	movq counted(%rip), %rdx\n"
	"	movq %rdx, mixed(%rip)\n"
	"	popq %rbx\n"
	"	ret\n"
	".size asking, . - asking\n"
	".type using, @function\n"
	"using:\n"
	"	movq %rdx, unasked(%rip)\n"
	"	movq features(%rip), %rax\n"
	"	movq number(%rip), %rax\n"
	"	movq mixed(%rip), %rax\n"
	"	movq set_too(%rip), %rax\n"
	"	movq %rdx, set_too(%rip)\n"
	"	movq passed(%rip), %rax\n"
	"	leaq passed(%rip), %rdi\n"
	"	ret\n"
	".size using, . - using\n"
	".popsection\n");
extern const char by_exchange[], by_compare[], by_add[], plain[], pointed_to[],
	wide[], tested[], printed[], counted[], features[], number[], mixed[],
	set_too[], passed[], unasked[];

struct file {
	struct decoder *decoder;
	struct elftext *text;
	uint64_t bias;
};

/* Where the linker has put the ELF header: what the file's addresses lack. */
extern const char __ehdr_start[];

static int set_up(void **state)
{
	struct file *file = calloc(1, sizeof(*file));
	uint64_t end;

	assert_non_null(file);
	assert_null(decoder_create(&file->decoder));
	assert_null(elftext_open("/proc/self/exe", "this", &file->text));
	elftext_extent(file->text, &file->bias, &end);
	file->bias = (uint64_t)(uintptr_t)__ehdr_start - file->bias;
	*state = file;
	return 0;
}

static int tear_down(void **state)
{
	struct file *file = *state;

	decoder_destroy(file->decoder);
	elftext_close(file->text);
	free(file);
	return 0;
}

static enum locked locked(const struct file *file, const char *variable,
			  uint32_t size)
{
	return locked_elsewhere(file->decoder, file->text,
				(uint64_t)(uintptr_t)variable - file->bias,
				size);
}

static void finds_locked_instructions(void **state)
{
	assert_int_equal(locked(*state, by_exchange, 4), LOCKED_CHANGED);
	assert_int_equal(locked(*state, by_compare, 8), LOCKED_CHANGED);
	/* a long immediate follows the address */
	assert_int_equal(locked(*state, by_add, 4), LOCKED_ADDED);
}

static void plain_accesses_are_none(void **state)
{
	assert_int_equal(locked(*state, plain, 8), LOCKED_NOWHERE);
	assert_int_equal(locked(*state, plain, 4), LOCKED_NOWHERE);
}

static void wants_just_the_bytes(void **state)
{
	assert_int_equal(locked(*state, wide, 8), LOCKED_CHANGED);
	assert_int_equal(locked(*state, wide, 4), LOCKED_NOWHERE);
	assert_int_equal(locked(*state, wide + 4, 4), LOCKED_NOWHERE);
	assert_int_equal(locked(*state, by_exchange + 4, 4), LOCKED_NOWHERE);
}

static void follows_no_pointers(void **state)
{
	assert_int_equal(locked(*state, pointed_to, 8), LOCKED_NOWHERE);
}

static bool decided(const struct file *file, const char *variable,
		    uint32_t size)
{
	return decided_elsewhere(file->decoder, file->text,
				 (uint64_t)(uintptr_t)variable - file->bias,
				 size);
}

static void finds_what_decides(void **state)
{
	assert_true(decided(*state, tested, 8));
	assert_false(decided(*state, tested, 4));
	assert_false(decided(*state, printed, 8));
	assert_false(decided(*state, counted, 8));
}

/* Not named in the code of the test, which would take their addresses. */
static const char *volatile const answers[] = { features, number, mixed,
						set_too,  passed, unasked };
enum { FEATURES, NUMBER, MIXED, SET_TOO, PASSED, UNASKED };

static bool asked(const struct file *file, int variable, uint32_t size)
{
	return processor_elsewhere(
		file->decoder, file->text,
		(uint64_t)(uintptr_t)answers[variable] - file->bias, size);
}

static void finds_what_the_processor_says(void **state)
{
	assert_true(asked(*state, FEATURES, 8));
	assert_false(asked(*state, FEATURES, 4));
	assert_false(asked(*state, NUMBER, 8));
	/* made of something else, too */
	assert_false(asked(*state, MIXED, 8));
	assert_false(asked(*state, SET_TOO, 8));
	/* somebody else may store it, by its address */
	assert_false(asked(*state, PASSED, 8));
	assert_false(asked(*state, UNASKED, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_locked_instructions),
		cmocka_unit_test(plain_accesses_are_none),
		cmocka_unit_test(wants_just_the_bytes),
		cmocka_unit_test(follows_no_pointers),
		cmocka_unit_test(finds_what_decides),
		cmocka_unit_test(finds_what_the_processor_says),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

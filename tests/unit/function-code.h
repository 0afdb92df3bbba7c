/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions in assembler to look at, for the tests of src/dataflow/lockset.h and of
 * what else looks at a function's code: the calls that they make, a decoder for
 * each group of tests.
 */
#ifndef TESTS_FUNCTION_CODE_H
#define TESTS_FUNCTION_CODE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dataflow/lockset.h"
#include "x86/access.h"
#include "x86/decode.h"

/*
 * Code that is never run: from NAME_start to NAME_end; the access is at
 * NAME_here. It calls the stubs below.
 */
#define CODE(name, text)                                                  \
	extern const uint8_t name##_start[], name##_here[], name##_end[]; \
	__asm__(".pushsection .text\n" #name "_start:\n" text "\n" #name  \
		"_end:\n"                                                 \
		".popsection\n")
#define HERE(name) "\n" #name "_here: "

extern const uint8_t stub_lock[], stub_unlock[], stub_other[];
__asm__(".pushsection .text\n"
	"stub_lock: ret\n"
	"stub_unlock: ret\n"
	"stub_other: ret\n"
	".popsection\n");

static uint64_t at(const uint8_t *code)
{
	return (uint64_t)(uintptr_t)code;
}

static inline enum lock_call calls(void *context, uint64_t address,
				   const struct insn_access *insn)
{
	(void)context;
	(void)address;
	if (insn->target == at(stub_lock))
		return LOCK_CALL_LOCK;
	return insn->target == at(stub_unlock) ? LOCK_CALL_UNLOCK
					       : LOCK_CALL_OTHER;
}

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

static inline struct function_code code_of(void **state, const uint8_t *start,
					   const uint8_t *end)
{
	return (struct function_code){ .decoder = *state,
				       .bytes = start,
				       .size = (size_t)(end - start),
				       .start = at(start),
				       .call = calls };
}

#define WHOLE(state, name)          \
	(&(struct function_code[]){ \
		code_of(state, name##_start, name##_end) }[0])

#endif

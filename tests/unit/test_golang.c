/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/sampling/golang.c: names of the runtime's, and reads of no value. */
#include "sampling/golang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void knows_the_runtime(void **state)
{
	(void)state;
	assert_true(go_runtime_name("runtime.preemptone"));
	assert_true(go_runtime_name("runtime.(*mheap).allocSpan"));
	assert_true(go_runtime_name("runtime/internal/atomic.Store"));
	assert_true(go_runtime_name("sync.(*Mutex).lockSlow"));
}

static void the_programs_own_accesses_are_not_it(void **state)
{
	(void)state;
	assert_false(go_runtime_name("runtime.mapassign_fast64"));
	assert_false(go_runtime_name("runtime.memmove"));
	assert_false(go_runtime_name("runtime.growslice"));
	assert_false(go_runtime_name("main.main.func1"));
	assert_false(go_runtime_name("runtime_init"));
	assert_false(go_runtime_name("syncer.run"));
	/* of C functions */
	assert_false(go_runtime_name("sync.part.0"));
	assert_false(go_runtime_name("runtime.constprop.1"));
	assert_false(go_runtime_name("sync.1"));
	assert_false(go_runtime_name(NULL));
}

#define NIL_CHECK(...)                                 \
	go_nil_check((const uint8_t[]){ __VA_ARGS__ }, \
		     sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void a_nil_check_uses_nothing(void **state)
{
	(void)state;
	assert_true(NIL_CHECK(0x84, 0x00, 0x48, 0x83, 0xc0, 0x08));
	/* (%r8); call */
	assert_true(NIL_CHECK(0x41, 0x84, 0x00, 0xe8, 0, 0, 0, 0));
	/* (%r12); mov */
	assert_true(NIL_CHECK(0x41, 0x84, 0x04, 0x24, 0x48, 0x89, 0xc3));
	assert_true(NIL_CHECK(0x84, 0x01, 0xc3));
}

static void a_test_is_none(void **state)
{
	(void)state;
	/* je; near je; sete; cmove; adc */
	assert_false(NIL_CHECK(0x84, 0x00, 0x74, 0x10));
	assert_false(NIL_CHECK(0x84, 0x00, 0x0f, 0x84, 0, 0, 0, 0));
	assert_false(NIL_CHECK(0x84, 0x00, 0x0f, 0x94, 0xc0));
	assert_false(NIL_CHECK(0x84, 0x00, 0x48, 0x0f, 0x44, 0xc1));
	/* cl; 8(%rax); testl; (%rax,%rcx) */
	assert_false(NIL_CHECK(0x84, 0x08, 0x90, 0x90));
	assert_false(NIL_CHECK(0x84, 0x40, 0x08, 0x90));
	assert_false(NIL_CHECK(0x85, 0x00, 0x90, 0x90));
	assert_false(NIL_CHECK(0x84, 0x04, 0x08, 0x90));
	/* cut off */
	assert_false(NIL_CHECK(0x84, 0x00));
	assert_false(NIL_CHECK(0x41));
}

static bool stack_check(const uint8_t *bytes, size_t size, size_t at)
{
	return go_stack_check(bytes, size, at);
}

static void a_stack_check_has_the_stack_pointer(void **state)
{
	static const uint8_t plain[] = { 0x49, 0x3b, 0x66, 0x10, 0x76, 0x20 };
	static const uint8_t near[] = { 0x4c, 0x8d, 0x64, 0x24, 0xf0,
					0x4d, 0x3b, 0x66, 0x10 };
	static const uint8_t other[] = { 0x49, 0x3b, 0x66, 0x18, 0x76, 0x20 };

	(void)state;
	assert_true(stack_check(plain, sizeof(plain), 0));
	assert_true(stack_check(near, sizeof(near), 5));
	/* r12 may be anything without what is before */
	assert_false(stack_check(near + 5, sizeof(near) - 5, 0));
	assert_false(stack_check(other, sizeof(other), 0));
	assert_false(stack_check(plain, 3, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_runtime),
		cmocka_unit_test(the_programs_own_accesses_are_not_it),
		cmocka_unit_test(a_nil_check_uses_nothing),
		cmocka_unit_test(a_test_is_none),
		cmocka_unit_test(a_stack_check_has_the_stack_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

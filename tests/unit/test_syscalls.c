/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/syscalls.c: names, against the system's own numbers. */
#include "base/syscalls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <sys/syscall.h>

static void names_follow_the_numbers(void **state)
{
	static const struct {
		int number;
		const char *name;
	} cases[] = {
		{ SYS_read, "read" },
		{ SYS_write, "write" },
		{ SYS_rt_sigreturn, "rt_sigreturn" },
		{ SYS_clone, "clone" },
		{ SYS_exit_group, "exit_group" },
		{ SYS_futex, "futex" },
		{ SYS_recvfrom, "recvfrom" },
		{ SYS_epoll_pwait, "epoll_pwait" },
		{ SYS_getrandom, "getrandom" },
		{ SYS_rseq, "rseq" },
		{ SYS_io_uring_enter, "io_uring_enter" },
		{ SYS_futex_waitv, "futex_waitv" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(syscall_name(cases[i].number),
				    cases[i].name);
}

static void numbers_without_a_name_have_none(void **state)
{
	(void)state;
	assert_null(syscall_name(-1));
	assert_null(syscall_name(INT_MIN));
	assert_null(syscall_name(INT_MAX));
	/* between the old numbers and those shared by all architectures */
	assert_null(syscall_name(400));
}

static void direction_is_that_of_the_callers_memory(void **state)
{
	(void)state;
	assert_int_equal(syscall_direction(SYS_read), SYSCALL_WRITES);
	assert_int_equal(syscall_direction(SYS_recvfrom), SYSCALL_WRITES);
	assert_int_equal(syscall_direction(SYS_write), SYSCALL_READS);
	assert_int_equal(syscall_direction(SYS_sendmsg), SYSCALL_READS);
	assert_int_equal(syscall_direction(SYS_ioctl), SYSCALL_UNKNOWN);
	assert_int_equal(syscall_direction(-1), SYSCALL_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_follow_the_numbers),
		cmocka_unit_test(numbers_without_a_name_have_none),
		cmocka_unit_test(direction_is_that_of_the_callers_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

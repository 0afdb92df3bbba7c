/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Process ids on the command line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include <pthread.h>
#include <sys/syscall.h>

#include "doctor/pid.h"

static void a_number_is_a_process(void **state)
{
	int pid = 0;

	(void)state;
	assert_ok(pid_parse("1", &pid));
	assert_int_equal(pid, 1);
	assert_ok(pid_parse("2147483647", &pid));
	assert_int_equal(pid, 2147483647);
}

static void other_words_are_usage_errors(void **state)
{
	static const char *const words[] = { "",
					     "0",
					     "-1",
					     "+1",
					     "1x",
					     " 1",
					     "2147483648",
					     "1.0",
					     "x",
					     "0x1",
					     "99999999999999999999" };
	int pid = 42;

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_true(
			error_catch(pid_parse(words[i], &pid), ERROR_USAGE));
	assert_int_equal(pid, 42);
}

static void *tell_thread(void *arg)
{
	*(int *)arg = pid_resolve(gettid());
	return NULL;
}

static void a_thread_is_resolved_to_its_process(void **state)
{
	pthread_t thread;
	int resolved = 0;

	(void)state;
	pthread_create(&thread, NULL, tell_thread, &resolved);
	pthread_join(thread, NULL);
	assert_int_equal(resolved, getpid());
	assert_int_equal(pid_resolve(getpid()), getpid());
	/* beyond the largest there can be */
	assert_int_equal(pid_resolve(2147483647), 2147483647);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_a_process),
		cmocka_unit_test(other_words_are_usage_errors),
		cmocka_unit_test(a_thread_is_resolved_to_its_process),
	};

	return cmocka_run_group_tests_name("pid", tests, NULL, NULL);
}

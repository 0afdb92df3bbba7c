/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/signals.c: what is ignored, blocked or not. */
#include "base/signals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void handler(int number)
{
	(void)number;
}

static void only_what_is_ignored_is(void **state)
{
	sigset_t hangup;

	(void)state;
	signal(SIGHUP, SIG_DFL);
	assert_false(signal_is_ignored(SIGHUP));
	signal(SIGHUP, handler);
	assert_false(signal_is_ignored(SIGHUP));
	signal(SIGHUP, SIG_IGN);
	assert_true(signal_is_ignored(SIGHUP));
	sigemptyset(&hangup);
	sigaddset(&hangup, SIGHUP);
	sigprocmask(SIG_BLOCK, &hangup, NULL);
	assert_true(signal_is_ignored(SIGHUP));
	assert_false(signal_is_ignored(SIGTERM));
}

/* By the kernel's own default, signal(7). */
static void those_that_end_a_process_do(void **state)
{
	sigset_t set;
	int count = 0;

	(void)state;
	signal(SIGUSR2, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signals_terminating(&set);
	assert_int_equal(sigismember(&set, SIGUSR2), 0);
	assert_int_equal(sigismember(&set, SIGQUIT), 1);
	signal(SIGUSR2, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signals_terminating(&set);
	for (int number = 1; number <= SIGRTMAX; number++) {
		pid_t pid;
		int status;

		if (sigismember(&set, number) != 1)
			continue;
		count++;
		pid = fork();
		if (pid == 0) {
			sigset_t none;

			sigemptyset(&none);
			sigprocmask(SIG_SETMASK, &none, NULL);
			signal(number, SIG_DFL);
			raise(number);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), number);
	}
	assert_in_range(count, 13, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_ignored_is),
		cmocka_unit_test(those_that_end_a_process_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

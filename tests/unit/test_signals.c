/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/signals.c: what is ignored, blocked or not. */
#include "base/signals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_ignored_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

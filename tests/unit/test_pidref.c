/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process held against the reuse of its id, with and without pidfds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include "sys/pidref.h"

static void body(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

/* As where pidfd_open(2) is missing. */
static void without_pidfd(struct pidref *ref)
{
	close(ref->fd);
	ref->fd = -1;
}

static void it_is_valid_until_it_is_waited_for(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++) {
		pid_t pid = tracee_fork(body, NULL);
		struct pidref ref;
		siginfo_t info;

		assert_ok(pidref_open(pid, &ref));
		assert_true(ref.fd >= 0);
		if (round == 1)
			without_pidfd(&ref);
		assert_true(pidref_valid(&ref));
		assert_ok(pidref_signal(&ref, SIGKILL));
		/* a zombie keeps its id */
		assert_int_equal(
			waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
		assert_true(pidref_valid(&ref));
		waitpid(pid, NULL, 0);
		assert_false(pidref_valid(&ref));
		assert_ptr_equal(pidref_signal(&ref, SIGKILL), error_gone);
		pidref_close(&ref);
	}
}

static void another_process_with_its_id_is_not_it(void **state)
{
	pid_t pid = tracee_fork(body, NULL), dead = tracee_fork(body, NULL);
	struct pidref ref, other;

	(void)state;
	assert_ok(pidref_open(dead, &other));
	tracee_kill(dead);
	/* its id now belongs to the one that lives: by the pidfd */
	other.pid = pid;
	assert_false(pidref_valid(&other));
	assert_ptr_equal(pidref_signal(&other, SIGKILL), error_gone);
	pidref_close(&other);
	/* and by the start time */
	assert_ok(pidref_open(pid, &ref));
	without_pidfd(&ref);
	ref.start_time--;
	assert_false(pidref_valid(&ref));
	assert_ptr_equal(pidref_signal(&ref, SIGKILL), error_gone);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	pidref_close(&ref);
	tracee_kill(pid);
}

static void there_is_none(void **state)
{
	pid_t pid = tracee_fork(body, NULL);
	struct pidref ref = { .pid = 77, .fd = -1 };

	(void)state;
	tracee_kill(pid);
	assert_ptr_equal(pidref_open(pid, &ref), error_gone);
	assert_int_equal(ref.pid, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_valid_until_it_is_waited_for),
		cmocka_unit_test(another_process_with_its_id_is_not_it),
		cmocka_unit_test(there_is_none),
	};

	alarm(TRACEE_TEST_SECONDS);
	return cmocka_run_group_tests_name("pidref", tests, NULL, NULL);
}

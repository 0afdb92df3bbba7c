/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What keeps a process from being watched, provoked on children of the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include "doctor/checks.h"
#include "sys/memory.h"

static uint32_t *shared;

static int setup(void **state)
{
	(void)state;
	shared = tracee_share(sizeof(*shared));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	munmap(shared, sizeof(*shared));
	return 0;
}

static void body(void *arg)
{
	(void)arg;
	tracee_tell(shared, 1);
	for (;;)
		pause();
}

static void body_ignore(void *arg)
{
	signal(SIGTRAP, SIG_IGN);
	body(arg);
}

static pid_t start(void (*what)(void *arg))
{
	pid_t pid = tracee_fork(what, NULL);

	tracee_await(shared, 1);
	return pid;
}

static const struct check *find(const struct checks *checks, const char *name)
{
	for (size_t i = 0; i < checks->list.count; i++) {
		const struct check *check = vec_at(&checks->list, i);

		if (strcmp(check->name, name) == 0)
			return check;
	}
	return NULL;
}

static void assert_refused(pid_t pid, const char *why)
{
	struct error *err = checks_refuse_process(pid);

	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_REFUSED);
	if (!strstr(error_message(err), why))
		fail_msg("'%s' does not say '%s'", error_message(err), why);
	error_free(err);
}

static void a_child_may_be_watched(void **state)
{
	pid_t pid = start(body);
	struct checks checks;

	(void)state;
	assert_ok(checks_refuse_process(pid));
	checks_init(&checks);
	assert_ok(checks_process(pid, &checks));
	assert_int_equal(find(&checks, "access")->verdict, CHECK_OK);
	assert_int_equal(find(&checks, "program")->verdict, CHECK_OK);
	assert_int_equal(find(&checks, "sigtrap")->verdict, CHECK_OK);
	/* with one thread there is nothing to find */
	assert_int_equal(find(&checks, "threads")->verdict, CHECK_WARNING);
	assert_int_equal(checks_worst(&checks), CHECK_WARNING);
	checks_deinit(&checks);
	tracee_kill(pid);
}

static void a_traced_one_may_not_and_its_tracer_is_named(void **state)
{
	pid_t pid = start(body);
	char wanted[64];

	(void)state;
	tracee_seize(pid);
	snprintf(wanted, sizeof(wanted), "process %d (test_checks)",
		 (int)getpid());
	assert_refused(pid, wanted);
	tracee_kill(pid);
}

static void a_zombie_may_not(void **state)
{
	pid_t pid = start(body);
	siginfo_t info;

	(void)state;
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	assert_refused(pid, "zombie");
	waitpid(pid, NULL, 0);
	assert_refused(pid, "there is none");
}

static void a_thread_of_the_kernel_may_not(void **state)
{
	(void)state;
	if (access("/proc/2/status", R_OK) < 0)
		skip();
	assert_refused(2, "kernel thread");
}

static void what_it_does_with_traps_is_told(void **state)
{
	pid_t pid = start(body_ignore);
	struct checks checks;

	(void)state;
	checks_init(&checks);
	assert_ok(checks_process(pid, &checks));
	assert_int_equal(find(&checks, "sigtrap")->verdict, CHECK_NOTE);
	assert_non_null(strstr(find(&checks, "sigtrap")->finding, "ignored"));
	checks_deinit(&checks);
	tracee_kill(pid);
}

static void breakpoints_left_behind_are_found(void **state)
{
	pid_t pid = start(body);
	struct memory memory;
	struct checks checks;

	(void)state;
	checks_init(&checks);
	assert_ok(checks_process(pid, &checks));
	assert_int_equal(find(&checks, "text")->verdict, CHECK_OK);
	checks_deinit(&checks);
	memory_init(&memory, pid);
	assert_ok(memory_write_text(&memory, 0, (uintptr_t)&body_ignore, "\xcc",
				    1));
	memory_deinit(&memory);
	checks_init(&checks);
	assert_ok(checks_process(pid, &checks));
	assert_int_equal(find(&checks, "text")->verdict, CHECK_WARNING);
	assert_int_equal(strtol(find(&checks, "text")->finding, NULL, 10), 1);
	assert_non_null(strstr(find(&checks, "text")->finding,
			       "first at test_checks+0x"));
	checks_deinit(&checks);
	tracee_kill(pid);
}

static void nothing_more_is_said_of_one_that_is_not_there(void **state)
{
	pid_t pid = start(body);
	struct checks checks;

	(void)state;
	tracee_kill(pid);
	checks_init(&checks);
	assert_ok(checks_process(pid, &checks));
	assert_int_equal(checks.list.count, 1);
	assert_int_equal(checks_worst(&checks), CHECK_FAILED);
	checks_deinit(&checks);
}

static void the_machine_is_examined_without_leaving_children(void **state)
{
	static const char *const names[] = { "linux",	     "ptrace",
					     "memory",	     "watch-perf",
					     "watch-ptrace", "watch-value" };
	struct checks checks;

	(void)state;
	checks_init(&checks);
	assert_ok(checks_machine(&checks));
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_non_null(find(&checks, names[i]));
		assert_true(find(&checks, names[i])->finding[0] != '\0');
	}
	assert_int_equal(find(&checks, "ptrace")->verdict, CHECK_OK);
	assert_ok(checks_refuse_machine());
	checks_deinit(&checks);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_child_may_be_watched),
		TEST(a_traced_one_may_not_and_its_tracer_is_named),
		TEST(a_zombie_may_not),
		TEST(a_thread_of_the_kernel_may_not),
		TEST(what_it_does_with_traps_is_told),
		TEST(breakpoints_left_behind_are_found),
		TEST(nothing_more_is_said_of_one_that_is_not_there),
		TEST(the_machine_is_examined_without_leaving_children),
	};

	tracee_lock_registers();
	return cmocka_run_group_tests_name("checks", tests, NULL, NULL);
}

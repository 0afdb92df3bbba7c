/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trying the watchpoints, and the choice of a back-end that follows.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "tracee.h"

#include "base/clock.h"
#include "sys/perfwatch.h"
#include "tracee/backend.h"
#include "tracee/selftest.h"
#include "tracee/watch.h"
#include "x86/dregs.h"

static void assert_no_children(void)
{
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void debug_registers_trap_here(void **state)
{
	struct error *err = selftest_registers();

	(void)state;
	assert_no_children();
	if (err)
		tracee_skip(err);
}

static void perf_breakpoints_trap_here(void **state)
{
	bool kernel = false;
	struct error *err = selftest_perf(&kernel);

	(void)state;
	assert_no_children();
	if (err)
		tracee_skip(err);
}

static void perf_execution_breakpoints_stop_before_here(void **state)
{
	struct error *err = selftest_execution();

	(void)state;
	assert_no_children();
	if (err)
		tracee_skip(err);
}

/* All four of a processor. */
static struct perfring taken[DREGS_SLOTS];

static struct error *take_register(struct perfring *ret)
{
	const struct perfwatch_spec spec = {
		.address = (uint64_t)(uintptr_t)ret & ~7ULL,
		.length = 8,
		.write_only = true,
	};

	return perfring_open(0, &spec, 0, ret);
}

static struct error *take_registers_once(void)
{
	struct error *err = NULL;
	int i;

	for (i = 0; !err && i < DREGS_SLOTS; i++)
		err = take_register(&taken[i]);
	/* the last was not opened */
	for (i -= 2; err && i >= 0; i--)
		perfring_close(&taken[i]);
	return err;
}

/* Another test may have some for a while. */
static struct error *take_registers(void)
{
	struct error *err = take_registers_once();

	for (int i = 0; err && i < 2000; i++) {
		error_free(err);
		usleep(10 * 1000);
		err = take_registers_once();
	}
	return err;
}

static void *give_back(void *unused)
{
	usleep(50 * 1000);
	for (int i = 0; i < DREGS_SLOTS; i++)
		perfring_close(&taken[i]);
	return unused;
}

static struct error *try_perf(void)
{
	bool kernel;

	return selftest_perf(&kernel);
}

static void registers_that_others_have_are_waited_for(void **state)
{
	static struct error *(*const tries[])(void) = {
		selftest_registers, try_perf, selftest_execution, selftest_cpu
	};

	(void)state;
	tracee_needs_registers();
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct error *err = take_registers();
		struct perfring one_more;
		pthread_t thread;

		if (err)
			tracee_skip(err);
		err = take_register(&one_more);
		assert_non_null(err);
		error_free(err);
		assert_int_equal(pthread_create(&thread, NULL, give_back, NULL),
				 0);
		err = tries[i]();
		pthread_join(thread, NULL);
		assert_ok(err);
	}
}

static void a_hunt_waits_for_the_first_register(void **state)
{
	pthread_t thread;
	int count = -1;
	struct error *err;

	(void)state;
	tracee_needs_registers();
	err = take_registers();
	if (err)
		tracee_skip(err);
	err = selftest_await_registers(10 * CLOCK_NS_PER_MS, &count);
	assert_non_null(err);
	assert_true(selftest_is_busy(err));
	assert_non_null(strstr(error_message(err), "others have them"));
	assert_int_equal(count, -1);
	error_free(err);
	assert_int_equal(pthread_create(&thread, NULL, give_back, NULL), 0);
	err = selftest_await_registers(60 * CLOCK_NS_PER_S, &count);
	pthread_join(thread, NULL);
	assert_ok(err);
	assert_in_range(count, 1, DREGS_SLOTS);
}

static void the_backend_asked_for_is_taken(void **state)
{
	static const char *const names[] = { "perf", "ptrace", "perf-cpu",
					     "value" };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct watch watch = { 0 };
		char reason[128] = "unset";
		struct error *err = backend_choose(names[i], &watch, reason,
						   sizeof(reason));

		assert_no_children();
		if (err) {
			assert_null(watch.ops);
			tracee_skip(err);
		}
		assert_string_equal(watch.ops->name, names[i]);
		assert_string_equal(reason, "");
	}
}

static void an_unknown_name_is_a_usage_error(void **state)
{
	struct watch watch = { 0 };
	char reason[128];
	struct error *err =
		backend_choose("Perf", &watch, reason, sizeof(reason));

	(void)state;
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_USAGE);
	assert_non_null(strstr(error_message(err), "'Perf'"));
	error_free(err);
}

static void a_choice_is_always_made_and_explained(void **state)
{
	struct watch watch = { 0 };
	char reason[16];
	bool kernel;
	struct error *perf = selftest_perf(&kernel);

	(void)state;
	assert_ok(backend_choose("auto", &watch, reason, sizeof(reason)));
	assert_non_null(watch.ops);
	if (perf) {
		assert_ptr_not_equal(watch.ops, &watch_by_perf);
		assert_string_not_equal(reason, "");
	} else {
		assert_ptr_equal(watch.ops, &watch_by_perf);
		assert_int_equal(watch.kernel, kernel);
		assert_string_equal(reason, "");
	}
	error_free(perf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(debug_registers_trap_here),
		cmocka_unit_test(perf_breakpoints_trap_here),
		cmocka_unit_test(perf_execution_breakpoints_stop_before_here),
		cmocka_unit_test(registers_that_others_have_are_waited_for),
		cmocka_unit_test(a_hunt_waits_for_the_first_register),
		cmocka_unit_test(the_backend_asked_for_is_taken),
		cmocka_unit_test(an_unknown_name_is_a_usage_error),
		cmocka_unit_test(a_choice_is_always_made_and_explained),
	};

	alarm(TRACEE_TEST_SECONDS);
	tracee_lock_registers();
	return cmocka_run_group_tests_name("selftest", tests, NULL, NULL);
}

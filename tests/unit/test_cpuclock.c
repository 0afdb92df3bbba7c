/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a thread computes, by the clock of its CPU time. Skipped where the kernel
 * refuses it.
 */
#include "sys/cpuclock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/error.h"

enum { PERIOD_NS = 1000000, SLEEPS = 50 };

/* perf_event_open(2) fails with this; 0: it does not. */
static int refusal;

long __real_syscall(long number, long a, long b, long c, long d, long e,
		    long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e,
		    long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_perf_event_open && refusal != 0) {
		errno = refusal;
		return -1;
	}
	return __real_syscall(number, a, b, c, d, e, f);
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* So much CPU time here, of which the clock is read seldom. */
__attribute__((noinline)) static void spend(uint64_t ns)
{
	uint64_t until = cpu_ns() + ns;

	while (cpu_ns() < until) {
		for (volatile int i = 0; i < 100000; i++)
			;
	}
}

static bool open_own(struct cpuclock *clock)
{
	struct error *err = cpuclock_open(gettid(), PERIOD_NS, clock);

	if (err)
		print_message("%s\n", error_message(err));
	error_free(err);
	return !err;
}

static void addresses_are_where_it_computes(void **state)
{
	uint64_t from = (uintptr_t)spend, address;
	int near = 0, count = 0;
	struct cpuclock clock;

	(void)state;
	if (!open_own(&clock))
		skip();
	spend(100 * PERIOD_NS);
	while (cpuclock_next(&clock, &address)) {
		count++;
		near += address - from < 4096;
	}
	cpuclock_close(&clock);
	/* not one for each period where a processor is shared with others */
	assert_in_range(count, 20, 110);
	assert_true(near > count / 2);
}

static void a_full_ring_loses_the_rest(void **state)
{
	uint64_t address;
	int count = 0;
	struct cpuclock clock;

	(void)state;
	if (!open_own(&clock))
		skip();
	spend(UINT64_C(320) * PERIOD_NS);
	while (cpuclock_next(&clock, &address))
		count++;
	assert_in_range(count, 100, 256);
	/* and goes on when it was read */
	spend(50 * PERIOD_NS);
	assert_true(cpuclock_next(&clock, &address));
	cpuclock_close(&clock);
}

static void no_thread_is_an_error(void **state)
{
	struct cpuclock clock;
	struct error *err = cpuclock_open(INT32_MAX, PERIOD_NS, &clock);

	(void)state;
	assert_non_null(err);
	error_free(err);
}

static void a_refusal_has_its_reason(void **state)
{
	static const struct {
		int code;
		enum error_kind kind;
		const char *reason;
	} cases[] = {
		{ EACCES, ERROR_REFUSED, "kernel.perf_event_paranoid" },
		{ EPERM, ERROR_REFUSED, "seccomp" },
		{ ENOENT, ERROR_UNSUPPORTED, "no perf" },
		{ ENOSYS, ERROR_UNSUPPORTED, "no perf" },
		{ EMFILE, ERROR_OTHER, "open files" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cpuclock clock;
		struct error *err;

		refusal = cases[i].code;
		err = cpuclock_open(gettid(), PERIOD_NS, &clock);
		refusal = 0;
		assert_non_null(err);
		assert_int_equal(err->kind, cases[i].kind);
		assert_non_null(strstr(error_message(err), cases[i].reason));
		error_free(err);
	}
}

static void switches_are_counted(void **state)
{
	const struct timespec freeze = { .tv_nsec = 1000 };
	struct cpuclock clock;
	uint32_t before, switched = 0;

	(void)state;
	if (!open_own(&clock))
		skip();
	before = cpuclock_switches(&clock);
	/* on a slow machine the moment is over before a thread sleeps */
	for (int i = 0; i < SLEEPS * 100 && switched < SLEEPS; i++) {
		nanosleep(&freeze, NULL);
		switched = cpuclock_switches(&clock) - before;
	}
	assert_true(switched >= SLEEPS);
	cpuclock_close(&clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_where_it_computes),
		cmocka_unit_test(a_full_ring_loses_the_rest),
		cmocka_unit_test(no_thread_is_an_error),
		cmocka_unit_test(a_refusal_has_its_reason),
		cmocka_unit_test(switches_are_counted),
	};

	return cmocka_run_group_tests_name("cpuclock", tests, NULL, NULL);
}

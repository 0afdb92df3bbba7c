/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who a process is: texts of /proc, living processes, and one whose first
 * thread has exited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include <pthread.h>
#include <sys/syscall.h>

#include "sys/identity.h"

#define STATUS                                            \
	"Name:\ta) b (c\n"                                \
	"State:\tt (tracing stop)\n"                      \
	"Tgid:\t41\nPid:\t42\nPPid:\t7\nTracerPid:\t99\n" \
	"Uid:\t1000\t1001\t1002\t1003\nThreads:\t3\n"     \
	"CapEff:\t0000000000080000\nSeccomp:\t2\n"
#define STAT(flags)                                            \
	"42 (a) b (c) t 7 1 1 0 -1 " flags " 1 2 3 4 5 6 7 8 " \
	"20 0 3 0 123456 9 9"

static void the_texts_of_proc_are_read(void **state)
{
	struct identity identity;

	(void)state;
	assert_ok(identity_parse(42, STATUS, STAT("4194304"), &identity));
	assert_int_equal(identity.tid, 42);
	assert_int_equal(identity.process, 41);
	assert_int_equal(identity.tracer, 99);
	assert_int_equal(identity.real_uid, 1000);
	assert_int_equal(identity.uid, 1001);
	assert_int_equal(identity.state, 't');
	assert_int_equal(identity.threads, 3);
	assert_int_equal(identity.seccomp, 2);
	assert_int_equal(identity.capabilities, 1 << 19);
	assert_int_equal(identity.start_time, 123456);
	assert_string_equal(identity.name, "a) b (c");
	assert_false(identity.kernel);
	/* PF_KTHREAD */
	assert_ok(identity_parse(42, STATUS, STAT("2129984"), &identity));
	assert_true(identity.kernel);
}

static void other_texts_are_refused(void **state)
{
	struct identity identity = { .tid = 5 };
	struct error *err;

	(void)state;
	err = identity_parse(42, "", STAT("0"), &identity);
	assert_true(error_catch(err, ERROR_FORMAT));
	err = identity_parse(42, STATUS, "42", &identity);
	assert_true(error_catch(err, ERROR_FORMAT));
	assert_int_equal(identity.tid, 5);
}

static void we_are_who_we_are(void **state)
{
	struct identity identity;

	(void)state;
	assert_ok(identity_read(getpid(), &identity));
	assert_int_equal(identity.process, getpid());
	assert_int_equal(identity.uid, geteuid());
	assert_int_equal(identity.tracer, 0);
	assert_false(identity.kernel);
	assert_true(identity.start_time > 0);
	assert_int_equal(identity_live_thread(getpid()), getpid());
}

static uint32_t *shared; /* [0]: the second thread's id, [1]: go on */

static void *second_thread(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	tracee_tell(&shared[0], (uint32_t)gettid());
	tracee_await(&shared[1], 1);
	_exit(0);
}

static void leave_it_to_the_second(void *arg)
{
	static pthread_t first;
	pthread_t thread;

	(void)arg;
	first = pthread_self();
	pthread_create(&thread, NULL, second_thread, &first);
	pthread_exit(NULL);
}

static void a_live_thread_is_found_behind_a_dead_first(void **state)
{
	struct identity identity;
	pid_t pid, tid;

	(void)state;
	shared = tracee_share(2 * sizeof(*shared));
	pid = tracee_fork(leave_it_to_the_second, NULL);
	while (!(tid = (pid_t)__atomic_load_n(&shared[0], __ATOMIC_ACQUIRE)))
		sched_yield();
	/* joined is a moment before being a zombie */
	do {
		assert_ok(identity_read(pid, &identity));
	} while (identity.state != 'Z');
	assert_int_equal(identity_live_thread(pid), tid);
	assert_ok(identity_read(tid, &identity));
	assert_int_equal(identity.process, pid);
	tracee_tell(&shared[1], 1);
	waitpid(pid, NULL, 0);
	assert_ptr_equal(identity_read(pid, &identity), error_gone);
	assert_int_equal(identity_live_thread(pid), 0);
	munmap(shared, 2 * sizeof(*shared));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_texts_of_proc_are_read),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(we_are_who_we_are),
		cmocka_unit_test(a_live_thread_is_found_behind_a_dead_first),
	};

	return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}

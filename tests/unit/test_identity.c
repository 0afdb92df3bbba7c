/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who a process is: texts of /proc, living processes, and one whose first
 * thread has exited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "headless.h"

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

static void a_live_thread_is_found_behind_a_dead_first(void **state)
{
	struct headless it = headless_start();
	struct identity identity;

	(void)state;
	assert_int_equal(identity_live_thread(it.pid), it.tid);
	assert_ok(identity_read(it.tid, &identity));
	assert_int_equal(identity.process, it.pid);
	headless_end(&it);
	assert_ptr_equal(identity_read(it.pid, &identity), error_gone);
	assert_int_equal(identity_live_thread(it.pid), 0);
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

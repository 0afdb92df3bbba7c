/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/ordered.c: what put a side in order with its partners. */
#include "hunt/ordered.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "report/frame.h"
#include "report/target-record.h"
#include "sample-recorded.h"
#include "session/waits.h"
#include "x86/access.h"

static struct hunt_side side;

static int begin(void **state)
{
	struct recorded_access *held;

	(void)state;
	hunt_side_init(&side);
	held = sample_recorded_access(&side.recorded, 1, ACCESS_READ, "0.1",
				      "look", 10, 0x1100);
	held->held = true;
	sample_recorded_access(&side.recorded, 2, ACCESS_WRITE, "0.2", "add",
			       20, 0x1200);
	return 0;
}

static int end(void **state)
{
	(void)state;
	hunt_side_deinit(&side);
	return 0;
}

static struct recorded_access *access_at(size_t i)
{
	return vec_at(&side.recorded.accesses, i);
}

static void both_take(const char *name, unsigned int kind)
{
	sample_recorded_lock(access_at(0), name, kind);
	sample_recorded_lock(access_at(1), name, kind);
}

static struct recorded_lock *lock_of(size_t i)
{
	return vec_at(&access_at(i)->locks, 0);
}

static void is_ordered_by(const char *wanted)
{
	char *text = ordered_by_lock(&side);

	if (wanted)
		assert_string_equal(text, wanted);
	else
		assert_null(text);
	free(text);
}

static void without_locks_it_is_not_known(void **state)
{
	(void)state;
	is_ordered_by(NULL);
	sample_recorded_lock(access_at(0), "m", RECORDED_MUTEX);
	is_ordered_by(NULL);
}

static void a_lock_of_both_is_named(void **state)
{
	(void)state;
	both_take("m", RECORDED_MUTEX);
	is_ordered_by("their common mutex `m`");
}

static void one_without_a_name_has_its_address(void **state)
{
	(void)state;
	both_take(NULL, RECORDED_SPIN);
	is_ordered_by("their common spinlock at 0x10c0c0");
}

static void readers_do_not_exclude_each_other(void **state)
{
	(void)state;
	both_take("l", RECORDED_RWLOCK);
	is_ordered_by(NULL);
	lock_of(1)->shared = false;
	is_ordered_by("their common rwlock `l`");
}

static void another_lock_is_none(void **state)
{
	(void)state;
	both_take("m", RECORDED_MUTEX);
	lock_of(1)->address++;
	is_ordered_by(NULL);
}

static void the_threads_own_accesses_and_reads_do_not_count(void **state)
{
	(void)state;
	both_take("m", RECORDED_MUTEX);
	access_at(1)->access = ACCESS_READ;
	is_ordered_by(NULL);
	access_at(1)->access = ACCESS_WRITE;
	access_at(1)->thread_path[2] = '1';
	is_ordered_by(NULL);
}

static struct session_wait wait_in(const char *function, int call,
				   const char *variable)
{
	static const char *const names[] = { "futex_wait", NULL, "take" };
	struct session_wait wait = {
		.side = 3,
		.other = { .path = { 1, 2 }, .length = 2 },
		.state = WIRE_OTHER_WAITS,
		.call = call,
		.variable = variable ? strdup(variable) : NULL,
		.frames = VEC_INIT(struct race_frame),
	};

	for (int i = 0; function && i < 3; i++) {
		struct race_frame *frame = vec_append(&wait.frames);

		assert_non_null(frame);
		*frame = (struct race_frame){ .line = 40 };
		frame->function = strdup(names[i] ? names[i] : function);
		frame->file = strdup("src/queue.c");
	}
	return wait;
}

static void waits_are(const struct vec *waits, const char *wanted)
{
	char *text = ordered_by_waits(waits, 3);

	if (wanted)
		assert_string_equal(text, wanted);
	else
		assert_null(text);
	free(text);
}

/* The wait is freed. */
static void wait_is(struct session_wait wait, const char *wanted)
{
	struct vec waits = VEC_INIT(struct session_wait);

	assert_true(vec_push(&waits, &wait));
	waits_are(&waits, wanted);
	free(wait.variable);
	race_frames_clear(&wait.frames);
	vec_deinit(&wait.frames);
	vec_deinit(&waits);
}

static void what_the_others_waited_for_is_named(void **state)
{
	(void)state;
	wait_is(wait_in("___pthread_cond_wait", SYS_futex,
			"full.__data.__g_signals[0]"),
		"thread 0.1.2, which waited for the condition variable `full` (take, "
		"queue.c:40)");
	wait_is(wait_in("__new_sem_wait", SYS_futex, "ready"),
		"thread 0.1.2, which waited for the semaphore `ready` (take, "
		"queue.c:40)");
	wait_is(wait_in("sem_wait", SYS_futex, "ready+4"),
		"thread 0.1.2, which waited for the semaphore `ready` (take, "
		"queue.c:40)");
	wait_is(wait_in("__GI___pthread_mutex_lock", SYS_futex, NULL),
		"thread 0.1.2, which waited for the mutex (take, queue.c:40)");
	wait_is(wait_in("pthread_join", SYS_futex, "tid"),
		"thread 0.1.2, which waited for the end of a thread (take, "
		"queue.c:40)");
}

static void else_the_system_call_is(void **state)
{
	(void)state;
	wait_is(wait_in(NULL, SYS_futex, "word"),
		"thread 0.1.2, which waited for a futex `word`");
	wait_is(wait_in("lock", SYS_futex, NULL),
		"thread 0.1.2, which waited for a futex");
	wait_is(wait_in(NULL, SYS_read, NULL),
		"thread 0.1.2, which waited in read(2)");
	wait_is(wait_in(NULL, 100000, NULL),
		"thread 0.1.2, which waited in system call 100000");
	wait_is(wait_in(NULL, -1, NULL), "thread 0.1.2, which waited");
}

static void threads_that_are_not_there_are_told(void **state)
{
	const struct session_wait all[] = {
		{ .side = 3, .state = WIRE_OTHER_ENDED },
		{ .side = 2, .state = WIRE_OTHER_ENDED },
		{ .side = 3,
		  .state = WIRE_OTHER_UNBORN,
		  .other = { .path = { 7 }, .length = 1 } },
	};
	struct vec waits = VEC_INIT(struct session_wait);

	(void)state;
	waits_are(&waits, NULL);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_true(vec_push(&waits, &all[i]));
	waits_are(
		&waits,
		"thread 0, which had ended; thread 0.7, which was not created yet");
	vec_deinit(&waits);
}

static void what_a_run_has_seen_is_no_proof(void **state)
{
	const struct session_wait wait = { .side = 3,
					   .state = WIRE_OTHER_ENDED };
	struct vec waits = VEC_INIT(struct session_wait);
	char *text;

	(void)state;
	assert_true(vec_push(&waits, &wait));
	text = ordered_by_waits(&waits, 3);
	assert_false(ordered_is_proved(text));
	free(text);
	vec_deinit(&waits);
	assert_false(ordered_is_proved(NULL));
	assert_true(ordered_is_proved(ORDERED_BY_ITSELF));
	assert_true(ordered_is_proved("their common mutex `m`"));
	assert_true(ordered_is_proved("its address: thread 0.1 stored it in "
				      "`slot` (send)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_locks_it_is_not_known,
						begin, end),
		cmocka_unit_test_setup_teardown(a_lock_of_both_is_named, begin,
						end),
		cmocka_unit_test_setup_teardown(
			one_without_a_name_has_its_address, begin, end),
		cmocka_unit_test_setup_teardown(
			readers_do_not_exclude_each_other, begin, end),
		cmocka_unit_test_setup_teardown(another_lock_is_none, begin,
						end),
		cmocka_unit_test_setup_teardown(
			the_threads_own_accesses_and_reads_do_not_count, begin,
			end),
		cmocka_unit_test(what_the_others_waited_for_is_named),
		cmocka_unit_test(else_the_system_call_is),
		cmocka_unit_test(threads_that_are_not_there_are_told),
		cmocka_unit_test(what_a_run_has_seen_is_no_proof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

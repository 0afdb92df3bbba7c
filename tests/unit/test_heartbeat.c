/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a tracer counts as stuck.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "guardian/heartbeat.h"

/* The verdict of the last of so many looks, the others being HEARTBEAT_WELL. */
static enum heartbeat_verdict looks(struct heartbeat_watch *watch, int count,
				    uint32_t beats, char state)
{
	for (int i = 1; i < count; i++)
		assert_int_equal(heartbeat_judge(watch, beats, state, 0),
				 HEARTBEAT_WELL);
	return heartbeat_judge(watch, beats, state, 0);
}

static void a_tracer_that_waits_and_does_not_turn_is_stuck(void **state)
{
	static const char states[] = { 'S', 'D', 't' };

	(void)state;
	for (size_t i = 0; i < sizeof(states); i++) {
		struct heartbeat_watch watch = { .due_ns = 0 };

		assert_int_equal(looks(&watch, 1, 7, states[i]),
				 HEARTBEAT_WELL);
		assert_int_equal(looks(&watch, HEARTBEAT_BLOCKED, 7, states[i]),
				 HEARTBEAT_STUCK);
	}
}

static void one_that_turns_is_not(void **state)
{
	struct heartbeat_watch watch = { .due_ns = 0 };

	(void)state;
	for (uint32_t beats = 1; beats < 9; beats++)
		assert_int_equal(looks(&watch, HEARTBEAT_BLOCKED, beats, 'D'),
				 HEARTBEAT_WELL);
}

static void nor_is_one_that_has_not_begun_or_has_ended(void **state)
{
	struct heartbeat_watch watch = { .due_ns = 0 };

	(void)state;
	assert_int_equal(looks(&watch, 1000, 0, 'S'), HEARTBEAT_WELL);
	assert_int_equal(looks(&watch, HEARTBEAT_BLOCKED, 5, 'S'),
			 HEARTBEAT_WELL);
	assert_int_equal(looks(&watch, 1000, 0, 'S'), HEARTBEAT_WELL);
}

static void one_without_a_processor_gets_more_time(void **state)
{
	struct heartbeat_watch watch = { .due_ns = 0 };

	(void)state;
	looks(&watch, 1, 5, 'R');
	assert_int_equal(looks(&watch, HEARTBEAT_STARVED - 1, 5, 'R'),
			 HEARTBEAT_WELL);
	/* it waits for a page now and then */
	assert_int_equal(looks(&watch, HEARTBEAT_BLOCKED - 1, 5, 'D'),
			 HEARTBEAT_WELL);
	assert_int_equal(looks(&watch, 1, 5, 'R'), HEARTBEAT_STUCK);
}

/* It waits for threads that get no processor, or for many in turn. */
static void one_that_runs_between_waits_gets_more_time(void **state)
{
	struct heartbeat_watch watch = { .due_ns = 0 };
	uint64_t ran_ns = 1;

	(void)state;
	looks(&watch, 1, 5, 'S');
	for (int i = 0; i < HEARTBEAT_STARVED - 1; i++)
		assert_int_equal(heartbeat_judge(&watch, 5, 'D', ++ran_ns),
				 HEARTBEAT_WELL);
	assert_int_equal(heartbeat_judge(&watch, 5, 'S', ++ran_ns),
			 HEARTBEAT_STUCK);
}

static void a_wait_is_counted_from_when_it_ran_last(void **state)
{
	struct heartbeat_watch watch = { .due_ns = 0 };

	(void)state;
	looks(&watch, 1, 5, 'S');
	assert_int_equal(looks(&watch, HEARTBEAT_BLOCKED - 1, 5, 'D'),
			 HEARTBEAT_WELL);
	assert_int_equal(heartbeat_judge(&watch, 5, 'D', 7), HEARTBEAT_WELL);
	for (int i = 1; i < HEARTBEAT_BLOCKED; i++)
		assert_int_equal(heartbeat_judge(&watch, 5, 'D', 7),
				 HEARTBEAT_WELL);
	assert_int_equal(heartbeat_judge(&watch, 5, 'D', 7), HEARTBEAT_STUCK);
}

static void one_that_was_stopped_is_continued(void **state)
{
	struct heartbeat_watch watch = { .due_ns = 0 };

	(void)state;
	looks(&watch, 1, 5, 'S');
	assert_int_equal(looks(&watch, HEARTBEAT_STOPPED, 5, 'T'),
			 HEARTBEAT_CONTINUE);
	/* as often as it is stopped */
	assert_int_equal(looks(&watch, HEARTBEAT_STOPPED, 5, 'T'),
			 HEARTBEAT_CONTINUE);
}

static void a_look_is_made_when_it_is_due(void **state)
{
	struct heartbeat_watch watch = { .due_ns = 0 };
	struct heartbeat *heartbeat;
	uint64_t now = 1000;

	(void)state;
	assert_null(heartbeat_create(&heartbeat));
	heartbeat_beat(heartbeat);
	assert_int_equal(heartbeat_look(&watch, heartbeat, getpid(), now),
			 HEARTBEAT_WELL);
	assert_int_equal(watch.beats, heartbeat->beats);
	heartbeat_beat(heartbeat);
	now += HEARTBEAT_LOOK_NS - 1;
	heartbeat_look(&watch, heartbeat, getpid(), now);
	assert_int_not_equal(watch.beats, heartbeat->beats);
	heartbeat_look(&watch, heartbeat, getpid(), now + 1);
	assert_int_equal(watch.beats, heartbeat->beats);
	heartbeat_end(heartbeat);
	assert_int_equal(heartbeat->beats, 0);
	heartbeat_destroy(heartbeat);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_tracer_that_waits_and_does_not_turn_is_stuck),
		cmocka_unit_test(one_that_turns_is_not),
		cmocka_unit_test(nor_is_one_that_has_not_begun_or_has_ended),
		cmocka_unit_test(one_without_a_processor_gets_more_time),
		cmocka_unit_test(one_that_runs_between_waits_gets_more_time),
		cmocka_unit_test(a_wait_is_counted_from_when_it_ran_last),
		cmocka_unit_test(one_that_was_stopped_is_continued),
		cmocka_unit_test(a_look_is_made_when_it_is_due),
	};

	return cmocka_run_group_tests_name("heartbeat", tests, NULL, NULL);
}

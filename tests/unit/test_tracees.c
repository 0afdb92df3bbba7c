/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tracer takes from the record of all that is traced: failures that
 * are to be told, and stops that were waited for out of turn.
 */
#include "tracee/tracees.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "sys/wait.h"
#include "wire/stats.h"

static void note(struct tracees *tracees, int number)
{
	tracees_note(tracees, error_create(ERROR_OTHER, "failure %d", number));
}

static void assert_note(struct tracees *tracees, const char *text)
{
	struct error *err = tracees_take_note(tracees);

	assert_non_null(err);
	assert_string_equal(error_message(err), text);
	error_free(err);
}

static void failures_are_taken_in_order(void **state)
{
	struct wire_stats stats = { 0 };
	struct tracees tracees;

	(void)state;
	tracees_init(&tracees, &stats);
	assert_null(tracees_take_note(&tracees));
	note(&tracees, 1);
	note(&tracees, 2);
	assert_note(&tracees, "failure 1");
	note(&tracees, 3);
	assert_note(&tracees, "failure 2");
	assert_note(&tracees, "failure 3");
	assert_null(tracees_take_note(&tracees));
	/* what nobody takes is freed */
	note(&tracees, 4);
	tracees_deinit(&tracees);
}

static void what_has_gone_is_no_failure(void **state)
{
	struct wire_stats stats = { 0 };
	struct tracees tracees;

	(void)state;
	tracees_init(&tracees, &stats);
	tracees_note(&tracees, NULL);
	tracees_note(&tracees, error_gone);
	assert_null(tracees_take_note(&tracees));
	tracees_note(&tracees, error_nomem);
	assert_ptr_equal(tracees_take_note(&tracees), error_nomem);
	tracees_deinit(&tracees);
}

static void of_many_failures_the_first_are_kept(void **state)
{
	struct wire_stats stats = { 0 };
	struct tracees tracees;
	size_t count;

	(void)state;
	tracees_init(&tracees, &stats);
	for (int i = 0; i < 1000; i++)
		note(&tracees, i);
	count = tracees.notes.count;
	assert_in_range(count, 2, 100);
	assert_note(&tracees, "failure 0");
	assert_note(&tracees, "failure 1");
	tracees_deinit(&tracees);
}

static void stops_out_of_turn_are_taken_in_order(void **state)
{
	struct wire_stats stats = { 0 };
	struct tracees tracees;
	struct stop_reason stop = { .tid = 7 };

	(void)state;
	tracees_init(&tracees, &stats);
	assert_false(tracees_take_early(&tracees, &stop));
	assert_true(vec_push(&tracees.early, &stop));
	stop.tid = 3;
	assert_true(vec_push(&tracees.early, &stop));
	assert_true(tracees_take_early(&tracees, &stop));
	assert_int_equal(stop.tid, 7);
	assert_true(tracees_take_early(&tracees, &stop));
	assert_int_equal(stop.tid, 3);
	assert_false(tracees_take_early(&tracees, &stop));
	tracees_deinit(&tracees);
}

static void nothing_is_known_at_first(void **state)
{
	struct wire_stats stats = { 0 };
	struct tracees tracees;

	(void)state;
	tracees_init(&tracees, &stats);
	assert_null(tracees_thread(&tracees, 1));
	assert_null(tracees_process(&tracees, 1));
	assert_int_equal(tracees_watched_count(&tracees), 0);
	assert_int_equal(tracees_thread_count(&tracees), 0);
	tracees_deinit(&tracees);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(failures_are_taken_in_order),
		TEST(what_has_gone_is_no_failure),
		TEST(of_many_failures_the_first_are_kept),
		TEST(stops_out_of_turn_are_taken_in_order),
		TEST(nothing_is_known_at_first),
	};

	return cmocka_run_group_tests_name("tracees", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sweep/statefile.c: claims and ends of runs in a database that many write,
 * and that may be killed, or the disk full, at any time.
 */
#include "sweep/statefile.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "store/store.h"
#include "sweep/journal.h"
#include "sweep/plan.h"
#include "sweep/results.h"

static char path[] = "/tmp/test_state.XXXXXX";
static char *command[] = { "./test", "{seed}", NULL };

/* A sweep's view of the file. */
struct view {
	struct plan plan;
	struct results results;
	struct statefile *state;
};

static int make_path(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int empty_path(void **state)
{
	char journal[64];

	(void)state;
	snprintf(journal, sizeof(journal), "%s-journal", path);
	unlink(journal);
	return truncate(path, 0);
}

static int remove_path(void **state)
{
	empty_path(state);
	return unlink(path);
}

static struct error *open_as(struct view *view, char **words, uint64_t seed)
{
	const struct plan_fixed nothing = { UINT64_MAX, UINT64_MAX, NULL };

	plan_init(&view->plan, &nothing, false);
	results_init(&view->results, &view->plan);
	view->state = NULL;
	return statefile_open(path, words, seed, &view->results, &view->state);
}

static void open_view(struct view *view)
{
	assert_null(open_as(view, command, 100));
}

static void close_view(struct view *view)
{
	statefile_close(view->state);
	results_deinit(&view->results);
}

static const struct statefile_limits five = { 1, 5 }, all_runs = { 1, 0 };

/* 0: none is left. */
static uint64_t claim_within(struct view *view,
			     const struct statefile_limits *limits,
			     struct statefile_claim *ret)
{
	bool any;

	assert_null(statefile_claim(view->state, limits, ret, &any));
	return any ? ret->run : 0;
}

static uint64_t claim(struct view *view, struct statefile_claim *ret)
{
	return claim_within(view, &five, ret);
}

static void finish_noting(struct view *view,
			  const struct statefile_claim *claim, const char *note)
{
	struct journal_record record;

	journal_record_init(&record);
	record.type = JOURNAL_DONE;
	record.run = claim->run;
	record.seed = claim->seed;
	strcpy(record.plan, claim->entry->name);
	record.findings.samples = 1;
	record.note = note ? strdup(note) : NULL;
	assert_null(statefile_finish(view->state, &record));
	journal_record_deinit(&record);
	close(claim->lock_fd);
}

static void finish(struct view *view, const struct statefile_claim *claim)
{
	finish_noting(view, claim, NULL);
}

/* Change the tables as a user could, between the calls of racewatch. */
static void change(const char *sql)
{
	struct store *store;

	assert_null(store_open(path, &journal_kind, &store));
	assert_null(store_execute(store, sql));
	store_close(store);
}

static void put_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void runs_are_claimed_one_after_the_other(void **state)
{
	struct view view;
	struct statefile_claim claims[6];

	(void)state;
	open_view(&view);
	for (uint64_t run = 1; run <= 5; run++) {
		assert_int_equal(claim(&view, &claims[run]), run);
		assert_int_equal(claims[run].seed, 100 + run);
		assert_false(claims[run].again);
	}
	assert_int_equal(claim(&view, &claims[0]), 0);
	for (uint64_t run = 5; run >= 1; run--)
		finish(&view, &claims[run]);
	assert_int_equal(claim(&view, &claims[0]), 0);
	assert_int_equal(view.results.finished, 5);
	close_view(&view);
}

static void two_share_the_runs(void **state)
{
	struct view a, b;
	struct statefile_claim claims[6];

	(void)state;
	open_view(&a);
	open_view(&b);
	assert_int_equal(claim(&a, &claims[1]), 1);
	assert_int_equal(claim(&b, &claims[2]), 2);
	finish(&b, &claims[2]);
	assert_int_equal(claim(&a, &claims[3]), 3);
	assert_int_equal(claim(&b, &claims[4]), 4);
	assert_int_equal(claim(&b, &claims[5]), 5);
	assert_int_equal(claim(&a, &claims[0]), 0);
	finish(&a, &claims[1]);
	finish(&a, &claims[3]);
	finish(&b, &claims[4]);
	finish(&b, &claims[5]);
	assert_null(statefile_refresh(a.state));
	assert_int_equal(a.results.finished, 5);
	assert_int_equal(b.results.finished, 5);
	close_view(&a);
	close_view(&b);
}

static void what_is_given_up_is_taken_over(void **state)
{
	struct view a, b;
	struct statefile_claim one, two, again;

	(void)state;
	open_view(&a);
	assert_int_equal(claim(&a, &one), 1);
	assert_int_equal(claim(&a, &two), 2);
	open_view(&b);
	/* both are worked on */
	assert_int_equal(claim(&b, &again), 3);
	finish(&b, &again);
	/* as when its process and its supervisor are gone */
	close(one.lock_fd);
	assert_int_equal(claim(&b, &again), 1);
	assert_true(again.again);
	assert_int_equal(again.seed, 101);
	assert_string_equal(again.entry->name, one.entry->name);
	finish(&b, &again);
	finish(&a, &two);
	assert_int_equal(claim(&b, &again), 4);
	close(again.lock_fd);
	close_view(&a);
	close_view(&b);
}

/* A lock is held by a forked child too, and ends with it. */
static void a_supervisor_holds_the_claim(void **state)
{
	struct view a;
	struct statefile_claim one, again;
	int gate[2];
	pid_t pid;

	(void)state;
	open_view(&a);
	assert_int_equal(claim(&a, &one), 1);
	assert_int_equal(pipe(gate), 0);
	pid = fork();
	if (pid == 0) {
		char byte;

		close(gate[1]);
		_exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(one.lock_fd);
	assert_int_equal(claim(&a, &again), 2);
	close(again.lock_fd);
	close(gate[1]);
	waitpid(pid, NULL, 0);
	close(gate[0]);
	assert_int_equal(claim(&a, &again), 1);
	close(again.lock_fd);
	close_view(&a);
}

/* Claims and finishes runs, telling of each end, until it is killed. */
static void sweep_until_killed(int told)
{
	struct view view;

	open_view(&view);
	for (;;) {
		struct statefile_claim one;

		if (claim_within(&view, &all_runs, &one) == 0)
			_exit(1);
		finish(&view, &one);
		if (write(told, "x", 1) != 1)
			_exit(1);
	}
}

enum { KILLS = 20 };

/*
 * Killed while it works, after each number of ends. test_store kills at each
 * system call; here no end that was told of is lost, and what was claimed is
 * done again.
 */
static void killed_at_any_time(void **state)
{
	uint64_t ends = 0;
	struct view view;
	struct statefile_claim one;

	(void)state;
	for (int n = 0; n < KILLS; n++) {
		int told[2], status;
		char byte;
		pid_t pid;

		assert_int_equal(pipe(told), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			sweep_until_killed(told[1]);
		close(told[1]);
		for (int i = 0; i < n % 4; i++)
			assert_int_equal(read(told[0], &byte, 1), 1);
		ends += (uint64_t)(n % 4);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		while (read(told[0], &byte, 1) == 1)
			ends++;
		close(told[0]);
		open_view(&view);
		assert_in_range(view.results.finished, ends, ends + 1);
		ends = view.results.finished;
		/* the lowest that has not ended, claimed before or not */
		assert_int_equal(claim_within(&view, &all_runs, &one),
				 ends + 1);
		finish(&view, &one);
		ends++;
		close_view(&view);
	}
}

static void another_command_is_refused(void **state)
{
	char *other[] = { "./test", "{run}", NULL };
	char *longer[] = { "./test", "{seed}", "x", NULL };
	struct view view;
	struct error *err;

	(void)state;
	open_view(&view);
	close_view(&view);
	for (int i = 0; i < 3; i++) {
		err = open_as(&view,
			      i == 0   ? other
			      : i == 1 ? longer
				       : command,
			      i == 2 ? 7 : 100);
		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_USAGE);
		error_free(err);
		results_deinit(&view.results);
	}
}

static void another_file_is_left_alone(void **state)
{
	static const char *const texts[] = {
		"#!/bin/sh\necho hello\n",
		"{\"type\":\"sweep\",\"schema\":1}\n",
		"words without a newline",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct view view;
		struct stat status;
		struct error *err;

		put_file(texts[i]);
		err = open_as(&view, command, 100);
		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_FORMAT);
		assert_non_null(strstr(error_message(err), path));
		error_free(err);
		results_deinit(&view.results);
		assert_int_equal(stat(path, &status), 0);
		assert_int_equal(status.st_size, strlen(texts[i]));
	}
}

/*
 * No file may grow: as on a full disk, but for what the file and its journal
 * have already. A run that was claimed can end; no other is claimed.
 */
static void a_claimed_run_ends_on_a_full_disk(void **state)
{
	struct rlimit limit, old;
	struct view view;
	struct statefile_claim one, two;
	struct stat database, beside;
	char name[64], note[1 << 16] = "";
	struct error *err = NULL;
	bool any;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	snprintf(name, sizeof(name), "%s-journal", path);
	open_view(&view);
	assert_int_equal(claim(&view, &one), 1);
	assert_int_equal(stat(path, &database), 0);
	assert_int_equal(stat(name, &beside), 0);
	assert_true(beside.st_size > 4096);
	assert_true(database.st_blocks * 512 >= database.st_size);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = (rlim_t)database.st_size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	finish(&view, &one);
	/* until the spare pages are used */
	memset(note, 'x', sizeof(note) - 1);
	for (int i = 0; !err && i < 100; i++) {
		err = statefile_claim(view.state, &all_runs, &two, &any);
		if (!err)
			finish_noting(&view, &two, note);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), path));
	error_free(err);
	one.run = view.results.finished + 1;
	assert_int_equal(claim_within(&view, &all_runs, &two), one.run);
	finish(&view, &two);
	close_view(&view);
}

static void a_gap_is_filled(void **state)
{
	struct view view;
	struct statefile_claim one;

	(void)state;
	open_view(&view);
	change("INSERT INTO run (run, seed, plan, claimed, ended, outcome)"
	       " VALUES (1, 101, 'x', 1, 1, 'passed'),"
	       " (2, 102, 'x', 2, 2, 'passed'), (4, 104, 'x', 3, 3, 'passed')");
	assert_int_equal(claim(&view, &one), 3);
	finish(&view, &one);
	assert_int_equal(claim(&view, &one), 5);
	finish(&view, &one);
	assert_int_equal(claim(&view, &one), 0);
	close_view(&view);
}

/* A sweep that begins at 6, and then one of all: none is left out. */
static void gaps_below_others_are_filled(void **state)
{
	static const struct statefile_limits late = { 6, 5 }, all = { 1, 12 };
	struct statefile_claim one;
	struct view view;

	(void)state;
	open_view(&view);
	for (uint64_t run = 6; run <= 10; run++) {
		assert_int_equal(claim_within(&view, &late, &one), run);
		finish(&view, &one);
		close(one.lock_fd);
	}
	assert_int_equal(claim_within(&view, &late, &one), 0);
	for (uint64_t run = 1; run <= 12; run += run == 5 ? 6 : 1) {
		assert_int_equal(claim_within(&view, &all, &one), run);
		finish(&view, &one);
		close(one.lock_fd);
	}
	assert_int_equal(claim_within(&view, &all, &one), 0);
	close_view(&view);
}

/* It is not there to be read when it has been written. */
static void a_device_is_refused(void **state)
{
	const struct plan_fixed nothing = { UINT64_MAX, UINT64_MAX, NULL };
	struct statefile *none;
	struct results results;
	struct plan plan;
	struct error *err;

	(void)state;
	plan_init(&plan, &nothing, false);
	results_init(&results, &plan);
	err = statefile_open("/dev/null", command, 100, &results, &none);
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_FORMAT);
	assert_string_equal(error_message(err),
			    "/dev/null: this is no regular file");
	error_free(err);
	results_deinit(&results);
}

static void a_command_that_is_not_utf8_is_gone_on_with(void **state)
{
	char word[] = "caf\xe9.dat";
	char *latin[] = { word, NULL };
	struct view view;

	(void)state;
	assert_null(open_as(&view, latin, 100));
	close_view(&view);
	assert_null(open_as(&view, latin, 100));
	close_view(&view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(runs_are_claimed_one_after_the_other,
					  empty_path),
		cmocka_unit_test_teardown(two_share_the_runs, empty_path),
		cmocka_unit_test_teardown(what_is_given_up_is_taken_over,
					  empty_path),
		cmocka_unit_test_teardown(a_supervisor_holds_the_claim,
					  empty_path),
		cmocka_unit_test_teardown(killed_at_any_time, empty_path),
		cmocka_unit_test_teardown(another_command_is_refused,
					  empty_path),
		cmocka_unit_test_teardown(another_file_is_left_alone,
					  empty_path),
		cmocka_unit_test_teardown(a_claimed_run_ends_on_a_full_disk,
					  empty_path),
		cmocka_unit_test_teardown(a_gap_is_filled, empty_path),
		cmocka_unit_test_teardown(gaps_below_others_are_filled,
					  empty_path),
		cmocka_unit_test(a_device_is_refused),
		cmocka_unit_test_teardown(
			a_command_that_is_not_utf8_is_gone_on_with, empty_path),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}

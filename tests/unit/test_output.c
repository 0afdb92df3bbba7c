/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/output/output.c: what is done once for a race, and what again. Commands of
 * --on-race write a byte each.
 */
#include "output/output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "judge/judge.h"
#include "output/onrace.h"
#include "sample-race.h"

static char called[] = "/tmp/test_output.called.XXXXXX";
static char generated[] = "/tmp/test_output.generated.XXXXXX";

struct fixture {
	struct judge_config judge_config;
	struct judge judge;
	struct onrace onrace;
	struct output_config config;
	struct output output;
	struct session_sink sink;
	struct race race;
	struct race_side hidden;
};

static void show_side(struct fixture *f)
{
	f->race.sides[1] = f->hidden;
	assert_true(race_fingerprint(&f->race));
}

static void begin(struct fixture *f, bool ignore_unlikely)
{
	static char action[80];

	assert_int_equal(truncate(called, 0), 0);
	assert_int_equal(truncate(generated, 0), 0);
	snprintf(action, sizeof(action), "exec:printf x >>%s", called);
	*f = (struct fixture){
		.judge_config = { .no_default_suppressions = true,
				  .ignore_unlikely = ignore_unlikely,
				  .generate = generated },
	};
	assert_null(judge_init(&f->judge, &f->judge_config));
	assert_null(onrace_init(&f->onrace, action));
	f->config = (struct output_config){ .onrace = &f->onrace,
					    .quiet = true,
					    .judge = &f->judge };
	assert_null(output_init(&f->output, &f->config));
	f->sink = output_sink(&f->output);
	sample_race(&f->race);
	sample_hide_side(&f->race, &f->hidden);
	assert_true(race_fingerprint(&f->race));
}

static void tell(struct fixture *f, bool first)
{
	f->sink.race(f->sink.context, &f->race, first);
}

static long size_of(const char *path)
{
	FILE *file = fopen(path, "r");
	long size;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	fclose(file);
	return size;
}

static void expect_calls(struct fixture *f, long count)
{
	onrace_finish(&f->onrace);
	assert_int_equal(size_of(called), count);
}

static void end(struct fixture *f)
{
	assert_true(output_deinit(&f->output));
	onrace_deinit(&f->onrace);
	judge_deinit(&f->judge);
	race_deinit(&f->race);
}

static void the_other_side_is_no_other_race(void **state)
{
	struct fixture f;
	long size;

	(void)state;
	begin(&f, false);
	tell(&f, true);
	expect_calls(&f, 1);
	size = size_of(generated);
	assert_true(size > 0);
	show_side(&f);
	tell(&f, false);
	tell(&f, false);
	expect_calls(&f, 1);
	assert_int_equal(size_of(generated), size);
	end(&f);
}

static void a_graver_verdict_is_acted_on(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, false);
	tell(&f, true);
	show_side(&f);
	f.race.verdict = VERDICT_HARMFUL;
	tell(&f, false);
	expect_calls(&f, 2);
	tell(&f, false);
	expect_calls(&f, 2);
	end(&f);
}

/* What both sides make of it counts: less, and later as much as before. */
static void the_same_verdict_is_acted_on_once(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, false);
	tell(&f, true);
	show_side(&f);
	f.race.verdict = VERDICT_UNLIKELY;
	tell(&f, false);
	f.race.verdict = VERDICT_SUSPECT;
	tell(&f, false);
	expect_calls(&f, 1);
	end(&f);
}

static void a_race_that_counts_with_both_sides_is_acted_on(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, true);
	f.race.verdict = VERDICT_UNLIKELY;
	tell(&f, true);
	expect_calls(&f, 0);
	assert_int_equal(size_of(generated), 0);
	show_side(&f);
	f.race.verdict = VERDICT_SUSPECT;
	tell(&f, false);
	expect_calls(&f, 1);
	assert_true(size_of(generated) > 0);
	end(&f);
}

/* The last line of a file that is a race; the caller frees it. */
static char *last_race(const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL, *last = NULL;
	size_t size = 0;

	assert_non_null(file);
	while (getline(&line, &size, file) > 0) {
		if (!strstr(line, "\"type\":\"race\""))
			continue;
		free(last);
		last = strdup(line);
	}
	free(line);
	fclose(file);
	assert_non_null(last);
	return last;
}

/* Replays and what they make of the verdict come after the race was written. */
static void the_last_record_has_the_replays(void **state)
{
	const struct session_counts counts = { .pid = 4242 };
	char path[] = "/tmp/test_output.report.XXXXXX";
	int fd = mkstemp(path);
	struct fixture f;
	char *line;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin(&f, false);
	assert_true(output_deinit(&f.output));
	f.config.path = path;
	assert_null(output_init(&f.output, &f.config));
	f.sink = output_sink(&f.output);
	show_side(&f);
	tell(&f, true);
	sample_replays(&f.race, 20, NULL);
	tell(&f, false);
	line = last_race(path);
	assert_null(strstr(line, "\"instances\":20"));
	free(line);
	f.race.verdict = VERDICT_UNLIKELY;
	sample_set(&f.race.reason, RACE_REPLAY_SAME_NAME);
	f.sink.ended(f.sink.context, &counts);
	line = last_race(path);
	assert_non_null(strstr(line, "\"instances\":20"));
	assert_non_null(strstr(line, "\"verdict\":\"unlikely\""));
	free(line);
	end(&f);
	assert_int_equal(unlink(path), 0);
}

static int make_files(void **state)
{
	int one = mkstemp(called), two = mkstemp(generated);

	(void)state;
	return one < 0 || two < 0 || close(one) < 0 || close(two) < 0 ? -1 : 0;
}

static int remove_files(void **state)
{
	(void)state;
	return unlink(called) < 0 || unlink(generated) < 0 ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_other_side_is_no_other_race),
		cmocka_unit_test(a_graver_verdict_is_acted_on),
		cmocka_unit_test(the_same_verdict_is_acted_on_once),
		cmocka_unit_test(
			a_race_that_counts_with_both_sides_is_acted_on),
		cmocka_unit_test(the_last_record_has_the_replays),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}

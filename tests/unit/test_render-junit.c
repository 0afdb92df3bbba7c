/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/report/render-junit.c: documents compared with what they must look like;
 * tests/run/documents.sh has them validated.
 */
#include "report/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "sample-report.h"

/* Calls of realloc that succeed before one fails; negative: all do. */
static int allocations = -1;

void *__real_realloc(void *pointer, size_t size);
void *__wrap_realloc(void *pointer, size_t size);

void *__wrap_realloc(void *pointer, size_t size)
{
	if (allocations == 0)
		return NULL;
	if (allocations > 0)
		allocations--;
	return __real_realloc(pointer, size);
}

static void whole_report(void **state)
{
	struct golden golden;

	(void)state;
	golden_open(&golden, &render_junit);
	sample_report(&golden.renderer);
	golden_end(&golden, "report.xml");
}

static void report_without_races(void **state)
{
	struct golden golden;

	(void)state;
	golden_open(&golden, &render_junit);
	sample_run(&golden.renderer);
	sample_progress(&golden.renderer);
	sample_summary(&golden.renderer, 0);
	golden_end(&golden, "report-none.xml");
}

static void run_without_samples(void **state)
{
	struct golden golden;

	(void)state;
	golden_open(&golden, &render_junit);
	sample_run(&golden.renderer);
	sample_summary(&golden.renderer, 65);
	golden_end(&golden, "report-no-samples.xml");
}

/* The run was cut short before anything was written. */
static void nothing_but_the_end(void **state)
{
	struct golden golden;

	(void)state;
	golden_open(&golden, &render_junit);
	golden_end(&golden, "report-empty.xml");
}

static void full_disk_is_an_error(void **state)
{
	struct renderer renderer = { .ops = &render_junit };
	struct error *err;

	(void)state;
	renderer.out = fopen("/dev/full", "w");
	assert_non_null(renderer.out);
	sample_report(&renderer);
	err = render_junit.finish(&renderer);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), "No space left"));
	assert_null(renderer.state);
	error_free(err);
	fclose(renderer.out);
}

/* Fail each allocation of a race in turn; the document can be ended. */
static void no_memory_is_an_error(void **state)
{
	struct error *err = error_nomem;
	struct race race;

	(void)state;
	sample_race(&race);
	sample_more(&race);
	for (int n = 0; err; n++) {
		struct golden golden;

		golden_open(&golden, &render_junit);
		sample_run(&golden.renderer);
		allocations = n;
		err = render_junit.race(&golden.renderer, &race);
		allocations = -1;
		golden_finish(&golden);
		free(golden.text);
		assert_true(n < 10000);
		assert_true(err ? err == error_nomem : n > 5);
	}
	race_deinit(&race);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_report),
		cmocka_unit_test(report_without_races),
		cmocka_unit_test(run_without_samples),
		cmocka_unit_test(nothing_but_the_end),
		cmocka_unit_test(full_disk_is_an_error),
		cmocka_unit_test(no_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tests of a format that is one document, compared with what it must look
 * like; tests/run/documents.sh has the documents validated. A test program
 * sets `document' and runs DOCUMENT_TESTS. To be linked with
 * -Wl,--wrap=realloc.
 */
#ifndef DOCUMENT_TESTS_H
#define DOCUMENT_TESTS_H

#include "golden.h"
#include "sample-report.h"

static struct {
	const struct renderer_ops *ops;
	const char *suffix; /* of the files in tests/data */
	void (*strip)(char *text); /* of what may change; NULL: nothing */
} document;

static void document_is(struct golden *golden, const char *name)
{
	char file[64];

	snprintf(file, sizeof(file), "%s.%s", name, document.suffix);
	golden_finish(golden);
	if (document.strip)
		document.strip(golden->text);
	golden_is(golden->text, file);
	free(golden->text);
}

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
	golden_open(&golden, document.ops);
	sample_report(&golden.renderer);
	document_is(&golden, "report");
}

static void report_without_races(void **state)
{
	struct golden golden;

	(void)state;
	golden_open(&golden, document.ops);
	sample_run(&golden.renderer);
	sample_progress(&golden.renderer);
	sample_summary(&golden.renderer, 0);
	document_is(&golden, "report-none");
}

static void run_without_samples(void **state)
{
	struct golden golden;

	(void)state;
	golden_open(&golden, document.ops);
	sample_run(&golden.renderer);
	sample_summary(&golden.renderer, 65);
	document_is(&golden, "report-no-samples");
}

/* The run was cut short before anything was written. */
static void nothing_but_the_end(void **state)
{
	struct golden golden;

	(void)state;
	golden_open(&golden, document.ops);
	document_is(&golden, "report-empty");
}

static void full_disk_is_an_error(void **state)
{
	struct renderer renderer = { .ops = document.ops };
	struct error *err;

	(void)state;
	renderer.out = fopen("/dev/full", "w");
	assert_non_null(renderer.out);
	sample_report(&renderer);
	err = document.ops->finish(&renderer);
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

		golden_open(&golden, document.ops);
		sample_run(&golden.renderer);
		allocations = n;
		err = document.ops->race(&golden.renderer, &race);
		allocations = -1;
		golden_finish(&golden);
		free(golden.text);
		assert_true(n < 10000);
		assert_true(err ? err == error_nomem : n > 5);
	}
	race_deinit(&race);
}

#define DOCUMENT_TESTS                                   \
	cmocka_unit_test(whole_report),                  \
		cmocka_unit_test(report_without_races),  \
		cmocka_unit_test(run_without_samples),   \
		cmocka_unit_test(nothing_but_the_end),   \
		cmocka_unit_test(full_disk_is_an_error), \
		cmocka_unit_test(no_memory_is_an_error)

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/conflict/naming.c: saved runs of a stripped sample get names on their way into
 * the merge, so that they are one race; crashes follow their races.
 */
#include "conflict/naming.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "image/elftext.h"
#include "report/crash.h"
#include "report/merge.h"
#include "report/read.h"
#include "report/render.h"
#include "report/run.h"
#include "sample-race.h"
#include "sample.h"

#define MODULE "/opt/there/stack.O2"

static void add_frame(struct vec *frames, const char *build_id, uint64_t offset)
{
	struct race_frame *frame = vec_append(frames);

	assert_non_null(frame);
	memset(frame, 0, sizeof(*frame));
	sample_set(&frame->module, MODULE);
	sample_set(&frame->build_id, build_id);
	frame->offset = offset;
}

static void make_race(struct race *race, const char *build_id, uint64_t outer)
{
	race_init(race);
	race->id = 5;
	race->size = 8;
	race->count = 1;
	race->verdict = VERDICT_SUSPECT;
	race->sides[0].access = ACCESS_WRITE;
	race->sides[1].access = ACCESS_WRITE;
	add_frame(&race->sides[0].frames, build_id, outer);
	add_frame(&race->sides[1].frames, build_id, outer);
	assert_true(race_fingerprint(race));
}

/* A run with that race, written twice, and a crash after it. */
static void write_run(FILE *out, const char *build_id, uint64_t outer)
{
	const struct run_module module = { .path = MODULE,
					   .build_id = build_id };
	const struct run_record run = { .version = "1",
					.modules = &module,
					.module_count = 1 };
	const struct run_summary summary = { .races = 1 };
	struct renderer renderer = { .ops = &render_json, .out = out };
	struct crash crash;
	struct race race;

	make_race(&race, build_id, outer);
	crash_init(&crash);
	crash.signal = 11;
	add_frame(&crash.frames, build_id, outer);
	assert_true(crash_add_race(&crash, &race));
	assert_null(render_json.run(&renderer, &run));
	assert_null(render_json.race(&renderer, &race));
	race.count = 2;
	assert_null(render_json.race(&renderer, &race));
	assert_null(render_json.crash(&renderer, &crash));
	assert_null(render_json.summary(&renderer, &summary));
	crash_deinit(&crash);
	race_deinit(&race);
}

/* `runs' runs, merged with the names of directory. */
static struct merge *merge_runs_of(int runs, const char *directory)
{
	char *path = sample_path("stack.O2");
	uint64_t outer = sample_symbol(path, "outer").st_value + 4;
	struct elftext *text;
	struct naming naming;
	struct reader *reader;
	struct merge *merge;
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_null(elftext_open(path, path, &text));
	for (int i = 0; i < runs; i++)
		write_run(file, elftext_build_id(text), outer);
	rewind(file);
	assert_null(reader_create(file, "runs", &reader));
	assert_null(merge_create(MERGE_MEMORY, &merge));
	assert_null(naming_init(&naming, directory));
	assert_null(naming_add_all(&naming, merge, reader));
	assert_int_equal(naming.changed, directory != NULL);
	naming_deinit(&naming);
	assert_null(merge_rewind(merge));
	reader_close(reader);
	fclose(file);
	elftext_close(text);
	free(path);
	return merge;
}

static void assert_frames(const struct vec *frames, const char *function)
{
	const struct race_frame *frame = vec_at(frames, 0);

	assert_int_equal(frames->count, 1);
	if (function)
		assert_string_equal(frame->function, function);
	else
		assert_null(frame->function);
}

/* One race, and crashes that name it. */
static void check(struct merge *merge, const char *function, uint64_t count)
{
	struct report_record record;
	char fingerprint[33] = "";
	bool more = true;
	int races = 0, crashes = 0;

	report_record_init(&record);
	for (;;) {
		const struct crash_race *named;

		assert_null(merge_next(merge, &record, &more));
		if (!more)
			break;
		if (record.type == REPORT_RACE) {
			races++;
			assert_int_equal(record.race.count, count);
			assert_frames(&record.race.sides[0].frames, function);
			assert_frames(&record.race.sides[1].frames, function);
			strcpy(fingerprint, record.race.fingerprint);
		} else if (record.type == REPORT_CRASH) {
			crashes++;
			assert_frames(&record.crash.frames, function);
			named = vec_at(&record.crash.races, 0);
			assert_string_equal(named->fingerprint, fingerprint);
		}
	}
	assert_int_equal(races, 1);
	assert_true(crashes > 0);
	report_record_deinit(&record);
	merge_destroy(merge);
}

static void without_the_option(void **state)
{
	(void)state;
	check(merge_runs_of(1, NULL), NULL, 2);
}

static void with_a_directory(void **state)
{
	char *samples = sample_path("");

	(void)state;
	check(merge_runs_of(1, samples), "outer", 2);
	check(merge_runs_of(3, samples), "outer", 6);
	free(samples);
}

static void what_is_no_directory(void **state)
{
	char *path = sample_path("stack.O2");
	struct naming naming;
	struct error *err = naming_init(&naming, path);

	(void)state;
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_USAGE);
	error_free(err);
	naming_deinit(&naming);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_the_option),
		cmocka_unit_test(with_a_directory),
		cmocka_unit_test(what_is_no_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

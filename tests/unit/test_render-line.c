/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/render-line.c: a line for each race. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "report/related.h"
#include "sample-race.h"

static void lines_are(struct golden *golden, const char *expected)
{
	golden_finish(golden);
	assert_string_equal(golden->text, expected);
	free(golden->text);
}

static struct race_frame *frame(struct race *race, int side, size_t i)
{
	return vec_at(&race->sides[side].frames, i);
}

static void race_is_a_warning_at_a_place(void **state)
{
	struct golden golden;
	struct race race;

	(void)state;
	sample_race(&race);
	frame(&race, 0, 0)->column = 5;
	golden_open(&golden, &render_line);
	assert_null(render_line.race(&golden.renderer, &race));
	lines_are(&golden,
		  "/home/src/cache.c:11:5: warning: data race on "
		  "shards[3].used: read-modify-write in shard_add races with "
		  "write in shard_evict at /home/src/cache.c:12 [racewatch]\n");
	race_deinit(&race);
}

static void library_code_is_shown_where_it_is_called(void **state)
{
	struct golden golden;
	struct race race;

	(void)state;
	sample_race(&race);
	sample_set(&frame(&race, 0, 0)->file, "/usr/include/c++/12/vector");
	sample_set(&frame(&race, 1, 0)->module, "/usr/lib/libz.so.1");
	golden_open(&golden, &render_line);
	assert_null(render_line.race(&golden.renderer, &race));
	lines_are(&golden,
		  "/home/src/cache.c:14: warning: data race on "
		  "shards[3].used: read-modify-write in filler races with "
		  "write in evictor at /home/src/cache.c:21 [racewatch]\n");
	race_deinit(&race);
}

static void side_with_own_source_is_shown(void **state)
{
	struct golden golden;
	struct race race;

	(void)state;
	sample_race(&race);
	for (size_t i = 0; i < 2; i++)
		sample_set(&frame(&race, 0, i)->file, NULL);
	sample_set(&frame(&race, 0, 0)->function, NULL);
	golden_open(&golden, &render_line);
	assert_null(render_line.race(&golden.renderer, &race));
	lines_are(&golden,
		  "/home/src/cache.c:12: warning: data race on "
		  "shards[3].used: write in shard_evict races with "
		  "read-modify-write in cache+0x1179 at /usr/bin/cache "
		  "[racewatch]\n");
	race_deinit(&race);
}

static void function_without_source_is_named_at_its_caller(void **state)
{
	struct golden golden;
	struct race race;

	(void)state;
	sample_race(&race);
	sample_set(&frame(&race, 0, 0)->file, NULL);
	golden_open(&golden, &render_line);
	assert_null(render_line.race(&golden.renderer, &race));
	lines_are(&golden,
		  "/home/src/cache.c:14: warning: data race on "
		  "shards[3].used: read-modify-write in shard_add races with "
		  "write in shard_evict at /home/src/cache.c:12 [racewatch]\n");
	race_deinit(&race);
}

static void race_without_names_is_of_the_program(void **state)
{
	struct golden golden;
	struct race race;

	(void)state;
	sample_unknown(&race);
	golden_open(&golden, &render_line);
	assert_null(render_line.race(&golden.renderer, &race));
	lines_are(&golden, "racewatch: warning: data race on memory without a "
			   "name: access races with an access that was not "
			   "seen [racewatch]\n");
	race_deinit(&race);
}

static void race_is_written_once_for_each_side(void **state)
{
	struct race_side hidden;
	struct golden golden;
	struct race race;

	(void)state;
	sample_race(&race);
	golden_open(&golden, &render_line);
	sample_hide_side(&race, &hidden);
	for (int i = 0; i < 2; i++)
		assert_null(render_line.race(&golden.renderer, &race));
	race.sides[1] = hidden;
	for (int i = 0; i < 2; i++)
		assert_null(render_line.race(&golden.renderer, &race));
	lines_are(&golden,
		  "/home/src/cache.c:11: warning: data race on "
		  "shards[3].used: read-modify-write in shard_add races with "
		  "an access that was not seen [racewatch]\n"
		  "/home/src/cache.c:11: warning: data race on "
		  "shards[3].used: read-modify-write in shard_add races with "
		  "write in shard_evict at /home/src/cache.c:12 [racewatch]\n");
	race_deinit(&race);
}

static void what_decides_nothing_has_no_line(void **state)
{
	struct golden golden;
	struct race race;

	(void)state;
	sample_race(&race);
	golden_open(&golden, &render_line);
	race.status = STATUS_KNOWN;
	assert_null(render_line.race(&golden.renderer, &race));
	race.status = STATUS_GONE;
	assert_null(render_line.race(&golden.renderer, &race));
	race.status = STATUS_UNSET;
	race.verdict = VERDICT_SYNC;
	assert_null(render_line.race(&golden.renderer, &race));
	sample_set(&race.suppressed.rule, "race:shard_*");
	race.verdict = VERDICT_SUSPECT;
	assert_null(render_line.race(&golden.renderer, &race));
	lines_are(&golden, "");
	race_deinit(&race);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(race_is_a_warning_at_a_place),
		cmocka_unit_test(library_code_is_shown_where_it_is_called),
		cmocka_unit_test(side_with_own_source_is_shown),
		cmocka_unit_test(
			function_without_source_is_named_at_its_caller),
		cmocka_unit_test(race_without_names_is_of_the_program),
		cmocka_unit_test(race_is_written_once_for_each_side),
		cmocka_unit_test(what_decides_nothing_has_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

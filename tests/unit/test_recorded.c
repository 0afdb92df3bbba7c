/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/report/recorded.c and text-recorded.c: which recorded access a side of a
 * race is, and what is said of it.
 */
#include "report/recorded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "report/record.h"
#include "report/render.h"
#include "report/text-recorded.h"
#include "report/text.h"
#include "sample-race.h"
#include "sample-recorded.h"

static struct race race;

static int begin(void **state)
{
	(void)state;
	sample_race(&race);
	sample_recorded(&race.recorded);
	return 0;
}

static int end(void **state)
{
	(void)state;
	race_deinit(&race);
	return 0;
}

static void attach(int side)
{
	const struct recorded_access *access =
		recorded_find(&race.recorded, &race.sides[side], side == 1);

	assert_non_null(access);
	assert_true(fields_copy(&recorded_access_fields,
				&race.sides[side].recorded, access));
}

static void a_side_is_found_by_its_instruction(void **state)
{
	const struct recorded_access *access;

	(void)state;
	access = recorded_find(&race.recorded, &race.sides[0], false);
	assert_non_null(access);
	assert_int_equal(access->first, 90);
	/* shard_evict was not recorded */
	assert_null(recorded_find(&race.recorded, &race.sides[1], true));
}

/* Of the same instruction: the same callers, then the held one or another. */
static void callers_tell_more_than_who_was_held(void **state)
{
	struct recorded_access *more = sample_recorded_access(
		&race.recorded, 99, 3, "0.1", "shard_add", 11, 0x1179);

	(void)state;
	assert_int_equal(
		recorded_find(&race.recorded, &race.sides[0], false)->first,
		90);
	assert_int_equal(
		recorded_find(&race.recorded, &race.sides[0], true)->first, 99);
	sample_recorded_frame(&more->frames, "filler", 14, 0x11a0);
	assert_int_equal(
		recorded_find(&race.recorded, &race.sides[0], false)->first,
		99);
}

/* An inlined function has the place of the one that it is in. */
static void inlined_frames_are_no_callers(void **state)
{
	struct vec *frames = &race.sides[0].frames;
	struct race_frame *frame = sample_frame(&race.sides[0], "add", 5, 0x11);
	struct race_frame inlined = *frame;

	(void)state;
	inlined.inlined = true;
	inlined.offset = 0x1179;
	memmove((struct race_frame *)frames->items + 1, frames->items,
		(frames->count - 1) * sizeof(inlined));
	*(struct race_frame *)vec_at(frames, 0) = inlined;
	assert_int_equal(
		recorded_find(&race.recorded, &race.sides[0], false)->first,
		90);
}

static void a_copy_has_all_of_it(void **state)
{
	struct recorded copy;
	char *texts[2];
	size_t sizes[2];

	(void)state;
	assert_true(fields_copy(&recorded_fields, &copy, &race.recorded));
	for (int i = 0; i < 2; i++) {
		FILE *file = open_memstream(&texts[i], &sizes[i]);

		assert_null(fields_write(&recorded_fields,
					 i ? &copy : &race.recorded, file));
		fclose(file);
	}
	assert_string_equal(texts[0], texts[1]);
	assert_ptr_not_equal(copy.accesses.items, race.recorded.accesses.items);
	free(texts[0]);
	free(texts[1]);
	fields_deinit(&recorded_fields, &copy);
}

static void is_written(void (*write)(struct text *text), const char *expected)
{
	struct golden golden;
	struct text text;

	golden_open(&golden, &render_text);
	text = text_begin(&golden.renderer);
	write(&text);
	assert_null(text_end(&text));
	fclose(golden.renderer.out);
	assert_string_equal(golden.text, expected);
	free(golden.text);
}

static void first_side(struct text *text)
{
	text_recorded_side(text, &race, &race.sides[0]);
}

static void second_side(struct text *text)
{
	text_recorded_side(text, &race, &race.sides[1]);
}

static void whole(struct text *text)
{
	text_recorded_write(text, &race);
}

static void locks_are_told_of_each_side(void **state)
{
	(void)state;
	attach(0);
	is_written(first_side,
		   "    held in the recording: mutex shards[3].lock, taken at\n"
		   "      #0  filler   cache.c:13\n"
		   "    held in the recording: rwlock at 0x10c0c0 "
		   "(for reading), taken at\n"
		   "      #0  filler   cache.c:13\n");
	is_written(second_side, "    held in the recording: unknown, as it "
				"does not show this access\n");
	sample_recorded_access(&race.recorded, 99, 2, "0.1", "shard_evict", 12,
			       0x1216);
	attach(1);
	is_written(second_side, "    held in the recording: no lock that the "
				"recorder knows\n");
	race.sides[1].recorded.locks_unknown = true;
	is_written(second_side, "    held in the recording: locks unknown, as "
				"they were not recorded\n");
}

/* Of a report that is read: null, and not a list of none. */
static void unknown_locks_are_null(void **state)
{
	struct recorded_access *access = vec_at(&race.recorded.accesses, 0);
	struct report_record record;
	const struct recorded_access *read;
	struct golden golden;

	(void)state;
	access->locks_unknown = true;
	golden_open(&golden, &render_json);
	assert_null(render_json.race(&golden.renderer, &race));
	golden_finish(&golden);
	assert_non_null(strstr(golden.text, "\"locks\":null"));
	assert_non_null(strstr(golden.text, "\"locks\":[]"));
	report_record_init(&record);
	assert_null(report_record_parse(golden.text, golden.size, &record));
	read = record.race.recorded.accesses.items;
	assert_true(read[0].locks_unknown);
	assert_false(read[1].locks_unknown || read[2].locks_unknown);
	assert_int_equal(read[2].locks.count, 0);
	report_record_deinit(&record);
	free(golden.text);
}

/* No format says of them that there were none. */
static void unknown_locks_are_told_in_each_format(void **state)
{
	static const struct renderer_ops *const formats[] = {
		&render_text, &render_html, &render_sarif, &render_junit
	};

	(void)state;
	for (size_t i = 0; i < race.recorded.accesses.count; i++) {
		struct recorded_access *access =
			vec_at(&race.recorded.accesses, i);

		while (access->locks.count > 0) {
			fields_deinit(&recorded_lock_fields,
				      vec_at(&access->locks, 0));
			vec_remove_first(&access->locks, 1);
		}
		access->locks_unknown = true;
	}
	attach(0);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct golden golden;

		golden_open(&golden, formats[i]);
		assert_null(formats[i]->race(&golden.renderer, &race));
		golden_finish(&golden);
		assert_non_null(strstr(golden.text, "locks unknown"));
		assert_null(strstr(golden.text, "no known"));
		free(golden.text);
	}
}

/* Every format with a history says so; only then, and a report has it. */
static void an_unknown_order_is_told(void **state)
{
	static const struct renderer_ops *const formats[] = {
		&render_text, &render_html, &render_sarif, &render_json
	};
	static const char *const told[] = {
		"of the access; the order of threads is not known",
		"of the access; the order of threads is not known",
		"does not say in which order threads",
		"\"order_unknown\":true",
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(formats) / sizeof(*formats); i++) {
		struct golden golden;
		bool known = i % 2;

		race.recorded.order_unknown = !known;
		golden_open(&golden, formats[i / 2]);
		assert_null(formats[i / 2]->race(&golden.renderer, &race));
		golden_finish(&golden);
		assert_int_equal(strstr(golden.text, told[i / 2]) != NULL,
				 !known);
		free(golden.text);
	}
}

static void an_unknown_order_is_read(void **state)
{
	struct report_record record;
	struct golden golden;

	(void)state;
	race.recorded.order_unknown = true;
	golden_open(&golden, &render_json);
	assert_null(render_json.race(&golden.renderer, &race));
	golden_finish(&golden);
	report_record_init(&record);
	assert_null(report_record_parse(golden.text, golden.size, &record));
	assert_true(record.race.recorded.order_unknown);
	report_record_deinit(&record);
	free(golden.text);
}

static void block_and_history_are_told(void **state)
{
	(void)state;
	is_written(
		whole,
		"  block       of 48 bytes, allocated in the recording by "
		"thread 0 at\n"
		"      #0  make_shard   cache.c:9\n"
		"  history     of these bytes in the recording, by number of "
		"the access\n"
		"    12  thread 0    wrote, in memset                make_shard"
		"  cache.c:10  no known lock\n"
		"    90  thread 0.3  read and wrote                  shard_add "
		"  cache.c:11  mutex shards[3].lock, rwlock at 0x10c0c0 (for "
		"reading); 3 times up to 4000; stalled here\n"
		"    95  thread 0.1  read, atomic, in a system call  report    "
		"  cache.c:30  no known lock\n"
		"    and 2 more\n");
}

/* Of std::vector and the like: the program's own frames are shown. */
static void the_inside_of_wrappers_is_left_out(void **state)
{
	struct vec *frames = &race.recorded.block.allocated;
	struct race_frame *frame;

	(void)state;
	sample_recorded_frame(frames, "main", 50, 0x1200);
	frame = vec_at(frames, 0);
	sample_set(&frame->function, "std::vector<int>::vector");
	sample_set(&frame->file, "/usr/include/c++/12/bits/stl_vector.h");
	while (race.recorded.accesses.count > 0) {
		fields_deinit(&recorded_access_fields,
			      vec_at(&race.recorded.accesses, 0));
		vec_remove_first(&race.recorded.accesses, 1);
	}
	is_written(
		whole,
		"  block       of 48 bytes, allocated in the recording by "
		"thread 0 at\n"
		"      #1  main   cache.c:50\n"
		"  history     of these bytes in the recording, by number of "
		"the access\n"
		"    and 2 more\n");
	/* what has no source file may be the program's own, too */
	frame = vec_at(frames, 1);
	sample_set(&frame->file, NULL);
	assert_int_equal(race_frames_find_own(frames), 1);
}

static void without_a_recording_nothing_is_told(void **state)
{
	(void)state;
	fields_deinit(&recorded_fields, &race.recorded);
	is_written(first_side, "");
	is_written(whole, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_side_is_found_by_its_instruction),
		cmocka_unit_test(callers_tell_more_than_who_was_held),
		cmocka_unit_test(inlined_frames_are_no_callers),
		cmocka_unit_test(a_copy_has_all_of_it),
		cmocka_unit_test(locks_are_told_of_each_side),
		cmocka_unit_test(unknown_locks_are_null),
		cmocka_unit_test(unknown_locks_are_told_in_each_format),
		cmocka_unit_test(an_unknown_order_is_told),
		cmocka_unit_test(an_unknown_order_is_read),
		cmocka_unit_test(block_and_history_are_told),
		cmocka_unit_test(the_inside_of_wrappers_is_left_out),
		cmocka_unit_test(without_a_recording_nothing_is_told),
	};
	struct CMUnitTest each[sizeof(tests) / sizeof(*tests)];

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		each[i] = tests[i];
		each[i].setup_func = begin;
		each[i].teardown_func = end;
	}
	return cmocka_run_group_tests(each, NULL, NULL);
}

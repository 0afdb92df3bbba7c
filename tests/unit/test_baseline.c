/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/judge/baseline.c: which races are known, and how the file is replaced.
 */
#include "judge/baseline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "sample-race.h"

static char folder[] = "/tmp/racewatch-baseline.XXXXXX";
static char path[64];

static void put_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static size_t get_file(char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t n;

	assert_non_null(file);
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
	return n;
}

static void named_race(struct race *race, const char *function, uint64_t offset)
{
	struct race_frame *frame;

	sample_race(race);
	frame = vec_at(&race->sides[0].frames, 0);
	sample_set(&frame->function, function);
	frame->offset = offset;
	assert_true(race_fingerprint(race));
}

/* A baseline of one race knows, or does not know, another. */
static bool knows(struct race *old, const struct race *now)
{
	struct baseline baseline;
	bool known;

	baseline_init(&baseline, false);
	assert_null(baseline_take(&baseline, old));
	known = baseline_knows(&baseline, now);
	baseline_deinit(&baseline);
	return known;
}

static void a_race_is_known_by_names_in_any_build(void **state)
{
	struct race old, now;

	(void)state;
	named_race(&old, "shard_add", 0x1179);
	named_race(&now, "shard_add", 0x2000);
	assert_true(knows(&old, &now));
	race_deinit(&now);
	named_race(&now, "shard_drop", 0x2000);
	assert_false(knows(&old, &now));
	race_deinit(&now);
	race_deinit(&old);
}

static void a_race_without_names_is_known_by_code(void **state)
{
	struct race old, now;

	(void)state;
	named_race(&old, "shard_add", 0x1179);
	named_race(&now, NULL, 0x1179);
	assert_true(knows(&old, &now));
	assert_true(knows(&now, &old));
	race_deinit(&now);
	named_race(&now, NULL, 0x117a);
	assert_false(knows(&old, &now));
	race_deinit(&now);
	race_deinit(&old);
}

/* The same two instructions on the way from two users of a container. */
static void a_new_race_does_not_hide_behind_shared_code(void **state)
{
	struct race old, now;
	struct race_frame *caller;

	(void)state;
	named_race(&old, "list_add", 0x1179);
	named_race(&now, "list_add", 0x1179);
	caller = vec_at(&now.sides[0].frames, 1);
	sample_set(&caller->function, "loader");
	/* of the same variable: one race, met on another way */
	assert_true(race_fingerprint(&now));
	assert_true(knows(&old, &now));
	/* of another one, or of memory without a name: another race */
	sample_set(&now.variable.symbol, "queue");
	sample_set(&now.variable.name, "queue");
	assert_true(race_fingerprint(&now));
	assert_string_equal(old.fingerprint_code, now.fingerprint_code);
	assert_false(knows(&old, &now));
	sample_set(&now.variable.symbol, NULL);
	sample_set(&now.variable.name, NULL);
	assert_true(race_fingerprint(&now));
	assert_false(knows(&old, &now));
	race_deinit(&now);
	race_deinit(&old);
}

static void all_races_of_the_same_code_are_looked_at(void **state)
{
	struct baseline baseline;
	struct race one, two, now;

	(void)state;
	named_race(&one, "list_add", 0x1179);
	named_race(&two, "list_add", 0x1179);
	sample_set(&two.variable.symbol, "queue");
	sample_set(&two.variable.name, "queue");
	assert_true(race_fingerprint(&two));
	named_race(&now, "list_add", 0x1179);
	sample_set(&((struct race_frame *)vec_at(&now.sides[0].frames, 1))
			    ->function,
		   "loader");
	assert_true(race_fingerprint(&now));
	baseline_init(&baseline, false);
	assert_null(baseline_take(&baseline, &one));
	assert_null(baseline_take(&baseline, &two));
	assert_true(baseline_knows(&baseline, &now));
	baseline_deinit(&baseline);
	race_deinit(&one);
	race_deinit(&two);
	race_deinit(&now);
}

static void drop_side(struct race *race)
{
	struct race other;

	race_init(&other);
	sample_hide_side(race, &other.sides[1]);
	race_deinit(&other);
	assert_true(race_fingerprint(race));
}

/* One side now and both before, and the other way round. */
static void a_race_is_known_by_the_side_that_was_seen(void **state)
{
	struct race half, whole;

	(void)state;
	named_race(&half, "shard_add", 0x1179);
	drop_side(&half);
	named_race(&whole, "shard_add", 0x1179);
	assert_true(knows(&half, &whole));
	assert_true(knows(&whole, &half));
	race_deinit(&whole);
	named_race(&whole, "shard_drop", 0x2000);
	assert_false(knows(&half, &whole));
	assert_false(knows(&whole, &half));
	race_deinit(&whole);
	race_deinit(&half);
}

/* In a run's report the race is there twice, first with one side. */
static void a_baseline_may_have_both(void **state)
{
	struct race half, whole, other;
	struct baseline baseline;

	(void)state;
	named_race(&half, "shard_add", 0x1179);
	drop_side(&half);
	named_race(&whole, "shard_add", 0x1179);
	named_race(&other, "shard_add", 0x1179);
	sample_set(&((struct race_frame *)vec_at(&other.sides[1].frames, 0))
			    ->function,
		   "shard_drop");
	((struct race_frame *)vec_at(&other.sides[1].frames, 0))->offset++;
	assert_true(race_fingerprint(&other));
	baseline_init(&baseline, false);
	assert_null(baseline_take(&baseline, &half));
	assert_null(baseline_take(&baseline, &whole));
	assert_false(baseline_knows(&baseline, &other));
	assert_false(baseline_has(&baseline, &other));
	assert_true(baseline_has(&baseline, &whole));
	baseline_deinit(&baseline);
	race_deinit(&half);
	race_deinit(&whole);
	race_deinit(&other);
}

static void suppressed_races_are_not_known(void **state)
{
	struct race old, now;

	(void)state;
	named_race(&old, "shard_add", 0x1179);
	named_race(&now, "shard_add", 0x1179);
	sample_set(&old.suppressed.rule, "race:shard_add");
	assert_false(knows(&old, &now));
	sample_set(&old.suppressed.rule, NULL);
	old.verdict = VERDICT_SYNC;
	assert_false(knows(&old, &now));
	race_deinit(&now);
	race_deinit(&old);
}

/* Read the file, add a race, write it. */
static void update(const char *function, uint64_t offset)
{
	struct vec more = VEC_INIT(struct race *);
	struct race race, *pointer = &race;
	struct baseline baseline;

	named_race(&race, function, offset);
	race.status = STATUS_NEW;
	baseline_init(&baseline, true);
	assert_null(baseline_read(&baseline, path));
	if (!baseline_knows(&baseline, &race))
		assert_true(vec_push(&more, &pointer));
	assert_null(baseline_write(&baseline, &more, path));
	baseline_deinit(&baseline);
	vec_deinit(&more);
	race_deinit(&race);
}

static void an_update_keeps_what_was_there(void **state)
{
	static char before[1 << 16], after[1 << 16];
	size_t length;
	struct stat st;

	(void)state;
	unlink(path);
	update("first", 1);
	length = get_file(before, sizeof(before));
	assert_non_null(strstr(before, "\"status\":null"));
	assert_int_equal(chmod(path, 0640), 0);
	update("second", 2);
	assert_true(get_file(after, sizeof(after)) > length);
	/* byte for byte: a version control system shows what was added */
	assert_memory_equal(before, after, length);
	assert_non_null(strstr(after + length, "\"id\":2"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	update("second", 2);
	get_file(before, sizeof(before));
	assert_string_equal(before, after);
}

static void a_link_stays_a_link(void **state)
{
	char link[80];
	struct stat st;

	(void)state;
	unlink(path);
	snprintf(link, sizeof(link), "%s.link", path);
	update("first", 1);
	assert_int_equal(symlink(path, link), 0);
	{
		struct vec none = VEC_INIT(struct race *);
		struct baseline baseline;

		baseline_init(&baseline, true);
		assert_null(baseline_read(&baseline, link));
		assert_null(baseline_write(&baseline, &none, link));
		baseline_deinit(&baseline);
	}
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	unlink(link);
}

static void what_cannot_be_written_leaves_the_old_one(void **state)
{
	struct vec none = VEC_INIT(struct race *);
	struct baseline baseline;
	struct error *err;

	(void)state;
	baseline_init(&baseline, true);
	err = baseline_write(&baseline, &none, "/no/such/folder/base");
	assert_non_null(err);
	assert_non_null(strstr(err->message, "/no/such/folder/base"));
	error_free(err);
	err = baseline_write(&baseline, &none, "/proc/self/base");
	assert_non_null(err);
	error_free(err);
	baseline_deinit(&baseline);
}

static void hostile_files_are_refused_with_their_line(void **state)
{
	static const char *const texts[] = {
		"{\"type\":\"race\"}\n{\"type\":\"race\",\"id\":[]}\n{}\n",
		"[]\n[]\n",
		"race:foo\nrace:bar\n",
	};
	struct baseline baseline;
	struct error *err;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		put_file(texts[i]);
		baseline_init(&baseline, false);
		err = baseline_read(&baseline, path);
		assert_non_null(err);
		assert_non_null(strstr(error_message(err), path));
		assert_non_null(strstr(error_message(err), ":"));
		error_free(err);
		baseline_deinit(&baseline);
	}
	unlink(path);
	baseline_init(&baseline, false);
	err = baseline_read(&baseline, path);
	assert_non_null(err);
	error_free(err);
	baseline_deinit(&baseline);
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/base.jsonl", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_race_is_known_by_names_in_any_build),
		cmocka_unit_test(a_race_without_names_is_known_by_code),
		cmocka_unit_test(a_new_race_does_not_hide_behind_shared_code),
		cmocka_unit_test(all_races_of_the_same_code_are_looked_at),
		cmocka_unit_test(a_race_is_known_by_the_side_that_was_seen),
		cmocka_unit_test(a_baseline_may_have_both),
		cmocka_unit_test(suppressed_races_are_not_known),
		cmocka_unit_test(an_update_keeps_what_was_there),
		cmocka_unit_test(a_link_stays_a_link),
		cmocka_unit_test(what_cannot_be_written_leaves_the_old_one),
		cmocka_unit_test(hostile_files_are_refused_with_their_line),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

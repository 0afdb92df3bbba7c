/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/hunt/outcomes.c: sides and what came of them, of one process, of several at
 * once, and of one that was killed.
 */
#include "hunt/outcomes.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "sample-target.h"
#include "store/store.h"

static char folder[40], path[64], old_path[64];
static char *command[] = { "./cache", "--all", NULL };
static struct outcomes *outcomes;

static int begin(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/racewatch-test.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/store", folder);
	snprintf(old_path, sizeof(old_path), "%s/old", folder);
	assert_null(outcomes_open(path, command, &outcomes));
	return 0;
}

static int end(void **state)
{
	(void)state;
	outcomes_close(outcomes);
	unlink(path);
	unlink(old_path);
	rmdir(folder);
	return 0;
}

static void free_sides(struct vec *sides)
{
	for (size_t i = 0; i < sides->count; i++)
		hunt_side_deinit(vec_at(sides, i));
	vec_deinit(sides);
}

/* Sides with fingerprints and hashes "a...", "b...", ..., of falling rank. */
static void add(struct outcomes *to, int count)
{
	struct vec sides = VEC_INIT(struct hunt_side);

	for (int i = 0; i < count; i++) {
		struct hunt_side *side = vec_append(&sides);

		assert_non_null(side);
		hunt_side_init(side);
		sample_hunt_side(side, 99);
		side->fingerprint[0] = side->code_hash[0] = (char)('a' + i);
		side->rank = 0.9 - 0.1 * i;
	}
	assert_null(outcomes_add_sides(to, &sides));
	for (int i = 0; i < count; i++)
		assert_int_equal(
			((struct hunt_side *)vec_at(&sides, (size_t)i))->id,
			i + 1);
	free_sides(&sides);
}

static bool others; /* had claimed some, says the last claim */

/* Claims so many; "abc" is expected. */
static void claims(struct outcomes *from, size_t most, const char *expected)
{
	struct vec sides = VEC_INIT(struct hunt_side);
	char got[16] = "";

	assert_null(outcomes_claim(from, most, &sides, &others));
	for (size_t i = 0; i < sides.count; i++) {
		const struct hunt_side *side = vec_at(&sides, i);

		got[i] = side->fingerprint[0];
		/* it is all there */
		assert_string_equal(side->variable, "shards[3].used");
		assert_int_equal(side->partners.count, 1);
		assert_int_equal(side->stack.count, 1);
		assert_int_equal(side->hold_ns, 45000000);
	}
	assert_string_equal(got, expected);
	free_sides(&sides);
}

static void save(struct outcomes *to, uint64_t side, unsigned int result)
{
	struct target_outcome outcome = {
		.result = result, .runs = 1, .reached = side, .hold_ns = 7
	};

	if (result == TARGET_PROVOKED)
		memset(outcome.race, 'c', 32);
	assert_null(outcomes_save(to, side, &outcome));
}

static void counts_are(uint64_t pending, uint64_t provoked, uint64_t ordered)
{
	struct outcomes_counts counts;

	assert_null(outcomes_count(outcomes, &counts));
	assert_int_equal(counts.results[TARGET_PENDING], pending);
	assert_int_equal(counts.results[TARGET_PROVOKED], provoked);
	assert_int_equal(counts.results[TARGET_ORDERED], ordered);
}

static void sides_come_by_rank_and_once(void **state)
{
	bool any = true;

	(void)state;
	assert_null(outcomes_has_sides(outcomes, &any));
	assert_false(any);
	claims(outcomes, 5, "");
	add(outcomes, 4);
	assert_null(outcomes_has_sides(outcomes, &any));
	assert_true(any);
	claims(outcomes, 2, "ab");
	claims(outcomes, 5, "cd");
	claims(outcomes, 5, "");
	save(outcomes, 1, TARGET_ORDERED);
	save(outcomes, 2, TARGET_PROVOKED);
	/* to be tried again, after those that were not tried yet */
	save(outcomes, 3, TARGET_PENDING);
	save(outcomes, 4, TARGET_PENDING);
	save(outcomes, 3, TARGET_PENDING);
	claims(outcomes, 5, "dc");
	counts_are(2, 1, 1);
}

static void outcomes_are_kept(void **state)
{
	struct vec records = VEC_INIT(struct target_record);
	const struct target_record *first;

	(void)state;
	add(outcomes, 2);
	save(outcomes, 1, TARGET_PENDING);
	save(outcomes, 1, TARGET_TIMEOUT);
	save(outcomes, 1, TARGET_ORDERED);
	save(outcomes, 2, TARGET_UNREACHED);
	save(outcomes, 2, TARGET_PROVOKED);
	/* the same recording again */
	add(outcomes, 2);
	assert_null(outcomes_load(outcomes, &records));
	assert_int_equal(records.count, 2);
	first = vec_at(&records, 0);
	assert_int_equal(first->side.id, 1);
	assert_int_equal(first->outcome.result, TARGET_TIMEOUT);
	assert_int_equal(first->outcome.runs, 3);
	assert_int_equal(first->outcome.reached, 1);
	assert_int_equal(first->outcome.hold_ns, 7);
	assert_int_not_equal(first->time, 0);
	assert_int_equal(first[1].outcome.result, TARGET_PROVOKED);
	assert_int_equal(strlen(first[1].outcome.race), 32);
	for (size_t i = 0; i < records.count; i++)
		target_record_deinit(vec_at(&records, i));
	vec_deinit(&records);
}

/* What another one works on is not claimed, until that one is gone. */
static void several_share_a_store(void **state)
{
	struct outcomes *other;

	(void)state;
	add(outcomes, 3);
	assert_null(outcomes_open(path, command, &other));
	claims(other, 1, "a");
	assert_false(others);
	claims(outcomes, 1, "b");
	assert_true(others);
	claims(other, 1, "c");
	claims(outcomes, 9, "");
	assert_true(others);
	save(other, 1, TARGET_PENDING);
	claims(outcomes, 9, "a");
	outcomes_close(other);
	claims(outcomes, 9, "c");
}

static void what_a_killed_process_had_is_claimed_again(void **state)
{
	int ready[2], status;
	char byte;
	pid_t child;

	(void)state;
	add(outcomes, 2);
	outcomes_close(outcomes);
	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		assert_null(outcomes_open(path, command, &outcomes));
		claims(outcomes, 1, "a");
		assert_int_equal(write(ready[1], "", 1), 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_null(outcomes_open(path, command, &outcomes));
	claims(outcomes, 2, "b");
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	claims(outcomes, 2, "a");
	close(ready[0]);
	close(ready[1]);
}

static void what_has_not_changed_is_not_tried(void **state)
{
	struct vec records = VEC_INIT(struct target_record);
	struct outcomes *old;
	struct store *store;
	uint64_t count = 9, side = 9;

	(void)state;
	assert_null(outcomes_open(old_path, command, &old));
	add(old, 3);
	save(old, 1, TARGET_PROVOKED);
	save(old, 2, TARGET_TIMEOUT);
	/* 3 was not tried to the end, 4 is new */
	save(old, 3, TARGET_PENDING);
	outcomes_close(old);
	add(outcomes, 4);
	assert_null(outcomes_open_old(old_path, &store));
	assert_null(outcomes_since(outcomes, store, &count));
	assert_int_equal(count, 1);
	/* what has met a race is left out by itself */
	assert_null(outcomes_load_met(store, &records));
	assert_int_equal(records.count, 1);
	assert_null(outcomes_leave_out(outcomes, vec_at(&records, 0), &count,
				       &side));
	assert_int_equal(count, 1);
	assert_int_equal(side, 1);
	assert_null(outcomes_leave_out(outcomes, vec_at(&records, 0), &count,
				       &side));
	assert_int_equal(count, 0);
	assert_int_equal(side, 0);
	target_record_deinit(vec_at(&records, 0));
	vec_clear(&records);
	store_close(store);
	claims(outcomes, 9, "cd");
	counts_are(2, 0, 0);
	/* the race is theirs now */
	assert_null(outcomes_load_met(outcomes_store(outcomes), &records));
	assert_int_equal(records.count, 1);
	target_record_deinit(vec_at(&records, 0));
	vec_deinit(&records);
}

static void is_refused(struct error *err, enum error_kind kind,
		       const char *words)
{
	assert_non_null(err);
	assert_int_equal(err->kind, kind);
	if (!strstr(error_message(err), words))
		fail_msg("'%s' lacks '%s'", error_message(err), words);
	error_free(err);
}

static void other_stores_are_refused(void **state)
{
	char *shorter[] = { "./cache", NULL };
	char *longer[] = { "./cache", "--all", "x", NULL };
	struct outcomes *other;
	struct store *old;
	FILE *file = fopen(old_path, "w");

	(void)state;
	is_refused(outcomes_open(path, shorter, &other), ERROR_USAGE, path);
	is_refused(outcomes_open(path, longer, &other), ERROR_USAGE,
		   "of another command");
	assert_non_null(file);
	fputs("This is a text that is no database, of some length.\n", file);
	fclose(file);
	is_refused(outcomes_open(old_path, command, &other), ERROR_FORMAT,
		   old_path);
	is_refused(outcomes_open_old(old_path, &old), ERROR_FORMAT, old_path);
	unlink(old_path);
	is_refused(outcomes_open_old(old_path, &old), ERROR_USAGE,
		   "no store of a hunt");
}

/* How its fingerprint begins; a blank: there is none. */
static char found_at(const char *module, uint64_t offset)
{
	struct hunt_place place = { .module = (char *)(uintptr_t)module,
				    .offset = offset };
	struct target_record record;
	bool found = true;
	char letter;

	assert_null(outcomes_find_at(outcomes, &place, &record, &found));
	if (!found)
		return ' ';
	letter = record.side.fingerprint[0];
	assert_int_equal(record.side.place.offset, offset);
	target_record_deinit(&record);
	return letter;
}

/* All have one place. */
static void a_side_is_found_by_its_place(void **state)
{
	(void)state;
	add(outcomes, 3);
	assert_int_equal(found_at("/usr/bin/cache", 0x1178), ' ');
	assert_int_equal(found_at("/usr/bin/other", 0x1179), ' ');
	assert_int_equal(found_at("/usr/bin/cache", 0x1179), 'a');
	save(outcomes, 1, TARGET_ORDERED);
	save(outcomes, 2, TARGET_PROVOKED);
	assert_int_equal(found_at("/usr/bin/cache", 0x1179), 'b');
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sides_come_by_rank_and_once),
		TEST(outcomes_are_kept),
		TEST(several_share_a_store),
		TEST(what_a_killed_process_had_is_claimed_again),
		TEST(what_has_not_changed_is_not_tried),
		TEST(other_stores_are_refused),
		TEST(a_side_is_found_by_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

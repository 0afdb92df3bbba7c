/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/hunt/earlier.c: races that a hunt has left in its store, for one that goes on
 * and for one of a newer build.
 */
#include "hunt/earlier.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "hunt/kept.h"
#include "hunt/outcomes.h"
#include "image/elftext.h"
#include "report/race.h"
#include "sample-target.h"

static const char met[] = "cccccccccccccccccccccccccccccccc";

static char folder[40], path[64], old_path[64], module[64], own_build[80];
static char *command[] = { "./cache", NULL };
static struct outcomes *outcomes, *old;

static int begin(void **state)
{
	FILE *file;

	(void)state;
	strcpy(folder, "/tmp/racewatch-test.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/store", folder);
	snprintf(old_path, sizeof(old_path), "%s/old", folder);
	snprintf(module, sizeof(module), "%s/module", folder);
	file = fopen(module, "w");
	assert_non_null(file);
	fclose(file);
	assert_null(outcomes_open(path, command, &outcomes));
	assert_null(outcomes_open(old_path, command, &old));
	return 0;
}

static int end(void **state)
{
	(void)state;
	outcomes_close(outcomes);
	outcomes_close(old);
	unlink(path);
	unlink(old_path);
	unlink(module);
	rmdir(folder);
	return 0;
}

/* The module has no build id: its time tells. */
static void set_place(struct hunt_place *place, uint64_t offset)
{
	free(place->module);
	free(place->build_id);
	place->module = strdup(module);
	place->build_id = NULL;
	place->offset = offset;
}

/* The side of that number at 0x10, whose partner is at 0x20. */
static void add_side_of(struct outcomes *to, unsigned int number)
{
	struct vec sides = VEC_INIT(struct hunt_side);
	struct hunt_side *side = vec_append(&sides);
	struct hunt_partner *partner;

	assert_non_null(side);
	hunt_side_init(side);
	sample_hunt_side(side, 99);
	snprintf(side->fingerprint, sizeof(side->fingerprint), "%032x", number);
	set_place(&side->place, 0x10);
	partner = vec_at(&side->partners, 0);
	set_place(&partner->place, 0x20);
	assert_null(outcomes_add_sides(to, &sides));
	hunt_side_deinit(side);
	vec_deinit(&sides);
}

static void add_side(struct outcomes *to)
{
	add_side_of(to, 1);
}

static void provoke_side(struct outcomes *to, uint64_t side)
{
	struct target_outcome outcome = { .result = TARGET_PROVOKED,
					  .runs = 1 };

	memcpy(outcome.race, met, sizeof(met));
	assert_null(outcomes_save(to, side, &outcome));
}

static void provoke(struct outcomes *to)
{
	provoke_side(to, 1);
}

static void add_frame(struct race_side *side, uint64_t offset, const char *file,
		      const char *build_id)
{
	struct race_frame *frame = vec_append(&side->frames);

	assert_non_null(frame);
	*frame = (struct race_frame){
		.module = strdup(file),
		.build_id = build_id ? strdup(build_id) : NULL,
		.file = strdup("cache.c"),
		.line = (int)offset,
		.offset = offset,
	};
	side->access = ACCESS_WRITE;
}

/* One of 0x10 and another place. */
static void keep_race(struct outcomes *in, uint64_t other, const char *file,
		      const char *build_id)
{
	struct race race;

	race_init(&race);
	race.size = 4;
	race.time = clock_wall_ns();
	race.target = 1;
	race.evidence = EVIDENCE_PROVOKED;
	memcpy(race.fingerprint, met, sizeof(met));
	add_frame(&race.sides[0], 0x10, file, build_id);
	add_frame(&race.sides[1], other, file, build_id);
	assert_null(kept_add_race(in, &race));
	race_deinit(&race);
}

/* The store tells `races' races; the files of `changed' others have changed. */
static void tells(uint64_t races, uint64_t changed)
{
	struct vec told = VEC_INIT(struct race *);
	struct vec others = VEC_INIT(struct race *);

	assert_null(earlier_races(outcomes, &told, &others));
	assert_int_equal(told.count, races);
	assert_int_equal(others.count, changed);
	for (size_t i = 0; i < others.count; i++)
		race_free(*(struct race **)vec_at(&others, i));
	vec_deinit(&others);
	for (size_t i = 0; i < told.count; i++) {
		struct race *race = *(struct race **)vec_at(&told, i);

		assert_in_range(race->target, 1, 2);
		race_free(race);
	}
	vec_deinit(&told);
}

/* Of the old store: how many sides are left out, and how many are to be tried. */
static void leaves_out(uint64_t unchanged, uint64_t pending)
{
	struct outcomes_counts counts;
	uint64_t count = 9;

	for (unsigned int i = 1; i <= unchanged + pending; i++)
		add_side_of(outcomes, i);
	assert_null(earlier_since(outcomes, old_path, &count));
	assert_int_equal(count, unchanged);
	assert_null(outcomes_count(outcomes, &counts));
	assert_int_equal(counts.results[TARGET_UNCHANGED], unchanged);
	assert_int_equal(counts.results[TARGET_PENDING], pending);
}

/* The module is written to now, as by a compiler: a day after the race. */
static void write_later(void)
{
	const struct timespec times[2] = {
		{ .tv_sec = time(NULL) + 86400 },
		{ .tv_sec = time(NULL) + 86400 },
	};

	assert_int_equal(utimensat(AT_FDCWD, module, times, 0), 0);
}

static void a_new_store_has_none(void **state)
{
	(void)state;
	tells(0, 0);
}

static void races_go_on_with_their_store(void **state)
{
	(void)state;
	add_side(outcomes);
	provoke(outcomes);
	keep_race(outcomes, 0x20, module, NULL);
	tells(1, 0);
}

static void a_file_that_is_newer_has_changed(void **state)
{
	(void)state;
	add_side(outcomes);
	provoke(outcomes);
	keep_race(outcomes, 0x20, module, NULL);
	write_later();
	tells(0, 1);
}

/* The test may build its programs each time. */
static void a_file_that_is_gone_has_not_changed(void **state)
{
	(void)state;
	add_side(outcomes);
	provoke(outcomes);
	keep_race(outcomes, 0x20, module, NULL);
	keep_race(outcomes, 0x30, module, "00aa11bb");
	assert_int_equal(unlink(module), 0);
	tells(2, 0);
}

/* That of this program, which has a build id. */
static void find_own_build(char exe[4096])
{
	ssize_t length = readlink("/proc/self/exe", exe, 4095);
	struct elftext *text;

	assert_true(length > 0);
	exe[length] = '\0';
	assert_null(elftext_open(exe, exe, &text));
	snprintf(own_build, sizeof(own_build), "%s",
		 elftext_build_id(text) ? elftext_build_id(text) : "");
	elftext_close(text);
}

static void a_build_is_told_by_its_id(void **state)
{
	char exe[4096];

	(void)state;
	find_own_build(exe);
	if (!own_build[0])
		skip();
	add_side(outcomes);
	keep_race(outcomes, 0x20, exe, own_build);
	tells(1, 0);
}

static void another_build_is_told_by_its_id(void **state)
{
	char exe[4096];

	(void)state;
	find_own_build(exe);
	add_side(outcomes);
	keep_race(outcomes, 0x20, exe, "00aa11bb");
	tells(0, 1);
}

static void a_race_of_unchanged_code_is_taken(void **state)
{
	(void)state;
	add_side(old);
	provoke(old);
	/* its frames are of the old build */
	keep_race(old, 0x20, module, "00aa11bb");
	leaves_out(1, 0);
	tells(1, 0);
	/* and has changed when the new store's build has */
	write_later();
	tells(0, 1);
}

static void a_race_with_other_code_is_to_be_met_again(void **state)
{
	(void)state;
	add_side(old);
	provoke(old);
	keep_race(old, 0x30, module, "00aa11bb");
	leaves_out(0, 1);
	tells(0, 0);
}

static void one_of_two_races_may_have_other_code(void **state)
{
	(void)state;
	add_side(old);
	provoke(old);
	keep_race(old, 0x20, module, "00aa11bb");
	keep_race(old, 0x30, module, "00aa11bb");
	leaves_out(0, 1);
	tells(0, 0);
}

static void a_side_without_its_race_is_tried_again(void **state)
{
	(void)state;
	add_side(old);
	provoke(old);
	leaves_out(0, 1);
	tells(0, 0);
}

/* Two sides with the same code; the second has met that race too. */
static void add_second(void)
{
	add_side(old);
	add_side_of(old, 2);
	provoke(old);
	keep_race(old, 0x20, module, "00aa11bb");
}

static void sides_with_the_same_code_go_together(void **state)
{
	(void)state;
	add_second();
	provoke_side(old, 2);
	leaves_out(2, 0);
	tells(1, 0);
}

static void one_with_the_same_code_may_be_left(void **state)
{
	(void)state;
	add_second();
	leaves_out(0, 2);
	tells(0, 0);
}

static void one_with_the_same_code_may_have_met_other_code(void **state)
{
	(void)state;
	add_second();
	provoke_side(old, 2);
	keep_race(old, 0x30, module, "00aa11bb");
	leaves_out(0, 2);
	tells(0, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_store_has_none),
		TEST(races_go_on_with_their_store),
		TEST(a_file_that_is_newer_has_changed),
		TEST(a_file_that_is_gone_has_not_changed),
		TEST(a_build_is_told_by_its_id),
		TEST(another_build_is_told_by_its_id),
		TEST(a_race_of_unchanged_code_is_taken),
		TEST(a_race_with_other_code_is_to_be_met_again),
		TEST(one_of_two_races_may_have_other_code),
		TEST(a_side_without_its_race_is_tried_again),
		TEST(sides_with_the_same_code_go_together),
		TEST(one_with_the_same_code_may_be_left),
		TEST(one_with_the_same_code_may_have_met_other_code),
	};

	return cmocka_run_group_tests_name("earlier", tests, NULL, NULL);
}

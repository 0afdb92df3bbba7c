/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/kept.c: candidates and races in a store, for a hunt that goes on. */
#include "hunt/kept.h"

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
#include "hunt/candidates.h"
#include "hunt/outcomes.h"
#include "report/race.h"

static char folder[40], path[64];
static char *command[] = { "./cache", NULL };
static struct outcomes *outcomes;

static int begin(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/racewatch-test.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/store", folder);
	assert_null(outcomes_open(path, command, &outcomes));
	return 0;
}

static int end(void **state)
{
	(void)state;
	outcomes_close(outcomes);
	unlink(path);
	rmdir(folder);
	return 0;
}

static void make_race(struct race *race, int line)
{
	race_init(race);
	race->size = 4;
	for (int i = 0; i < 2; i++) {
		struct race_frame *frame = vec_append(&race->sides[i].frames);

		assert_non_null(frame);
		frame->file = strdup("cache.c");
		frame->function = strdup("used");
		frame->line = line + i;
		race->sides[i].access = ACCESS_WRITE;
	}
}

/* Two, of lines 10 and 20, as they are read. */
static struct candidates two_candidates(void)
{
	struct candidates ret = { VEC_INIT(struct candidate) };

	for (int i = 1; i <= 2; i++) {
		struct candidate *candidate = vec_append(&ret.items);

		assert_non_null(candidate);
		*candidate = (struct candidate){
			.race = malloc(sizeof(struct race)),
			.sides = VEC_INIT(struct candidate_side),
		};
		assert_non_null(candidate->race);
		make_race(candidate->race, 10 * i);
		candidate->race->id = (uint64_t)i;
	}
	return ret;
}

static struct candidate *at(struct candidates *candidates, size_t i)
{
	return vec_at(&candidates->items, i);
}

static void add_side(struct candidate *candidate, const char *fingerprint)
{
	struct candidate_side *side = vec_append(&candidate->sides);

	assert_non_null(side);
	snprintf(side->fingerprint, sizeof(side->fingerprint), "%s",
		 fingerprint);
}

static void save(void)
{
	struct candidates candidates = two_candidates();
	struct candidate *first = at(&candidates, 0);

	first->found = true;
	first->fits[0] = CLAIM_BY_LINE;
	first->fits[1] = CLAIM_INLINED;
	first->left_out = true;
	add_side(first, "aaaa");
	add_side(first, "bbbb");
	at(&candidates, 1)->ordered = true;
	at(&candidates, 1)->fits[0] = CLAIM_BY_BYTES;
	assert_null(kept_save(outcomes, &candidates));
	candidates_deinit(&candidates);
}

static void what_the_recording_showed_is_kept(void **state)
{
	struct candidates candidates = two_candidates();
	const struct candidate *first = at(&candidates, 0);
	const struct candidate *second = at(&candidates, 1);
	const struct candidate_side *side;

	(void)state;
	save();
	/* what is saved again takes the place of that */
	save();
	assert_null(kept_load(outcomes, &candidates));
	assert_true(first->found);
	assert_int_equal(first->fits[0], CLAIM_BY_LINE);
	assert_int_equal(first->fits[1], CLAIM_INLINED);
	assert_true(first->left_out);
	assert_false(first->ordered);
	assert_int_equal(first->sides.count, 2);
	side = vec_at(&first->sides, 1);
	assert_string_equal(side->fingerprint, "bbbb");
	assert_false(second->found);
	assert_int_equal(second->fits[0], CLAIM_BY_BYTES);
	assert_true(second->ordered);
	assert_int_equal(second->sides.count, 0);
	candidates_deinit(&candidates);
}

/* A store of another version has the same numbers. */
static void fits_keep_their_numbers(void **state)
{
	(void)state;
	assert_int_equal(CLAIM_NOT, 0);
	assert_int_equal(CLAIM_BY_FUNCTION, 1);
	assert_int_equal(CLAIM_BY_CALL, 2);
	assert_int_equal(CLAIM_BY_LINE, 3);
	assert_int_equal(CLAIM_BY_BYTES, 4);
	assert_int_equal(CLAIM_RESIZED, 5);
	assert_int_equal(CLAIM_INLINED, 6);
}

static void assert_refused(struct candidates *candidates, const char *why)
{
	struct error *err = kept_load(outcomes, candidates);

	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_USAGE);
	assert_non_null(strstr(error_message(err), why));
	error_free(err);
	candidates_deinit(candidates);
}

static void other_candidates_are_refused(void **state)
{
	struct candidates candidates = two_candidates();
	struct race_frame *frame;

	(void)state;
	assert_refused(&candidates, "without --candidates");
	save();
	candidates = two_candidates();
	frame = vec_at(&at(&candidates, 1)->race->sides[1].frames, 0);
	frame->line++;
	assert_refused(&candidates, "other --candidates");
	/* fewer, and more */
	candidates = two_candidates();
	race_free(at(&candidates, 1)->race);
	candidates.items.count = 1;
	assert_refused(&candidates, "other --candidates");
	candidates = (struct candidates){ VEC_INIT(struct candidate) };
	assert_null(kept_save(outcomes, &candidates));
	candidates = two_candidates();
	assert_refused(&candidates, "other --candidates");
}

/* Another tool's report has the times of its file. */
static void a_copy_of_the_report_is_the_same(void **state)
{
	struct candidates candidates = two_candidates();

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		at(&candidates, i)->race->time = 1000000000 * (i + 1);
		at(&candidates, i)->race->last_time = 2000000000;
	}
	assert_null(kept_save(outcomes, &candidates));
	candidates_deinit(&candidates);
	candidates = two_candidates();
	for (size_t i = 0; i < 2; i++) {
		at(&candidates, i)->race->time = 3000000000;
		at(&candidates, i)->race->last_time = 3000000000;
	}
	assert_null(kept_load(outcomes, &candidates));
	candidates_deinit(&candidates);
}

static void add_race(int line, enum race_verdict verdict)
{
	struct race race;

	make_race(&race, line);
	race.id = 3;
	race.verdict = verdict;
	assert_null(kept_add_race(outcomes, &race));
	race_deinit(&race);
}

/* Line 10, called at this line. */
static void add_race_by_caller(int line)
{
	struct race_frame *frame;
	struct race race;

	make_race(&race, 10);
	frame = vec_append(&race.sides[1].frames);
	assert_non_null(frame);
	frame->file = strdup("cache.c");
	frame->line = line;
	assert_null(kept_add_race(outcomes, &race));
	race_deinit(&race);
}

static int verdicts_at(const struct vec *races, int line,
		       enum race_verdict verdict)
{
	int count = 0;

	for (size_t i = 0; i < races->count; i++) {
		const struct race *race =
			*(struct race *const *)vec_at(races, i);
		const struct race_frame *frame =
			vec_at(&race->sides[0].frames, 0);

		assert_int_equal(race->id, 0);
		count += frame->line == line && race->verdict == verdict;
	}
	return count;
}

static void free_races(struct vec *races)
{
	for (size_t i = 0; i < races->count; i++)
		race_free(*(struct race **)vec_at(races, i));
	vec_deinit(races);
}

static void races_are_kept_without_candidates(void **state)
{
	struct vec races = VEC_INIT(struct race *);
	struct candidates candidates = two_candidates();

	(void)state;
	add_race(10, VERDICT_SUSPECT);
	assert_null(kept_races(outcomes, &races));
	assert_int_equal(races.count, 1);
	/* the store has none for all that */
	assert_refused(&candidates, "without --candidates");
	free_races(&races);
}

static void a_race_is_kept_by_each_of_its_callers(void **state)
{
	struct vec races = VEC_INIT(struct race *);

	(void)state;
	add_race_by_caller(90);
	add_race_by_caller(91);
	add_race_by_caller(90);
	assert_null(kept_races(outcomes, &races));
	assert_int_equal(races.count, 2);
	free_races(&races);
}

static void the_graver_of_two_races_is_kept(void **state)
{
	struct vec races = VEC_INIT(struct race *);

	(void)state;
	assert_null(kept_races(outcomes, &races));
	assert_int_equal(races.count, 0);
	save();
	add_race(10, VERDICT_SUSPECT);
	add_race(10, VERDICT_HARMFUL);
	add_race(10, VERDICT_SUSPECT);
	assert_null(kept_races(outcomes, &races));
	assert_int_equal(races.count, 1);
	assert_int_equal(verdicts_at(&races, 10, VERDICT_HARMFUL), 1);
	free_races(&races);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_the_recording_showed_is_kept, begin, end),
		cmocka_unit_test(fits_keep_their_numbers),
		cmocka_unit_test_setup_teardown(other_candidates_are_refused,
						begin, end),
		cmocka_unit_test_setup_teardown(
			a_copy_of_the_report_is_the_same, begin, end),
		cmocka_unit_test_setup_teardown(
			races_are_kept_without_candidates, begin, end),
		cmocka_unit_test_setup_teardown(
			a_race_is_kept_by_each_of_its_callers, begin, end),
		cmocka_unit_test_setup_teardown(the_graver_of_two_races_is_kept,
						begin, end),
	};

	return cmocka_run_group_tests_name("kept", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/triage.c: what came of a candidate, by its sides and the races met. */
#include "hunt/ordered.h"
#include "hunt/triage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "hunt/candidates.h"
#include "report/candidate-record.h"
#include "report/race.h"
#include "report/target-record.h"

/* A race of two lines of one file. */
static void make_race(struct race *race, int one, int two)
{
	race_init(race);
	for (int i = 0; i < 2; i++) {
		struct race_frame *frame = vec_append(&race->sides[i].frames);

		assert_non_null(frame);
		frame->file = strdup("s.c");
		frame->line = i ? two : one;
		race->sides[i].access = ACCESS_WRITE;
	}
}

struct scene {
	struct race reported, met;
	struct candidate candidate;
	struct target_record targets[2];
	size_t target_count;
	bool any_race;
};

/* A candidate with two sides, both of which were tried in vain. */
static void set_up(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	make_race(&scene->reported, 9, 13);
	make_race(&scene->met, 13, 9);
	scene->reported.id = 1;
	scene->met.id = 7;
	scene->met.verdict = VERDICT_SUSPECT;
	scene->candidate = (struct candidate){
		.race = &scene->reported,
		.found = true,
		.sides = VEC_INIT(struct candidate_side),
	};
	scene->target_count = 2;
	for (size_t i = 0; i < 2; i++) {
		struct candidate_side *side =
			vec_append(&scene->candidate.sides);
		struct target_record *target = &scene->targets[i];

		assert_non_null(side);
		side->fingerprint[0] = (char)('a' + i);
		target_record_init(target);
		target->side.fingerprint[0] = (char)('a' + i);
		target->side.id = 4 + i;
		target->outcome.result = TARGET_TIMEOUT;
		target->outcome.runs = 2;
	}
}

static void judged(struct scene *scene, unsigned int result, uint64_t tries,
		   const char *ordered_by)
{
	const struct race *met = &scene->met;
	struct candidates candidates = { { &scene->candidate, 1, 1,
					   sizeof(scene->candidate) } };
	struct vec targets = { scene->targets, scene->target_count, 2,
			       sizeof(*scene->targets) };
	struct vec races = { (void *)(uintptr_t)&met, scene->any_race, 1,
			     sizeof(met) };
	struct vec records = VEC_INIT(struct candidate_record);
	struct candidate_record *record;

	assert_null(triage(&candidates, &targets, &races, &records));
	assert_int_equal(records.count, 1);
	record = vec_at(&records, 0);
	assert_int_equal(record->result, result);
	assert_int_equal(record->tries, tries);
	if (ordered_by)
		assert_string_equal(record->ordered_by, ordered_by);
	else
		assert_null(record->ordered_by);
	assert_int_equal(record->race_id, result == CANDIDATE_PROVOKED ? 7 : 0);
	candidate_record_deinit(record);
	vec_deinit(&records);
}

static void tear_down(struct scene *scene)
{
	race_deinit(&scene->reported);
	race_deinit(&scene->met);
	vec_deinit(&scene->candidate.sides);
	for (size_t i = 0; i < 2; i++)
		target_record_deinit(&scene->targets[i]);
}

static void a_race_on_its_lines_is_it(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	scene.any_race = true;
	judged(&scene, CANDIDATE_PROVOKED, 4, NULL);
	/* whatever side met it */
	scene.target_count = 0;
	judged(&scene, CANDIDATE_PROVOKED, 0, NULL);
	tear_down(&scene);
}

/* A write was reported, and the race that was met last is of a read. */
static void a_race_that_a_side_met_may_read_where_it_wrote(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.any_race = true;
	scene.met.sides[0].access = ACCESS_READ;
	strcpy(scene.met.fingerprint, "of the race");
	scene.targets[1].outcome.result = TARGET_PROVOKED;
	strcpy(scene.targets[1].outcome.race, "of another");
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	strcpy(scene.targets[1].outcome.race, "of the race");
	judged(&scene, CANDIDATE_PROVOKED, 4, NULL);
	/* it has met several, of which the outcome has the first */
	strcpy(scene.targets[1].outcome.race, "of another");
	scene.met.target = 6;
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	scene.met.target = 5;
	judged(&scene, CANDIDATE_PROVOKED, 4, NULL);
	tear_down(&scene);
}

/* Valgrind has put the program at 0x108000. */
static void set_address(struct scene *scene, uint64_t offset)
{
	scene->reported.evidence = EVIDENCE_REPORTED;
	free(scene->reported.backend);
	scene->reported.backend = strdup("helgrind");
	assert_non_null(scene->reported.backend);
	scene->reported.address = 0x108000 + offset;
}

/* A thread's call was named: the address tells what it accessed there. */
static void of_a_call_the_variable_counts_too(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.any_race = true;
	set_address(&scene, 0x4080);
	scene.met.variable.region = REGION_GLOBAL;
	scene.met.variable.module_offset = 0x4088;
	scene.candidate.fits[0] = scene.candidate.fits[1] = CLAIM_BY_LINE;
	judged(&scene, CANDIDATE_PROVOKED, 4, NULL);
	scene.candidate.fits[0] = CLAIM_BY_CALL;
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	scene.met.variable.module_offset = 0x4080;
	judged(&scene, CANDIDATE_PROVOKED, 4, NULL);
	/* so it does where no line fits */
	scene.candidate.fits[0] = CLAIM_BY_LINE;
	scene.candidate.fits[1] = CLAIM_BY_FUNCTION;
	judged(&scene, CANDIDATE_PROVOKED, 4, NULL);
	scene.met.variable.module_offset = 0x4088;
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	tear_down(&scene);
}

static void set_module(struct scene *scene, const char *path)
{
	free(scene->met.variable.module);
	scene->met.variable.module = strdup(path);
	assert_non_null(scene->met.variable.module);
}

/* Whatever it has at the offset that the program's variable has. */
static void a_variable_of_a_library_is_not_the_program_s(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.any_race = true;
	set_address(&scene, 0x4080);
	scene.met.variable.region = REGION_GLOBAL;
	scene.met.variable.module_offset = 0x4080;
	scene.candidate.fits[0] = scene.candidate.fits[1] = CLAIM_BY_FUNCTION;
	set_module(&scene, "/a/library.so");
	/* of whose processes nothing is known */
	judged(&scene, CANDIDATE_PROVOKED, 4, NULL);
	scene.targets[1].side.program = strdup("/a/program");
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	set_module(&scene, "/a/program");
	judged(&scene, CANDIDATE_PROVOKED, 4, NULL);
	/* even if its lines are those */
	set_module(&scene, "/a/library.so");
	scene.candidate.fits[0] = scene.candidate.fits[1] = CLAIM_BY_LINE;
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	tear_down(&scene);
}

/* A line may have accesses of several. */
static void another_variable_of_the_line_is_another_race(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.any_race = true;
	scene.candidate.fits[0] = scene.candidate.fits[1] = CLAIM_BY_LINE;
	scene.reported.variable.region = REGION_GLOBAL;
	scene.reported.variable.symbol = strdup("head");
	scene.met.variable.region = REGION_GLOBAL;
	scene.met.variable.module_offset = 0x4080;
	scene.met.variable.symbol = strdup("items");
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	free(scene.met.variable.symbol);
	scene.met.variable.symbol = strdup("head");
	judged(&scene, CANDIDATE_PROVOKED, 4, NULL);
	tear_down(&scene);
}

/* The access is in another function than the report names. */
static void where_bytes_tell_lines_do_not_count(void **state)
{
	struct scene scene;
	struct race_frame *frame;

	(void)state;
	set_up(&scene);
	scene.any_race = true;
	((struct race_frame *)vec_at(&scene.met.sides[0].frames, 0))->line = 14;
	set_address(&scene, 0x4080);
	scene.met.variable.region = REGION_GLOBAL;
	scene.met.variable.module_offset = 0x4080;
	scene.targets[1].side.program = strdup("/a/program");
	set_module(&scene, "/a/program");
	scene.candidate.fits[0] = CLAIM_BY_LINE;
	scene.candidate.fits[1] = CLAIM_BY_BYTES;
	judged(&scene, CANDIDATE_PROVOKED, 4, NULL);
	/* those of the other side do: a third place accesses the bytes, too */
	frame = vec_at(&scene.met.sides[1].frames, 0);
	frame->line = 10;
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	scene.candidate.fits[0] = CLAIM_BY_BYTES;
	judged(&scene, CANDIDATE_PROVOKED, 4, NULL);
	/* a library has other bytes there */
	set_module(&scene, "/a/library.so");
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	set_module(&scene, "/a/program");
	scene.met.variable.module_offset = 0x4088;
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	scene.met.variable.module_offset = 0x4080;
	scene.met.variable.region = REGION_HEAP;
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	tear_down(&scene);
}

static void another_race_is_not(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.any_race = true;
	((struct race_frame *)vec_at(&scene.met.sides[0].frames, 0))->line = 14;
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	tear_down(&scene);
}

static void accesses_that_synchronize_are_ordered(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.any_race = true;
	scene.met.verdict = VERDICT_SYNC;
	judged(&scene, CANDIDATE_ORDERED, 4, "their own synchronization");
	tear_down(&scene);
}

static void name_functions(struct race *race, int moved)
{
	for (int i = 0; i < 2; i++) {
		struct race_frame *frame = vec_at(&race->sides[i].frames, 0);

		frame->function = strdup("f");
		assert_non_null(frame->function);
		frame->line += moved;
	}
}

/* It is another access of the function that its own synchronization orders. */
static void what_was_not_recorded_is_not_ordered(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	name_functions(&scene.reported, 0);
	name_functions(&scene.met, 1);
	scene.candidate.fits[0] = CLAIM_BY_FUNCTION;
	scene.candidate.fits[1] = CLAIM_BY_FUNCTION;
	scene.any_race = true;
	judged(&scene, CANDIDATE_PROVOKED, 4, NULL);
	scene.met.verdict = VERDICT_SYNC;
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	for (size_t i = 0; i < 2; i++) {
		scene.targets[i].outcome.result = TARGET_ORDERED;
		scene.targets[i].outcome.ordered_by = strdup("their lock");
	}
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	scene.candidate.ordered = true;
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	scene.candidate.fits[0] = CLAIM_BY_LINE;
	scene.candidate.fits[1] = CLAIM_INLINED;
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	scene.candidate.fits[1] = CLAIM_RESIZED;
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	scene.candidate.fits[0] = scene.candidate.fits[1] = CLAIM_NOT;
	scene.any_race = false;
	scene.candidate.ordered = false;
	judged(&scene, CANDIDATE_ORDERED, 4, "their lock");
	/* the recording may lack the access that has no lock */
	scene.candidate.incomplete = true;
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	tear_down(&scene);
}

static void all_its_sides_must_be_ordered(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.targets[1].outcome.result = TARGET_ORDERED;
	scene.targets[1].outcome.ordered_by = strdup("their lock");
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	scene.targets[0].outcome.result = TARGET_ORDERED;
	scene.targets[0].outcome.ordered_by = strdup("their lock");
	judged(&scene, CANDIDATE_ORDERED, 4, "their lock");
	tear_down(&scene);
}

/* In another run, the other thread might have come. */
static void chance_orders_nothing(void **state)
{
	static const char *const texts[] = {
		"thread 0.0, which had ended",
		"thread 0.0, which waited for the barrier `all` (work, s.c:9)",
		"thread 0.5, which was not created yet; thread 0.1, which had ended",
	};

	(void)state;
	for (size_t n = 0; n < sizeof(texts) / sizeof(*texts); n++) {
		struct scene scene;

		set_up(&scene);
		for (size_t i = 0; i < 2; i++) {
			scene.targets[i].outcome.result = TARGET_ORDERED;
			scene.targets[i].outcome.ordered_by =
				strdup(i == 0 ? "their lock" : texts[n]);
		}
		judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
		tear_down(&scene);
	}
}

/* The pairs that are ordered may not be the one that is meant. */
static void what_names_one_access_is_not_ordered(void **state)
{
	struct scene scene;
	struct race_side *side;

	(void)state;
	set_up(&scene);
	for (size_t i = 0; i < 2; i++) {
		scene.targets[i].outcome.result = TARGET_ORDERED;
		scene.targets[i].outcome.ordered_by = strdup("their lock");
	}
	side = &scene.reported.sides[1];
	free(((struct race_frame *)vec_at(&side->frames, 0))->file);
	vec_clear(&side->frames);
	judged(&scene, CANDIDATE_NOT_MET, 4, NULL);
	tear_down(&scene);
}

static void the_recording_may_have_the_answer(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.target_count = scene.candidate.sides.count = 0;
	scene.candidate.ordered = true;
	judged(&scene, CANDIDATE_ORDERED, 0,
	       "the creation or the end of a thread");
	/* the recording lacks accesses: it was tried in vain, or not to the end */
	scene.target_count = scene.candidate.sides.count = 2;
	judged(&scene, CANDIDATE_ORDERED, 4,
	       "the creation or the end of a thread");
	scene.targets[0].outcome.result = TARGET_PENDING;
	judged(&scene, CANDIDATE_PENDING, 4, NULL);
	scene.candidate.found = scene.candidate.ordered = false;
	judged(&scene, CANDIDATE_NOT_FOUND, 4, NULL);
	tear_down(&scene);
}

static void what_was_not_tried_is_open(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.targets[0].outcome.result = TARGET_PENDING;
	judged(&scene, CANDIDATE_PENDING, 4, NULL);
	tear_down(&scene);
}

static void what_was_left_out_is_open(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.target_count = 1;
	judged(&scene, CANDIDATE_PENDING, 2, NULL);
	scene.target_count = 2;
	scene.candidate.left_out = true;
	judged(&scene, CANDIDATE_PENDING, 4, NULL);
	tear_down(&scene);
}

static void it_is_said_in_words(void **state)
{
	struct candidate_record record;
	struct strbuf line = { 0 };
	uint64_t counts[CANDIDATE_RESULTS] = {
		[CANDIDATE_PROVOKED] = 2, [CANDIDATE_NOT_MET] = 1
	};

	(void)state;
	candidate_record_init(&record);
	race_deinit(&record.race);
	make_race(&record.race, 9, 13);
	record.race.sides[0].size = 8;
	record.result = CANDIDATE_NOT_MET;
	record.tries = 3;
	candidate_say(&line, &record);
	assert_non_null(strstr(strbuf_text(&line),
			       "write against write, 8 bytes, memory without "
			       "a name: "));
	assert_non_null(strstr(strbuf_text(&line), ": not met, in 3 tries"));
	strbuf_clear(&line);
	candidate_say_counts(&line, counts);
	assert_string_equal(strbuf_text(&line),
			    "3 candidates: 2 provoked, 1 not met");
	strbuf_deinit(&line);
	candidate_record_deinit(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_race_on_its_lines_is_it),
		cmocka_unit_test(
			a_race_that_a_side_met_may_read_where_it_wrote),
		cmocka_unit_test(of_a_call_the_variable_counts_too),
		cmocka_unit_test(a_variable_of_a_library_is_not_the_program_s),
		cmocka_unit_test(another_variable_of_the_line_is_another_race),
		cmocka_unit_test(where_bytes_tell_lines_do_not_count),
		cmocka_unit_test(another_race_is_not),
		cmocka_unit_test(accesses_that_synchronize_are_ordered),
		cmocka_unit_test(what_was_not_recorded_is_not_ordered),
		cmocka_unit_test(all_its_sides_must_be_ordered),
		cmocka_unit_test(chance_orders_nothing),
		cmocka_unit_test(what_names_one_access_is_not_ordered),
		cmocka_unit_test(the_recording_may_have_the_answer),
		cmocka_unit_test(what_was_not_tried_is_open),
		cmocka_unit_test(what_was_left_out_is_open),
		cmocka_unit_test(it_is_said_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/report/fingerprint.c: what makes another race and what does not. Each
 * test changes one thing of the same sample.
 */
#include "report/race.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample-race.h"

/* Which of the two fingerprints a change of the sample changes. */
enum changed { NEITHER = 0, NAMES = 1, CODE = 2 };

static int changed_by(void (*change)(struct race *race))
{
	struct race one, two;
	int changed;

	sample_race(&one);
	sample_race(&two);
	change(&two);
	assert_true(race_fingerprint(&one));
	assert_true(race_fingerprint(&two));
	changed =
		(strcmp(one.fingerprint, two.fingerprint) ? NAMES : 0) |
		(strcmp(one.fingerprint_code, two.fingerprint_code) ? CODE : 0);
	race_deinit(&one);
	race_deinit(&two);
	return changed;
}

static struct race_frame *frame(struct race *race, int side, size_t i)
{
	return vec_at(&race->sides[side].frames, i);
}

static void swap_sides(struct race *race)
{
	struct race_side side = race->sides[0];

	race->sides[0] = race->sides[1];
	race->sides[1] = side;
}

static void change_incidentals(struct race *race)
{
	race->id = 9;
	race->time++;
	race->address += 4096;
	race->before[0] = 1;
	race->evidence = EVIDENCE_COLLISION;
	race->elapsed_ns = 1;
	race->sides[0].tid = 77;
	race->sides[0].access = ACCESS_READ;
	race->sides[1].thread_path[0] = 5;
	sample_set(&race->sides[0].thread, "renamed");
	sample_set(&race->variable.file, "moved.c");
	race->variable.line = 1;
	frame(race, 0, 0)->line = 100;
	frame(race, 0, 1)->column = 3;
	sample_set(&frame(race, 0, 0)->file, "moved.c");
}

static void other_function(struct race *race)
{
	sample_set(&frame(race, 0, 0)->function, "shard_clear");
}

static void other_caller(struct race *race)
{
	sample_set(&frame(race, 0, 1)->function, "loader");
}

static void other_field(struct race *race)
{
	sample_set(&race->variable.name, "shards[3].capacity");
}

static void other_element(struct race *race)
{
	sample_set(&race->variable.name, "shards[12].used");
	race->variable.offset = 200;
}

static void other_instruction(struct race *race)
{
	frame(race, 0, 0)->offset++;
}

static void other_return_address(struct race *race)
{
	frame(race, 0, 1)->offset++;
}

static void copied_by_libc(struct race *race)
{
	for (int i = 0; i < 2; i++) {
		sample_set(&frame(race, i, 0)->module, "/lib/libc.so.6");
		sample_set(&frame(race, i, 0)->function, "__memmove_avx");
		frame(race, i, 0)->offset = 0x160000;
	}
}

static void copied_by_libc_for_another(struct race *race)
{
	copied_by_libc(race);
	frame(race, 1, 1)->offset++;
}

static void other_build(struct race *race)
{
	sample_set(&frame(race, 1, 0)->build_id, "ff");
}

static void clone_of_function(struct race *race)
{
	sample_set(&frame(race, 0, 0)->function, "shard_add.constprop.0.cold");
	sample_set(&frame(race, 1, 0)->function, "shard_evict [clone .isra.0]");
}

static void runtime_below(struct race *race)
{
	sample_frame(&race->sides[0], "start_thread", 0, 0x1);
	sample_frame(&race->sides[0], "__clone3", 0, 0x2);
	sample_frame(&race->sides[0], NULL, 0, 0x3);
}

static void deeper_recursion(struct race *race)
{
	sample_frame(&race->sides[0], "filler", 14, 0x11a0);
	sample_frame(&race->sides[0], "filler", 14, 0x11a0);
}

static void which_side_was_stalled_does_not_count(void **state)
{
	(void)state;
	assert_int_equal(changed_by(swap_sides), NEITHER);
}

static void lines_addresses_and_threads_do_not_count(void **state)
{
	(void)state;
	assert_int_equal(changed_by(change_incidentals), NEITHER);
}

static void functions_and_callers_count_by_name(void **state)
{
	(void)state;
	assert_int_equal(changed_by(other_function), NAMES);
	assert_int_equal(changed_by(other_caller), NAMES);
}

static void fields_count_and_elements_do_not(void **state)
{
	(void)state;
	assert_int_equal(changed_by(other_field), NAMES);
	assert_int_equal(changed_by(other_element), NEITHER);
}

static void instructions_and_builds_count_by_code(void **state)
{
	(void)state;
	assert_int_equal(changed_by(other_instruction), CODE);
	assert_int_equal(changed_by(other_build), CODE);
	assert_int_equal(changed_by(other_return_address), NEITHER);
}

static void compilers_suffixes_do_not_count(void **state)
{
	(void)state;
	assert_int_equal(changed_by(clone_of_function), NEITHER);
}

static void runtime_frames_and_recursion_do_not_count(void **state)
{
	(void)state;
	assert_int_equal(changed_by(runtime_below), NEITHER);
	assert_int_equal(changed_by(deeper_recursion), NEITHER);
}

/* Only the innermost four functions do. */
static void fifth(struct race *race)
{
	sample_frame(&race->sides[0], "third", 0, 3);
	sample_frame(&race->sides[0], "fourth", 0, 4);
	sample_frame(&race->sides[1], "third", 0, 3);
	sample_frame(&race->sides[1], "fourth", 0, 4);
}

static void depth_is_limited(void **state)
{
	struct race one, two;

	(void)state;
	assert_int_equal(changed_by(fifth), NAMES);
	sample_race(&one);
	sample_race(&two);
	fifth(&one);
	fifth(&two);
	sample_frame(&two.sides[0], "fifth", 0, 5);
	race_fingerprint(&one);
	race_fingerprint(&two);
	assert_string_equal(one.fingerprint, two.fingerprint);
	race_deinit(&one);
	race_deinit(&two);
}

static void strip_names(struct race *race)
{
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < race->sides[side].frames.count; i++)
			sample_set(&frame(race, side, i)->function, NULL);
	}
	sample_set(&race->variable.name, NULL);
	sample_set(&race->variable.symbol, NULL);
}

/* All of them have the instructions of memcpy() in common. */
static void users_of_the_c_library_differ_by_code(void **state)
{
	struct race one, two;

	(void)state;
	sample_race(&one);
	sample_race(&two);
	copied_by_libc(&one);
	copied_by_libc_for_another(&two);
	assert_true(race_fingerprint(&one));
	assert_true(race_fingerprint(&two));
	assert_string_not_equal(one.fingerprint_code, two.fingerprint_code);
	race_deinit(&one);
	race_deinit(&two);
}

static void stripped_builds_agree_by_code(void **state)
{
	(void)state;
	assert_int_equal(changed_by(strip_names), NAMES);
}

/* The stripped one is told from others like it by its place. */
static void stripped_races_differ_by_name_too(void **state)
{
	struct race one, two;

	(void)state;
	sample_race(&one);
	sample_race(&two);
	strip_names(&one);
	strip_names(&two);
	frame(&two, 0, 0)->offset++;
	race_fingerprint(&one);
	race_fingerprint(&two);
	assert_string_not_equal(one.fingerprint, two.fingerprint);
	race_deinit(&one);
	race_deinit(&two);
}

/* "shards+56" and "shards+64": without a type, elements cannot be told. */
static void symbol_offsets_do_not_count(void **state)
{
	struct race one, two;

	(void)state;
	sample_race(&one);
	sample_race(&two);
	sample_set(&one.variable.name, "shards+56");
	sample_set(&two.variable.name, "shards+64");
	race_fingerprint(&one);
	race_fingerprint(&two);
	assert_string_equal(one.fingerprint, two.fingerprint);
	race_deinit(&one);
	race_deinit(&two);
}

static void inline_first(struct race *race)
{
	frame(race, 0, 0)->inlined = true;
	frame(race, 0, 0)->offset = 0;
	frame(race, 0, 1)->offset = 0x1179;
}

static void code_is_that_of_the_real_function(void **state)
{
	(void)state;
	assert_int_equal(changed_by(inline_first), NEITHER);
}

static void libc_names(struct race *race, const char *function)
{
	struct race_side *side = &race->sides[1];

	sample_set(&side->syscall, "read");
	sample_set(&frame(race, 1, 0)->function, function);
	sample_set(&frame(race, 1, 0)->module, "/lib/libc.so.6");
}

static void spelling_of_the_system_call_wrapper_does_not_count(void **state)
{
	struct race one, two;

	(void)state;
	sample_race(&one);
	sample_race(&two);
	libc_names(&one, "__GI___libc_read");
	libc_names(&two, NULL);
	race_fingerprint(&one);
	race_fingerprint(&two);
	assert_string_equal(one.fingerprint, two.fingerprint);
	sample_set(&two.sides[1].syscall, "recvfrom");
	race_fingerprint(&two);
	assert_string_not_equal(one.fingerprint, two.fingerprint);
	race_deinit(&one);
	race_deinit(&two);
}

/*
 * Computed by a separate program from the description at the top of
 * fingerprint.c: when these change, saved baselines match nothing any more.
 */
static void sample_has_these_fingerprints(void **state)
{
	struct race race;

	(void)state;
	sample_race(&race);
	race_fingerprint(&race);
	assert_string_equal(race.fingerprint,
			    "fbfa1f57a7f443c179a32bad37f53c01");
	assert_string_equal(race.fingerprint_code,
			    "8edb27ef65021841d0ab46dc387b5908");
	race_deinit(&race);
}

static void nothing_known_has_a_fingerprint(void **state)
{
	struct race race;

	(void)state;
	sample_unknown(&race);
	assert_true(race_fingerprint(&race));
	assert_int_equal(strlen(race.fingerprint), 32);
	assert_int_equal(strlen(race.fingerprint_code), 32);
	race_deinit(&race);
}

static void on_the_heap(struct race *race, const char *name)
{
	race->variable.region = REGION_HEAP;
	sample_set(&race->variable.name, name);
	sample_set(&race->variable.container, "struct node");
	assert_true(race_fingerprint(race));
}

/* Which of the pointers to it names it may differ; what it is does not. */
static void field_of_the_heap_by_its_type(void **state)
{
	struct race one, two;

	(void)state;
	sample_race(&one);
	sample_race(&two);
	on_the_heap(&one, "node->used");
	on_the_heap(&two, "server->nodes[3].used");
	assert_string_equal(one.fingerprint, two.fingerprint);
	on_the_heap(&two, "node->key");
	assert_string_not_equal(one.fingerprint, two.fingerprint);
	sample_set(&two.variable.container, "struct other");
	on_the_heap(&one, "node->row[3]");
	on_the_heap(&two, "node->row[4]");
	assert_string_equal(one.fingerprint, two.fingerprint);
	race_deinit(&one);
	race_deinit(&two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_side_was_stalled_does_not_count),
		cmocka_unit_test(lines_addresses_and_threads_do_not_count),
		cmocka_unit_test(functions_and_callers_count_by_name),
		cmocka_unit_test(fields_count_and_elements_do_not),
		cmocka_unit_test(instructions_and_builds_count_by_code),
		cmocka_unit_test(compilers_suffixes_do_not_count),
		cmocka_unit_test(runtime_frames_and_recursion_do_not_count),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(users_of_the_c_library_differ_by_code),
		cmocka_unit_test(stripped_builds_agree_by_code),
		cmocka_unit_test(stripped_races_differ_by_name_too),
		cmocka_unit_test(symbol_offsets_do_not_count),
		cmocka_unit_test(code_is_that_of_the_real_function),
		cmocka_unit_test(
			spelling_of_the_system_call_wrapper_does_not_count),
		cmocka_unit_test(sample_has_these_fingerprints),
		cmocka_unit_test(nothing_known_has_a_fingerprint),
		cmocka_unit_test(field_of_the_heap_by_its_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

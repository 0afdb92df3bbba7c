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
#include <stdio.h>

#include <cmocka.h>

#include "base/rng.h"
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

static void functions_count_by_name(void **state)
{
	(void)state;
	assert_int_equal(changed_by(other_function), NAMES);
	assert_int_equal(changed_by(other_caller), NEITHER);
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

/* In memory that a struct's type and field are all that is known of. */
static void in_a_list(struct race *race)
{
	race->variable.region = REGION_HEAP;
	sample_set(&race->variable.name, "list->head");
	sample_set(&race->variable.container, "struct list");
}

/* A race of which "change" is one thing that differs; both in a list. */
static int changed_in_a_list(void (*change)(struct race *race))
{
	struct race one, two;
	int changed;

	sample_race(&one);
	sample_race(&two);
	in_a_list(&one);
	change(&two);
	in_a_list(&two);
	assert_true(race_fingerprint(&one));
	assert_true(race_fingerprint(&two));
	changed =
		(strcmp(one.fingerprint, two.fingerprint) ? NAMES : 0) |
		(strcmp(one.fingerprint_code, two.fingerprint_code) ? CODE : 0);
	race_deinit(&one);
	race_deinit(&two);
	return changed;
}

/* Only the innermost four functions do. */
static void fifth(struct race *race)
{
	sample_frame(&race->sides[0], "third", 0, 3);
	sample_frame(&race->sides[0], "fourth", 0, 4);
	sample_frame(&race->sides[1], "third", 0, 3);
	sample_frame(&race->sides[1], "fourth", 0, 4);
}

/* Which list it is, only the callers of its functions tell. */
static void callers_tell_one_container_from_another(void **state)
{
	struct race one, two;

	(void)state;
	assert_int_equal(changed_in_a_list(other_caller), NAMES);
	assert_int_equal(changed_in_a_list(fifth), NAMES);
	sample_race(&one);
	sample_race(&two);
	fifth(&one);
	fifth(&two);
	sample_frame(&two.sides[0], "fifth", 0, 5);
	in_a_list(&one);
	in_a_list(&two);
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
			    "0269a549bf2053cdb7262104bbf11bee");
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

/* The names of a program of which the code at an offset is always the same. */
struct made {
	unsigned int code[2], caller[2]; /* of each side, a small number */
	bool has_names; /* the functions at those places */
	unsigned int variable; /* a small number; 0: without a name */
};

/* Of a library whose functions of odd places have no names. */
static struct made make_random(struct race *race, struct rng *rng)
{
	static const char *const functions[] = { "push", "pop" };
	static const char *const variables[] = { NULL, "one", "two",
						 "list->head", "list->tail" };
	struct made made = { .has_names = true };
	bool swap = rng_below(rng, 2);

	sample_race(race);
	for (int i = 0; i < 2; i++) {
		int side = swap ? 1 - i : i;
		unsigned int code = (unsigned int)rng_below(rng, 3);
		char caller[16];

		made.code[i] = code;
		made.caller[i] = (unsigned int)rng_below(rng, 3);
		made.has_names = made.has_names && code % 2 == 0;
		sample_set(&frame(race, side, 0)->function,
			   code % 2 ? NULL : functions[code / 2]);
		frame(race, side, 0)->offset = 0x1000 + code;
		snprintf(caller, sizeof(caller), "user%u", made.caller[i]);
		sample_set(&frame(race, side, 1)->function, caller);
		frame(race, side, 1)->offset = 0x2000 + made.caller[i];
	}
	made.variable = (unsigned int)rng_below(rng, 5);
	race->variable.region = made.variable > 2 ? REGION_HEAP : REGION_GLOBAL;
	sample_set(&race->variable.name, variables[made.variable]);
	sample_set(&race->variable.symbol, NULL);
	sample_set(&race->variable.container,
		   made.variable > 2 ? "struct list" : NULL);
	assert_true(race_fingerprint(race));
	return made;
}

static bool same_sides(const unsigned int *a, const unsigned int *b)
{
	return (a[0] == b[0] && a[1] == b[1]) || (a[0] == b[1] && a[1] == b[0]);
}

static bool same_ways(const struct made *a, const struct made *b)
{
	for (int cross = 0; cross < 2; cross++) {
		bool same = true;

		for (int i = 0; i < 2; i++) {
			int j = cross ? 1 - i : i;

			same = same && a->code[i] == b->code[j] &&
			       a->caller[i] == b->caller[j];
		}
		if (same)
			return true;
	}
	return false;
}

/*
 * Of two races at random: with the same code they are one by names as well, but
 * where the variables' names differ, or the callers of a struct's functions.
 * And nothing else of the names is one that is not one by the code.
 */
static void equal_code_is_one_race_unless_names_tell(void **state)
{
	int equal = 0, told = 0;
	struct rng rng;

	(void)state;
	rng_init(&rng, 7);
	for (int i = 0; i < 4000; i++) {
		struct race one, two;
		struct made a = make_random(&one, &rng);
		struct made b = make_random(&two, &rng);
		bool code =
			strcmp(one.fingerprint_code, two.fingerprint_code) == 0;
		bool names = strcmp(one.fingerprint, two.fingerprint) == 0;
		bool tell =
			a.variable != b.variable ||
			(a.variable > 2 && a.has_names && !same_ways(&a, &b));

		assert_int_equal(code, same_sides(a.code, b.code));
		assert_int_equal(names, code && !tell);
		equal += names;
		told += code && tell;
		race_deinit(&one);
		race_deinit(&two);
	}
	assert_true(equal > 20);
	assert_true(told > 20);
}

static void nameless_in_libc(struct race *race, const char *caller,
			     uint64_t offset)
{
	struct race_side *side = &race->sides[0];

	sample_set(&frame(race, 0, 0)->module, "/lib/libc.so.6");
	sample_set(&frame(race, 0, 0)->function, NULL);
	sample_set(&frame(race, 0, 1)->function, caller);
	frame(race, 0, 1)->offset = offset;
	sample_frame(side, "main", 9, 0x1300);
	assert_true(race_fingerprint(race));
}

/* What it does for its callers is theirs; its own variables are not. */
static void callers_of_the_c_library_do_what_it_does(void **state)
{
	struct race one, two;

	(void)state;
	sample_race(&one);
	sample_race(&two);
	nameless_in_libc(&one, "fill", 0x1200);
	nameless_in_libc(&two, "clear", 0x1280);
	assert_string_not_equal(one.fingerprint, two.fingerprint);
	assert_string_not_equal(one.fingerprint_code, two.fingerprint_code);
	/* by callers without names: by their places, and no further */
	nameless_in_libc(&one, NULL, 0x1200);
	nameless_in_libc(&two, NULL, 0x1280);
	assert_string_not_equal(one.fingerprint, two.fingerprint);
	frame(&two, 0, 1)->offset = 0x1200;
	sample_set(&frame(&two, 0, 2)->function, "other");
	assert_true(race_fingerprint(&two));
	assert_string_equal(one.fingerprint, two.fingerprint);
	/* a flag of the library itself */
	for (int i = 0; i < 2; i++) {
		struct race *race = i ? &two : &one;

		sample_set(&race->variable.module, "/lib/libc.so.6");
		sample_set(&race->variable.name, NULL);
		sample_set(&race->variable.symbol, NULL);
		nameless_in_libc(race, i ? "fill" : "clear", 0x1200 + i);
	}
	assert_string_equal(one.fingerprint, two.fingerprint);
	assert_string_equal(one.fingerprint_code, two.fingerprint_code);
	race_deinit(&one);
	race_deinit(&two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_side_was_stalled_does_not_count),
		cmocka_unit_test(lines_addresses_and_threads_do_not_count),
		cmocka_unit_test(functions_count_by_name),
		cmocka_unit_test(fields_count_and_elements_do_not),
		cmocka_unit_test(instructions_and_builds_count_by_code),
		cmocka_unit_test(compilers_suffixes_do_not_count),
		cmocka_unit_test(runtime_frames_and_recursion_do_not_count),
		cmocka_unit_test(callers_tell_one_container_from_another),
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
		cmocka_unit_test(equal_code_is_one_race_unless_names_tell),
		cmocka_unit_test(callers_of_the_c_library_do_what_it_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

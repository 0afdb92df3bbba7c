/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/related.c: which races are of one variable, and what one tells. */
#include "report/related.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample-race.h"

static void same_bytes_of_one_process(void **state)
{
	struct race a, b;

	(void)state;
	sample_race(&a);
	sample_race(&b);
	sample_set(&b.variable.symbol, NULL);
	assert_true(related_by_variable(&a, &b));
	b.address += 7;
	assert_true(related_by_variable(&a, &b));
	b.address += 1;
	assert_false(related_by_variable(&a, &b));
	b.address = a.address;
	b.pid++;
	assert_false(related_by_variable(&a, &b));
	race_deinit(&a);
	race_deinit(&b);
}

static void same_field_of_a_named_variable(void **state)
{
	struct race a, b;

	(void)state;
	sample_race(&a);
	sample_race(&b);
	b.address = 0x1000;
	assert_true(related_by_variable(&a, &b));
	b.variable.offset += 8;
	assert_false(related_by_variable(&a, &b));
	b.variable.offset = a.variable.offset;
	sample_set(&b.variable.module, "/usr/lib/other.so");
	assert_false(related_by_variable(&a, &b));
	race_deinit(&a);
	race_deinit(&b);
}

static void told_once(void **state)
{
	struct race race, teller;

	(void)state;
	sample_race(&race);
	sample_race(&teller);
	assert_false(related_tell(&race, &teller));
	teller.sides[1].pattern.compared = true;
	assert_true(related_tell(&race, &teller));
	assert_true(race.decides);
	assert_false(related_tell(&race, &teller));
	race_deinit(&race);
	race_deinit(&teller);
}

static void counting_down_tells(void **state)
{
	struct race race, teller;

	(void)state;
	sample_race(&race);
	sample_race(&teller);
	teller.sides[0].pattern =
		(struct code_pattern){ .change = PATTERN_ADD, .delta = 1 };
	assert_false(related_tell(&race, &teller));
	teller.sides[0].pattern.delta = -1;
	teller.address += 64;
	teller.variable.offset += 64;
	assert_false(related_tell(&race, &teller));
	teller.address -= 64;
	assert_true(related_tell(&race, &teller));
	race_deinit(&race);
	race_deinit(&teller);
}

static void heap(struct race *race, uint64_t address, const char *name)
{
	sample_race(race);
	race->address = address;
	race->variable.region = REGION_HEAP;
	sample_set(&race->variable.symbol, NULL);
	sample_set(&race->variable.module, NULL);
	sample_set(&race->variable.name, name);
}

static void replays_tell_of_one_field_of_a_type(void **state)
{
	struct race a, b;

	(void)state;
	heap(&a, 0x1000, "first->used");
	heap(&b, 0x2000, "table[3].used");
	assert_false(related_by_variable(&a, &b));
	assert_true(related_share_replays(&a, &b));
	sample_set(&b.variable.name, "table[3].total");
	assert_false(related_share_replays(&a, &b));
	sample_set(&b.variable.name, "table[3].used");
	sample_set(&b.variable.container, "struct other");
	assert_false(related_share_replays(&a, &b));
	race_deinit(&a);
	race_deinit(&b);
}

/* Without names the same instruction tells that the memory is of one kind. */
static void replays_tell_of_the_same_code(void **state)
{
	struct race_frame *frame;
	struct race a, b;

	(void)state;
	heap(&a, 0x1000, NULL);
	heap(&b, 0x2000, NULL);
	assert_true(related_share_replays(&a, &b));
	for (int i = 0; i < 2; i++) {
		frame = vec_at(&b.sides[i].frames, 0);
		sample_set(&frame->function, i ? "reset" : "get");
		frame->offset += 0x100;
	}
	assert_false(related_share_replays(&a, &b));
	/* nothing is known of either second side: that is not the same */
	race_frames_clear(&a.sides[1].frames);
	race_frames_clear(&b.sides[1].frames);
	assert_false(related_share_replays(&a, &b));
	race_deinit(&a);
	race_deinit(&b);
}

static void replays_of_a_variable_are_summed(void **state)
{
	const struct replay_note same = { .outcome = RACE_REPLAY_SAME };
	const struct replay_note change = { .outcome = RACE_REPLAY_CHANGE };
	struct race races[4], *all[4];
	const struct vec list = { all, 4, 4, sizeof(all[0]) };

	(void)state;
	for (int i = 0; i < 4; i++) {
		sample_race(&races[i]);
		all[i] = &races[i];
	}
	races[2].verdict = VERDICT_SYNC;
	/* another variable, and nothing to do with this one */
	sample_set(&races[3].variable.symbol, "another");
	races[3].address += 8;
	assert_true(race_replay_add(&races[0], &same));
	assert_true(race_replay_add(&races[3], &change));
	assert_true(related_sum_replays(&races[0], &list));
	assert_false(related_sum_replays(&races[0], &list));
	assert_int_equal(races[0].replay_related.races, 2);
	assert_int_equal(races[0].replay_related.instances, 1);
	assert_int_equal(races[0].replay_related.fewest, 0);
	assert_true(race_replay_add(&races[1], &same));
	assert_true(related_sum_replays(&races[0], &list));
	assert_int_equal(races[0].replay_related.instances, 2);
	assert_int_equal(races[0].replay_related.fewest, 1);
	assert_false(races[0].replay_related.changed);
	assert_true(race_replay_add(&races[1], &change));
	assert_true(related_sum_replays(&races[0], &list));
	assert_true(races[0].replay_related.changed);
	for (int i = 0; i < 4; i++)
		race_deinit(&races[i]);
}

/* The first side stores a pointer, and the second one dereferences it. */
static void sample_publication(struct race *race)
{
	sample_race(race);
	race->sides[0].access = ACCESS_WRITE;
	race->sides[1].access = ACCESS_READ;
	race->sides[1].pattern.dereferenced = true;
}

/* The same functions, on what the pointer leads to. */
static void sample_behind(struct race *race)
{
	sample_race(race);
	race->sides[0].access = ACCESS_WRITE;
	race->sides[1].access = ACCESS_READ;
	race->variable.offset += 8;
	race->address += 8;
}

static void memory_behind_a_pointer_has_the_same_functions(void **state)
{
	struct race_frame *frame;
	struct race race, other;

	(void)state;
	sample_publication(&race);
	sample_behind(&other);
	assert_false(related_share_replays(&race, &other));
	assert_true(related_is_behind(&race, &other));
	assert_false(related_is_behind(&other, &race));
	/* the one that dereferences writes there */
	other.sides[0].access = ACCESS_READ;
	other.sides[1].access = ACCESS_WRITE;
	assert_false(related_is_behind(&race, &other));
	race_deinit(&race);
	race_deinit(&other);
	sample_behind(&race);
	sample_behind(&other);
	race.sides[1].pattern.dereferenced = true;
	other.address = race.address;
	assert_false(related_is_behind(&race, &other));
	other.address += 8;
	other.variable.offset += 8;
	assert_true(related_is_behind(&race, &other));
	frame = vec_at(&other.sides[0].frames, 0);
	sample_set(&frame->function, "another");
	assert_false(related_is_behind(&race, &other));
	/* inlined into the same function */
	frame->inlined = true;
	frame = vec_at(&race.sides[0].frames, 0);
	frame->inlined = true;
	assert_true(related_is_behind(&race, &other));
	race_deinit(&race);
	race_deinit(&other);
}

static void set_function(struct race *race, int side, const char *name)
{
	struct race_frame *frame = vec_at(&race->sides[side].frames, 0);

	sample_set(&frame->function, name);
	frame->offset += 0x100;
}

/* Another element, or another field of an object on the heap. */
static void races_beside_have_the_same_object(void **state)
{
	struct race a, b;

	(void)state;
	sample_race(&a);
	sample_race(&b);
	/* the same bytes are more than that */
	assert_false(related_is_beside(&a, &b));
	b.address += 64;
	b.variable.offset += 64;
	assert_true(related_is_beside(&a, &b));
	/* one side is other code: the other one tells */
	set_function(&b, 1, "evict");
	assert_true(related_is_beside(&a, &b));
	set_function(&b, 0, "load");
	assert_false(related_is_beside(&a, &b));
	race_deinit(&b);
	sample_race(&b);
	b.address += 64;
	sample_set(&b.variable.symbol, "another");
	assert_false(related_is_beside(&a, &b));
	race_deinit(&a);
	race_deinit(&b);
	heap(&a, 0x1000, "first->used");
	heap(&b, 0x2000, "first->total");
	assert_true(related_is_beside(&a, &b));
	assert_true(related_is_beside(&b, &a));
	sample_set(&b.variable.container, "struct other");
	assert_false(related_is_beside(&a, &b));
	race_deinit(&a);
	race_deinit(&b);
}

/* Whatever the object is, if it is harmed. */
static void harm_by_the_same_functions_is_beside(void **state)
{
	const struct replay_note change = { .outcome = RACE_REPLAY_CHANGE };
	const struct replay_note overlap = { .outcome = RACE_REPLAY_CHANGE,
					     .overlap = true };
	struct race race, other;

	(void)state;
	heap(&race, 0x1000, "memory");
	sample_race(&other);
	assert_true(race_replay_add(&other, &change));
	assert_false(related_is_beside(&race, &other));
	assert_true(race_replay_add(&other, &overlap));
	assert_true(related_is_beside(&race, &other));
	set_function(&other, 1, "another");
	assert_false(related_is_beside(&race, &other));
	race_deinit(&race);
	race_deinit(&other);
}

/* What was seen there counts against it; that nothing was does not count. */
static void replays_beside_refute_by_an_effect(void **state)
{
	const struct replay_note same = { .outcome = RACE_REPLAY_SAME };
	const struct replay_note change = { .outcome = RACE_REPLAY_CHANGE };
	struct race race, other, *all[] = { &race, &other };
	const struct vec list = { all, 2, 2, sizeof(all[0]) };

	(void)state;
	heap(&race, 0x1000, "first->used");
	heap(&other, 0x2000, "first->total");
	assert_true(race_replay_add(&race, &same));
	assert_true(related_sum_replays(&race, &list));
	assert_int_equal(race.replay_related.instances, 1);
	assert_int_equal(race.replay_related.fewest, 1);
	assert_false(race.replay_related.changed);
	assert_true(race_replay_add(&other, &change));
	assert_true(related_sum_replays(&race, &list));
	assert_int_equal(race.replay_related.instances, 1);
	assert_true(race.replay_related.changed);
	assert_false(race.replay_related.serial);
	race_deinit(&race);
	race_deinit(&other);
}

/* They refute it, and are no proof. */
static void replays_behind_a_pointer_are_not_summed(void **state)
{
	const struct replay_note same = { .outcome = RACE_REPLAY_SAME };
	const struct replay_note change = { .outcome = RACE_REPLAY_CHANGE };
	struct race race, other, *all[] = { &race, &other };
	const struct vec list = { all, 2, 2, sizeof(all[0]) };

	(void)state;
	sample_publication(&race);
	sample_behind(&other);
	assert_true(race_replay_add(&race, &same));
	assert_true(related_sum_replays(&race, &list));
	assert_int_equal(race.replay_related.races, 1);
	assert_int_equal(race.replay_related.instances, 1);
	/* the other one has none yet */
	assert_int_equal(race.replay_related.fewest, 0);
	assert_false(race.replay_related.changed);
	assert_true(race_replay_add(&other, &change));
	assert_true(related_sum_replays(&race, &list));
	assert_int_equal(race.replay_related.instances, 1);
	assert_int_equal(race.replay_related.fewest, 1);
	assert_true(race.replay_related.changed);
	/* what the pointer does is no news of what is behind it */
	assert_true(related_sum_replays(&other, &list));
	assert_int_equal(other.replay_related.instances, 1);
	race_deinit(&race);
	race_deinit(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bytes_of_one_process),
		cmocka_unit_test(same_field_of_a_named_variable),
		cmocka_unit_test(told_once),
		cmocka_unit_test(counting_down_tells),
		cmocka_unit_test(replays_tell_of_one_field_of_a_type),
		cmocka_unit_test(replays_tell_of_the_same_code),
		cmocka_unit_test(replays_of_a_variable_are_summed),
		cmocka_unit_test(
			memory_behind_a_pointer_has_the_same_functions),
		cmocka_unit_test(races_beside_have_the_same_object),
		cmocka_unit_test(harm_by_the_same_functions_is_beside),
		cmocka_unit_test(replays_beside_refute_by_an_effect),
		cmocka_unit_test(replays_behind_a_pointer_are_not_summed),
	};

	return cmocka_run_group_tests_name("related", tests, NULL, NULL);
}

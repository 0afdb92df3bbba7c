/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/judge/replayed.c: which verdict replays give a race, and how it changes
 * with further instances.
 */
#include "judge/replayed.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/rank.h"
#include "report/related.h"
#include "sample-race.h"

static const char *const ba[] = { "ba", NULL };
static const struct replay_note_change lost[] = {
	{ "used", "ab", "101", false, false },
	{ "used", "a(b)a", "100", false, true },
};
static const struct replay_note_change wider[] = {
	{ "used", "ab", "101", false, false },
	{ "total", "a(b)a", "7", true, true },
};

static const struct replay_note same = { .outcome = RACE_REPLAY_SAME };
static const struct replay_note still = {
	.outcome = RACE_REPLAY_SAME,
	.still = true,
};
static const struct replay_note blind = {
	.outcome = RACE_REPLAY_SAME,
	.still = true,
	.blind = true,
};
static const struct replay_note rdtsc = {
	.outcome = RACE_REPLAY_FAILURE,
	.failure = "rdtsc",
};
static const struct replay_note unequal = {
	.outcome = RACE_REPLAY_FAILURE,
	.failure = "unequal-end",
};
static const struct replay_note change = {
	.outcome = RACE_REPLAY_CHANGE,
	.overlap = true,
	.changes = lost,
	.change_count = 2,
};
static const struct replay_note change_beyond = {
	.outcome = RACE_REPLAY_CHANGE,
	.beyond = true,
	.overlap = true,
	.overlap_memory = true,
	.changes = wider,
	.change_count = 2,
};
static const struct replay_note change_register = {
	.outcome = RACE_REPLAY_CHANGE,
	.beyond = true,
	.registers = true,
	.overlap = true,
	.overlap_registers = true,
};
static const struct replay_note change_way = {
	.outcome = RACE_REPLAY_CHANGE,
	.beyond = true,
	.overlap = true,
	.overlap_memory = true,
};
/* By the order alone; and what a reader returns or stores with it. */
static const struct replay_note order = { .outcome = RACE_REPLAY_CHANGE };
static const struct replay_note order_register = {
	.outcome = RACE_REPLAY_CHANGE,
	.beyond = true,
	.registers = true,
};
static const struct replay_note order_beyond = {
	.outcome = RACE_REPLAY_CHANGE,
	.beyond = true,
};
/* The same, of two functions whole. */
static const struct replay_note serial = {
	.outcome = RACE_REPLAY_CHANGE,
	.first = true,
	.beyond = true,
	.registers = true,
};
static const struct replay_note fault = {
	.outcome = RACE_REPLAY_FAULT,
	.signal = SIGSEGV,
	.fault_schedules = ba,
};

static void plain_race(struct race *race)
{
	sample_race(race);
	for (int i = 0; i < 2; i++) {
		race->sides[i].access = ACCESS_WRITE;
		race->sides[i].address = race->address;
		race->sides[i].pattern.used = UINT64_MAX;
	}
}

/* Two threads that count something up. */
static void counter(struct race *race)
{
	plain_race(race);
	for (int i = 0; i < 2; i++) {
		race->sides[i].access = ACCESS_RMW;
		race->sides[i].pattern =
			(struct code_pattern){ .change = PATTERN_ADD,
					       .delta = 1 };
	}
}

/* As a session does it with each instance; all: NULL for this race alone. */
static void replay(struct race *race, const struct vec *all,
		   const struct replay_note *note, uint64_t times)
{
	const struct vec alone = { &race, 1, 1, sizeof(race) };

	for (uint64_t i = 0; i < times; i++)
		assert_true(race_replay_add(race, note));
	related_sum_replays(race, all ? all : &alone);
	assert_null(rank_race(race, NULL));
}

static void assert_verdict(const struct race *race, enum race_verdict verdict,
			   const char *reason)
{
	assert_int_equal(race->verdict, verdict);
	if (reason)
		assert_string_equal(race->reason, reason);
	else
		assert_null(race->reason);
}

static void assert_grounds(const struct race *race, const char *part)
{
	assert_non_null(race->grounds);
	if (!strstr(race->grounds, part))
		fail_msg("'%s' is not in '%s'", part, race->grounds);
}

static void fault_in_one_order_is_harmful(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	replay(&race, NULL, &same, 4);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	replay(&race, NULL, &fault, 1);
	assert_verdict(&race, VERDICT_HARMFUL, "fault");
	assert_grounds(&race, "it died of SIGSEGV at 0x0 in order ba");
	race_deinit(&race);
}

/* Most handlers say that the program dies; some let it go on. */
static void fault_with_a_handler_is_said(void **state)
{
	struct race race;
	struct replay_note handled = fault;

	(void)state;
	handled.handled = true;
	plain_race(&race);
	replay(&race, NULL, &handled, 1);
	assert_verdict(&race, VERDICT_HARMFUL, "fault");
	assert_grounds(&race, "it got SIGSEGV, for which there is a handler");
	race_deinit(&race);
}

static void overlap_beyond_the_raced_bytes_is_harmful(void **state)
{
	static const struct {
		const struct replay_note *note;
		const char *part;
	} cases[] = {
		{ &change_beyond, "did to total what neither" },
		{ &change_way, "did to other memory than the raced bytes" },
		{ &change_register, "did to what the function returns" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct race race;

		counter(&race);
		replay(&race, NULL, cases[i].note, 1);
		assert_verdict(&race, VERDICT_HARMFUL, "state-change");
		assert_grounds(&race, cases[i].part);
		race_deinit(&race);
	}
}

/* A lock would leave it as it is; every reader of a setting has it. */
static void what_the_order_decides_leaves_the_verdict_to_the_code(void **state)
{
	static const struct {
		const struct replay_note *note;
		const char *part;
	} cases[] = {
		{ &order, "which value stays" },
		{ &order_register, "decided what the function returns" },
		{ &order_beyond, "decided what other memory has" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct race race;

		plain_race(&race);
		replay(&race, NULL, cases[i].note, 3);
		assert_verdict(&race, VERDICT_SUSPECT, NULL);
		assert_grounds(&race, cases[i].part);
		assert_grounds(&race, "no overlap of the functions did more");
		race_deinit(&race);
	}
}

static void lost_update_leaves_the_verdict_to_the_code(void **state)
{
	struct race race;

	(void)state;
	counter(&race);
	replay(&race, NULL, &change, 3);
	assert_verdict(&race, VERDICT_UNLIKELY, "statistics-counter");
	assert_grounds(&race, "updates are lost");
	race_deinit(&race);

	counter(&race);
	race.decides = true;
	replay(&race, NULL, &change, 3);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	assert_grounds(&race, "updates are lost");
	race_deinit(&race);

	plain_race(&race);
	replay(&race, NULL, &change, 3);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	assert_grounds(&race, "which value stays");
	race_deinit(&race);
}

static void failures_leave_the_verdict_to_the_code(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	replay(&race, NULL, &rdtsc, 100);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	assert_null(race.grounds);
	race_deinit(&race);
	counter(&race);
	replay(&race, NULL, &rdtsc, 100);
	assert_verdict(&race, VERDICT_UNLIKELY, "statistics-counter");
	race_deinit(&race);
}

/* 0.8^13 is 0.055, and 0.8^14 is 0.044. */
static void enough_is_derived_from_the_confidence(void **state)
{
	(void)state;
	assert_int_equal(replayed_enough(), 14);
}

static void enough_instances_without_an_effect(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	replay(&race, NULL, &same, 0);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	replay(&race, NULL, &same, replayed_enough() - 1);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	replay(&race, NULL, &same, 1);
	assert_verdict(&race, VERDICT_UNLIKELY, "no-state-change");
	assert_grounds(&race, "no difference in 14 instances");
	race_deinit(&race);
}

static void one_change_takes_it_back(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	replay(&race, NULL, &same, replayed_enough());
	replay(&race, NULL, &change, 1);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	assert_grounds(&race, "does not fit no-state-change");
	/* and no number of others gives it back */
	replay(&race, NULL, &same, 1000);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	race_deinit(&race);
}

/* The store of a reference count and the next read of it, and two stores. */
static void every_race_on_the_bytes_must_say_so(void **state)
{
	struct race races[2], *all[2] = { &races[0], &races[1] };
	const struct vec list = { all, 2, 2, sizeof(all[0]) };
	uint64_t enough = replayed_enough();

	(void)state;
	plain_race(&races[0]);
	plain_race(&races[1]);
	replay(&races[0], &list, &same, 2 * enough);
	assert_verdict(&races[0], VERDICT_SUSPECT, NULL);
	replay(&races[1], &list, &same, 2);
	assert_verdict(&races[1], VERDICT_SUSPECT, NULL);
	replay(&races[1], &list, &same, 1);
	assert_verdict(&races[1], VERDICT_UNLIKELY, "no-state-change");
	assert_grounds(&races[1], "in 31 instances of 2 races on these bytes: "
				  "with 95 % confidence it does in at most "
				  "9.2 %");
	replay(&races[0], &list, &same, 0);
	assert_verdict(&races[0], VERDICT_UNLIKELY, "no-state-change");
	replay(&races[1], &list, &change, 1);
	replay(&races[0], &list, &same, 0);
	assert_verdict(&races[0], VERDICT_SUSPECT, NULL);
	race_deinit(&races[0]);
	race_deinit(&races[1]);
}

/* Bits that are set already: in another state an update is lost. */
static void what_changes_nothing_tells_nothing(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	replay(&race, NULL, &still, 1000);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	replay(&race, NULL, &same, replayed_enough() - 1);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	replay(&race, NULL, &same, 1);
	assert_verdict(&race, VERDICT_UNLIKELY, "no-state-change");
	assert_grounds(&race, "no difference in 14 instances");
	race_deinit(&race);
}

/* 59 instances show that less than one in twenty has an effect. */
enum { ENOUGH_STILL = 59 };

/* What is stored is there always, and what was there makes no difference. */
static void redundant_stores_need_more_instances(void **state)
{
	struct race race;

	(void)state;
	plain_race(&race);
	replay(&race, NULL, &still, ENOUGH_STILL - replayed_enough());
	replay(&race, NULL, &blind, replayed_enough() - 1);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	replay(&race, NULL, &blind, 1);
	assert_verdict(&race, VERDICT_UNLIKELY, "no-state-change");
	assert_grounds(&race, "no difference in 59 instances, in 59 of which "
			      "what they stored was there already, nor with "
			      "other bytes there");
	replay(&race, NULL, &change, 1);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	race_deinit(&race);
	/* few of them are blind, as where bits are set */
	plain_race(&race);
	replay(&race, NULL, &blind, replayed_enough() - 1);
	replay(&race, NULL, &still, 1000);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	race_deinit(&race);
}

static void a_reader(struct race *race)
{
	plain_race(race);
	race->sides[0].access = ACCESS_READ;
}

/* A reader to whom a change matters that is seldom: the writers show nothing of it. */
static void redundant_stores_need_instances_of_each_race(void **state)
{
	struct race races[2], *all[2] = { &races[0], &races[1] };
	const struct vec list = { all, 2, 2, sizeof(all[0]) };

	(void)state;
	plain_race(&races[0]);
	a_reader(&races[1]);
	replay(&races[0], NULL, &blind, 1000);
	replay(&races[1], &list, &still, ENOUGH_STILL - 1);
	assert_verdict(&races[1], VERDICT_SUSPECT, NULL);
	replay(&races[0], &list, &blind, 0);
	assert_verdict(&races[0], VERDICT_SUSPECT, NULL);
	replay(&races[1], &list, &still, 1);
	assert_verdict(&races[1], VERDICT_UNLIKELY, "no-state-change");
	replay(&races[0], &list, &blind, 0);
	assert_verdict(&races[0], VERDICT_UNLIKELY, "no-state-change");
	race_deinit(&races[0]);
	race_deinit(&races[1]);
}

/* A setting: what the reader finds is right, whichever is first. */
static void either_order_of_whole_functions_will_do(void **state)
{
	struct race race;

	(void)state;
	a_reader(&race);
	replay(&race, NULL, &serial, replayed_enough() - 1);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	replay(&race, NULL, &same, 1);
	assert_verdict(&race, VERDICT_UNLIKELY, "either-order");
	assert_grounds(&race, "no overlap of the functions did more than one "
			      "of them after the other in 14 instances");
	/* and one that does more takes it back */
	replay(&race, NULL, &change, 1);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	assert_grounds(&race, "does not fit either-order");
	race_deinit(&race);
}

static void either_order_is_of_a_reader_and_whole_functions(void **state)
{
	struct race race;

	(void)state;
	/* it was held in the middle: a part of the other may be before */
	a_reader(&race);
	replay(&race, NULL, &serial, 100);
	replay(&race, NULL, &order_register, 1);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	race_deinit(&race);
	/* two that write: one of the values is gone */
	plain_race(&race);
	replay(&race, NULL, &serial, 100);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	race_deinit(&race);
	/* it reads, and its function writes back */
	a_reader(&race);
	race.sides[0].pattern.change = PATTERN_DERIVED;
	replay(&race, NULL, &serial, 100);
	assert_verdict(&race, VERDICT_SUSPECT, NULL);
	race_deinit(&race);
}

/* A race that is met later has no instance yet: that refutes nothing. */
static void new_race_on_the_bytes_leaves_it_open(void **state)
{
	struct race races[2], *all[2] = { &races[0], &races[1] };
	const struct vec list = { all, 2, 2, sizeof(all[0]) };

	(void)state;
	plain_race(&races[0]);
	plain_race(&races[1]);
	replay(&races[0], NULL, &same, replayed_enough());
	assert_verdict(&races[0], VERDICT_UNLIKELY, "no-state-change");
	replay(&races[0], &list, &same, 0);
	assert_verdict(&races[0], VERDICT_SUSPECT, NULL);
	assert_null(races[0].grounds);
	replay(&races[1], &list, &same, 3);
	replay(&races[0], &list, &same, 0);
	assert_verdict(&races[0], VERDICT_UNLIKELY, "no-state-change");
	race_deinit(&races[0]);
	race_deinit(&races[1]);
}

/* The code went another way then: that may be the effect. */
static void orders_that_end_elsewhere_leave_it_open(void **state)
{
	struct race races[2], *all[2] = { &races[0], &races[1] };
	const struct vec list = { all, 2, 2, sizeof(all[0]) };

	(void)state;
	plain_race(&races[0]);
	plain_race(&races[1]);
	replay(&races[0], NULL, &same, 100);
	assert_verdict(&races[0], VERDICT_UNLIKELY, "no-state-change");
	replay(&races[1], NULL, &same, 100);
	replay(&races[1], &list, &unequal, 1);
	assert_verdict(&races[1], VERDICT_SUSPECT, NULL);
	replay(&races[0], &list, &same, 0);
	assert_verdict(&races[0], VERDICT_SUSPECT, NULL);
	race_deinit(&races[0]);
	race_deinit(&races[1]);
}

/* The user knows better. */
static void change_by_a_special_variable_is_fine(void **state)
{
	static const char *const names[] = { "us?d" };
	const struct vec special = { (void *)(uintptr_t)names, 1, 1,
				     sizeof(names[0]) };
	struct race race;

	(void)state;
	plain_race(&race);
	sample_set(&race.variable.name, "used");
	assert_true(race_replay_add(&race, &change_beyond));
	assert_null(rank_race(&race, &special));
	assert_verdict(&race, VERDICT_UNLIKELY, "special-variable");
	race_deinit(&race);
}

/* What the code shows is not outweighed by what did not happen. */
static void signs_of_harm_come_before_no_effect(void **state)
{
	struct race race;

	(void)state;
	counter(&race);
	race.sides[0].pattern.delta = -1;
	race.sides[0].pattern.tests_zero = true;
	replay(&race, NULL, &same, 100);
	assert_verdict(&race, VERDICT_HARMFUL, "reference-count");
	race_deinit(&race);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault_in_one_order_is_harmful),
		cmocka_unit_test(fault_with_a_handler_is_said),
		cmocka_unit_test(overlap_beyond_the_raced_bytes_is_harmful),
		cmocka_unit_test(
			what_the_order_decides_leaves_the_verdict_to_the_code),
		cmocka_unit_test(lost_update_leaves_the_verdict_to_the_code),
		cmocka_unit_test(failures_leave_the_verdict_to_the_code),
		cmocka_unit_test(enough_is_derived_from_the_confidence),
		cmocka_unit_test(enough_instances_without_an_effect),
		cmocka_unit_test(one_change_takes_it_back),
		cmocka_unit_test(orders_that_end_elsewhere_leave_it_open),
		cmocka_unit_test(change_by_a_special_variable_is_fine),
		cmocka_unit_test(every_race_on_the_bytes_must_say_so),
		cmocka_unit_test(new_race_on_the_bytes_leaves_it_open),
		cmocka_unit_test(signs_of_harm_come_before_no_effect),
		cmocka_unit_test(what_changes_nothing_tells_nothing),
		cmocka_unit_test(redundant_stores_need_more_instances),
		cmocka_unit_test(redundant_stores_need_instances_of_each_race),
		cmocka_unit_test(either_order_of_whole_functions_will_do),
		cmocka_unit_test(
			either_order_is_of_a_reader_and_whole_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/phrase-replay.c: what is said of each outcome. */
#include "report/phrase-replay.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample-race.h"

static const char *const orders[] = { "ba", "a(b)a", NULL };

static void add(struct race *race, const struct replay_note *note, int times)
{
	for (int i = 0; i < times; i++)
		assert_true(race_replay_add(race, note));
}

static void add_failure(struct race *race, const char *name, int times)
{
	const struct replay_note note = {
		.outcome = RACE_REPLAY_FAILURE,
		.failure = name,
	};

	add(race, &note, times);
}

static void assert_said(struct race *race, const char *text)
{
	struct strbuf line = { 0 };

	phrase_add_replay_all(&line, &race->replay);
	assert_string_equal(strbuf_text(&line), text);
	strbuf_deinit(&line);
	race_deinit(race);
}

static void nothing_is_said_of_nothing(void **state)
{
	struct race race;

	(void)state;
	race_init(&race);
	assert_said(&race, "");
}

static void values_are_said_by_order(void **state)
{
	static const struct replay_note_change changes[] = {
		{ "used", "ab", "100", false, false },
		{ "used", "a(b)a", "99", false, true },
		{ "used", "ba", "100", false, false },
		{ "used", "ba-whole", "100", false, false },
		{ "used", "a[b]a", "99", false, false },
	};
	const struct replay_note note = {
		.outcome = RACE_REPLAY_CHANGE,
		.changes = changes,
		.change_count = 5,
	};
	struct race race;

	(void)state;
	race_init(&race);
	add(&race, &note, 12);
	assert_said(&race, "in 12 of 12 instances the order changed `used`: "
			   "100 (ab, ba and 1 more), 99 (a(b)a, a[b]a)");
}

static void many_variables_are_counted(void **state)
{
	static const struct replay_note_change changes[] = {
		{ "a", "ab", "1", false, false },
		{ "b", "ab", "2", true, false },
		{ "c", "ab", "3", true, false },
		{ "d", "ab", "4", true, false },
		{ "e", "ab", "5", true, false },
	};
	const struct replay_note note = {
		.outcome = RACE_REPLAY_CHANGE,
		.beyond = true,
		.registers = true,
		.changes = changes,
		.change_count = 5,
	};
	struct race race;

	(void)state;
	race_init(&race);
	add(&race, &note, 1);
	assert_said(&race, "in 1 of 1 instance the order changed `a`: 1 (ab); "
			   "`b`: 2 (ab); `c`: 3 (ab); 2 more; and registers "
			   "in 1");
}

static void changes_without_a_variable(void **state)
{
	struct replay_note note = {
		.outcome = RACE_REPLAY_CHANGE,
		.beyond = true,
	};
	struct race race;

	(void)state;
	race_init(&race);
	add(&race, &note, 2);
	assert_said(&race,
		    "in 2 of 2 instances the order changed other memory");
	race_init(&race);
	note.registers = true;
	add(&race, &note, 2);
	assert_said(&race, "in 2 of 2 instances the order changed registers");
}

static void no_effect_has_its_confidence(void **state)
{
	const struct replay_note note = { .outcome = RACE_REPLAY_SAME };
	struct race race;

	(void)state;
	race_init(&race);
	add(&race, &note, 40);
	assert_said(&race, "no effect in 40 of 40 instances (with 95 % "
			   "confidence at most 7.2 % have one)");
}

static void faults_come_first(void **state)
{
	const struct replay_note same = { .outcome = RACE_REPLAY_SAME };
	const struct replay_note change = { .outcome = RACE_REPLAY_CHANGE };
	struct replay_note fault = {
		.outcome = RACE_REPLAY_FAULT,
		.signal = SIGSEGV,
		.fault_schedules = orders + 1,
	};
	struct race race;

	(void)state;
	race_init(&race);
	add(&race, &fault, 3);
	add(&race, &same, 2);
	assert_said(&race, "SIGSEGV at 0x0 in order a(b)a in 3 of 5 instances");
	race_init(&race);
	fault.handled = true;
	add(&race, &fault, 1);
	assert_said(&race, "SIGSEGV, for which there is a handler, at 0x0 in "
			   "order a(b)a in 1 of 1 instance");
	fault.handled = false;
	race_init(&race);
	fault.executes = true;
	add(&race, &fault, 1);
	assert_said(&race, "SIGSEGV on a jump to what is no code at 0x0 in "
			   "order a(b)a in 1 of 1 instance");
	fault.executes = false;
	race_init(&race);
	add(&race, &fault, 1);
	fault.fault_address = 0x10;
	fault.fault_schedules = orders;
	add(&race, &fault, 1);
	add(&race, &change, 1);
	add_failure(&race, "rdtsc", 1);
	assert_said(&race, "SIGSEGV in orders a(b)a, ba in 2 of 3 instances; "
			   "in 1 the order changed other memory; "
			   "not possible: rdtsc 1");
}

static void failures_are_said_by_number(void **state)
{
	struct race race;

	(void)state;
	race_init(&race);
	add_failure(&race, "rdtsc", 1);
	add_failure(&race, "cpuid", 1);
	add_failure(&race, "system-call", 4);
	assert_said(&race, "not possible: system-call 4, cpuid 1, rdtsc 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_said_of_nothing),
		cmocka_unit_test(values_are_said_by_order),
		cmocka_unit_test(many_variables_are_counted),
		cmocka_unit_test(changes_without_a_variable),
		cmocka_unit_test(no_effect_has_its_confidence),
		cmocka_unit_test(faults_come_first),
		cmocka_unit_test(failures_are_said_by_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

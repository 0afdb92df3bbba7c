/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/kin.c: which races are of one variable, and what one tells. */
#include "report/kin.h"

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
	assert_true(kin_of_one_variable(&a, &b));
	b.address += 7;
	assert_true(kin_of_one_variable(&a, &b));
	b.address += 1;
	assert_false(kin_of_one_variable(&a, &b));
	b.address = a.address;
	b.pid++;
	assert_false(kin_of_one_variable(&a, &b));
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
	assert_true(kin_of_one_variable(&a, &b));
	b.variable.offset += 8;
	assert_false(kin_of_one_variable(&a, &b));
	b.variable.offset = a.variable.offset;
	sample_set(&b.variable.module, "/usr/lib/other.so");
	assert_false(kin_of_one_variable(&a, &b));
	race_deinit(&a);
	race_deinit(&b);
}

static void told_once(void **state)
{
	struct race race, teller;

	(void)state;
	sample_race(&race);
	sample_race(&teller);
	assert_false(kin_tell(&race, &teller));
	teller.sides[1].idiom.compared = true;
	assert_true(kin_tell(&race, &teller));
	assert_true(race.decides);
	assert_false(kin_tell(&race, &teller));
	race_deinit(&race);
	race_deinit(&teller);
}

static void counting_down_tells(void **state)
{
	struct race race, teller;

	(void)state;
	sample_race(&race);
	sample_race(&teller);
	teller.sides[0].idiom =
		(struct insn_idiom){ .change = IDIOM_ADD, .delta = 1 };
	assert_false(kin_tell(&race, &teller));
	teller.sides[0].idiom.delta = -1;
	teller.address += 64;
	teller.variable.offset += 64;
	assert_false(kin_tell(&race, &teller));
	teller.address -= 64;
	assert_true(kin_tell(&race, &teller));
	race_deinit(&race);
	race_deinit(&teller);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bytes_of_one_process),
		cmocka_unit_test(same_field_of_a_named_variable),
		cmocka_unit_test(told_once),
		cmocka_unit_test(counting_down_tells),
	};

	return cmocka_run_group_tests_name("kin", tests, NULL, NULL);
}

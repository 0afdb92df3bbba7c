/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/hunt/attach.c: which race is a side's, whichever of its threads was held,
 * and what it gets of the recording.
 */
#include "hunt/attach.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conflict/symbolize.h"
#include "report/target-record.h"
#include "sample-race.h"
#include "sample-recorded.h"

static struct race race;
static struct hunt_side side;

static int begin(void **state)
{
	(void)state;
	sample_race(&race);
	hunt_side_init(&side);
	side.place.module = strdup("/usr/bin/cache");
	side.place.offset = 0x1179;
	sample_recorded(&side.recorded);
	return 0;
}

static int end(void **state)
{
	(void)state;
	race_deinit(&race);
	hunt_side_deinit(&side);
	return 0;
}

/* As if a thread had been held at the partner, for which the side's came. */
static void turn(void)
{
	struct race_side first = race.sides[0];

	race.sides[0] = race.sides[1];
	race.sides[1] = first;
}

static void attach(void)
{
	struct symbolizer *symbolizer;

	assert_null(symbolizer_create(NULL, &symbolizer));
	assert_null(attach_recorded(symbolizer, &side, &race));
	symbolizer_destroy(symbolizer);
}

static void a_race_is_of_the_side_that_was_held(void **state)
{
	(void)state;
	assert_true(attach_fits(&race, &side, ""));
	assert_true(attach_fits(&race, &side, race.fingerprint));
	assert_false(attach_fits(&race, &side, "another"));
}

static void or_of_the_one_that_came(void **state)
{
	(void)state;
	turn();
	assert_true(attach_fits(&race, &side, ""));
	assert_false(attach_fits(&race, &side, "another"));
}

static void another_instruction_is_another_race(void **state)
{
	(void)state;
	side.place.offset++;
	assert_false(attach_fits(&race, &side, ""));
	side.place.offset--;
	side.place.module[0] = '.';
	assert_false(attach_fits(&race, &side, ""));
	side.place.build_id = strdup("00aa11bb");
	assert_true(attach_fits(&race, &side, ""));
}

static void each_thread_gets_its_access(void **state)
{
	(void)state;
	attach();
	assert_int_equal(race.recorded.block.size, 48);
	assert_int_equal(race.sides[0].recorded.first, 90);
	assert_int_equal(race.sides[1].recorded.first, 0);
}

static void also_where_the_other_was_held(void **state)
{
	struct recorded_access *other = sample_recorded_access(
		&side.recorded, 99, 3, "0.1", "shard_evict", 12, 0x1216);

	(void)state;
	other->held = false;
	turn();
	attach();
	assert_int_equal(race.sides[0].recorded.first, 99);
	assert_int_equal(race.sides[1].recorded.first, 90);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_race_is_of_the_side_that_was_held, begin, end),
		cmocka_unit_test_setup_teardown(or_of_the_one_that_came, begin,
						end),
		cmocka_unit_test_setup_teardown(
			another_instruction_is_another_race, begin, end),
		cmocka_unit_test_setup_teardown(each_thread_gets_its_access,
						begin, end),
		cmocka_unit_test_setup_teardown(also_where_the_other_was_held,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

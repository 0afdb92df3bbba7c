/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When the hold of a side ends that waits for all its partners; what it tells is for
 * test_hunt.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tracer/hunt-meet.h"
#include "tracer/hunt.h"

static struct hunt_target target;

/* Partners at 0x1000 and 0x2000, of 3 and 4 bytes. */
static int setup(void **state)
{
	(void)state;
	target = (struct hunt_target){
		.wire = { .until_all = true,
			  .partner_count = 2,
			  .early_count = 2 },
		.met = VEC_INIT(struct hunt_met),
	};
	target.wire.partners[0].address = 0x1000;
	target.wire.partners[0].insn.length = 3;
	target.wire.partners[1].address = 0x2000;
	target.wire.partners[1].insn.length = 4;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vec_deinit(&target.met);
	return 0;
}

static void a_hold_ends_with_the_first(void **state)
{
	(void)state;
	target.wire.until_all = false;
	assert_int_equal(hunt_meet(&target, 0x3000, 1), STALL_ENDS);
	assert_int_equal(hunt_meet(&target, 0x1003, 1), STALL_ENDS);
}

static void a_hold_ends_with_the_last_partner(void **state)
{
	(void)state;
	assert_int_equal(hunt_meet(&target, 0x3000, 1), STALL_STAYS);
	assert_int_equal(hunt_meet(&target, 0x2004, 1), STALL_STAYS);
	assert_int_equal(hunt_meet(&target, 0x1000, 1), STALL_STAYS);
	assert_int_equal(hunt_meet(&target, 0x1003, 1), STALL_ENDS);
}

static void each_instruction_counts_once(void **state)
{
	(void)state;
	assert_int_equal(hunt_meet(&target, 0x2004, 1), STALL_STAYS);
	assert_int_equal(hunt_meet(&target, 0x2004, 1), STALL_KNOWS);
	assert_int_equal(hunt_meet(&target, 0x3000, 1), STALL_STAYS);
	assert_int_equal(hunt_meet(&target, 0x3000, 1), STALL_KNOWS);
}

/* Two functions call memcpy(), and one of these is the partner that is wanted. */
static void each_caller_of_an_instruction_counts_once(void **state)
{
	(void)state;
	for (uint64_t caller = 0; caller < HUNT_CALLERS; caller++) {
		assert_int_equal(hunt_meet(&target, 0x3000, caller),
				 STALL_STAYS);
		assert_int_equal(hunt_meet(&target, 0x3000, caller),
				 STALL_KNOWS);
	}
	assert_int_equal(hunt_meet(&target, 0x3000, HUNT_CALLERS), STALL_KNOWS);
	assert_int_equal(hunt_meet(&target, 0x4000, HUNT_CALLERS), STALL_STAYS);
}

/* Of the second one, another caller may be the partner. */
static void code_that_many_call_ends_no_hold(void **state)
{
	(void)state;
	target.wire.early_count = 1;
	assert_int_equal(hunt_meet(&target, 0x1003, 1), STALL_STAYS);
	assert_int_equal(hunt_meet(&target, 0x2004, 1), STALL_STAYS);
	assert_int_equal(hunt_meet(&target, 0x2004, 2), STALL_STAYS);
}

static void what_is_not_listed_is_waited_for(void **state)
{
	(void)state;
	target.wire.unlisted = true;
	assert_int_equal(hunt_meet(&target, 0x1003, 1), STALL_STAYS);
	assert_int_equal(hunt_meet(&target, 0x2004, 1), STALL_STAYS);
}

static void without_partners_anybody_is_waited_for(void **state)
{
	(void)state;
	target.wire.partner_count = target.wire.early_count = 0;
	for (uint64_t after = 0; after < 100; after++)
		assert_int_equal(hunt_meet(&target, after, 1), STALL_STAYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_hold_ends_with_the_first,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_hold_ends_with_the_last_partner, setup, teardown),
		cmocka_unit_test_setup_teardown(each_instruction_counts_once,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			each_caller_of_an_instruction_counts_once, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			code_that_many_call_ends_no_hold, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_is_not_listed_is_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(
			without_partners_anybody_is_waited_for, setup,
			teardown),
	};

	return cmocka_run_group_tests_name("hunt-meet", tests, NULL, NULL);
}

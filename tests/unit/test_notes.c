/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/notes.c: which notes are of one kind. */
#include "hunt/notes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct notes notes;

static int set_up(void **state)
{
	(void)state;
	notes_init(&notes);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	notes_deinit(&notes);
	return 0;
}

static void numbers_make_no_kind(void **state)
{
	(void)state;
	assert_true(notes_is_new(&notes, "process 9 waited for 0.5 s"));
	assert_false(notes_is_new(&notes, "process 9 waited for 0.5 s"));
	assert_false(notes_is_new(&notes, "process 1234 waited for 12.0 s"));
	assert_true(notes_is_new(&notes, "process 9 waited for 0.5"));
	assert_true(notes_is_new(&notes, "process 9 waited for 0.5 s, 2"));
	assert_true(notes_is_new(&notes, "process  waited for 0.5 s"));
	assert_true(notes_is_new(&notes, ""));
	assert_false(notes_is_new(&notes, ""));
}

static void kinds_are_bounded(void **state)
{
	char text[] = "a";
	unsigned int kinds = 0;

	(void)state;
	for (; text[0] <= 'z'; text[0]++)
		kinds += notes_is_new(&notes, text);
	for (text[0] = 'A'; text[0] <= 'Z'; text[0]++)
		kinds += notes_is_new(&notes, text);
	assert_int_equal(kinds, 32);
	assert_false(notes_is_new(&notes, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers_make_no_kind, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(kinds_are_bounded, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

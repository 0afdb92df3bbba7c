/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/spelling.c: misspelt words. */
#include "base/spelling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void edits_are(const char *word, const char *candidate, size_t edits)
{
	struct spelling spelling = { 0 };

	spelling_offer(&spelling, word, candidate);
	assert_ptr_equal(spelling.word, candidate);
	assert_int_equal(spelling.edits, edits);
}

static void is_far(const char *word, const char *candidate)
{
	struct spelling spelling = { 0 };

	spelling_offer(&spelling, word, candidate);
	assert_null(spelling.word);
}

static void edits_are_letters_and_swaps(void **state)
{
	(void)state;
	edits_are("attach", "attach", 0);
	edits_are("provke", "provoke", 1);
	edits_are("attaach", "attach", 1);
	edits_are("atyach", "attach", 1);
	edits_are("prvooke", "provoke", 1);
	edits_are("durtaion", "duration", 1);
	edits_are("rn", "run", 1);
	edits_are("swepe", "sweep", 1);
	edits_are("dutarion", "duration", 2);
}

static void other_words_are_far(void **state)
{
	char longest[65] = "";

	(void)state;
	is_far("help", "attach");
	is_far("x", "run");
	is_far("", "run");
	is_far("rot", "hunt");
	memset(longest, 'a', 64);
	is_far(longest, "a");
	is_far(longest, longest);
	edits_are(longest + 1, longest + 1, 0);
}

static void nearest_is_kept_and_of_equals_the_first(void **state)
{
	struct spelling spelling = { 0 };

	(void)state;
	spelling_offer(&spelling, "--staat", "--stall");
	assert_string_equal(spelling.word, "--stall");
	spelling_offer(&spelling, "--staat", "--state");
	spelling_offer(&spelling, "--staat", "--start");
	assert_string_equal(spelling.word, "--start");
	spelling_offer(&spelling, "--staat", "--stadt");
	assert_string_equal(spelling.word, "--start");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edits_are_letters_and_swaps),
		cmocka_unit_test(other_words_are_far),
		cmocka_unit_test(nearest_is_kept_and_of_equals_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

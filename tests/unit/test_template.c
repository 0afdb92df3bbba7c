/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sweep/template.c: the command of a run.
 */
#include "sweep/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/strbuf.h"

static void expect(const char *word, const char *wanted)
{
	struct strbuf out = { 0 };

	template_add(&out, word, 42, 7);
	assert_string_equal(strbuf_text(&out), wanted);
	strbuf_deinit(&out);
}

static void both_names_are_filled_in(void **state)
{
	(void)state;
	expect("--seed={seed}", "--seed=42");
	expect("{run}", "7");
	expect("{seed}{run}-{seed}", "427-42");
	expect("plain", "plain");
	expect("", "");
}

static void other_braces_stay(void **state)
{
	(void)state;
	expect("{}", "{}");
	expect("{seed", "{seed");
	expect("{{run}}", "{7}");
	expect("{Seed} {runs} {", "{Seed} {runs} {");
}

static void a_command_is_filled_word_by_word(void **state)
{
	char *command[] = { "./test", "", "{seed} {run}", "x", NULL };
	char **filled;

	(void)state;
	assert_null(template_fill(command, UINT64_MAX, 3, &filled));
	assert_string_equal(filled[0], "./test");
	assert_string_equal(filled[1], "");
	assert_string_equal(filled[2], "18446744073709551615 3");
	assert_string_equal(filled[3], "x");
	assert_null(filled[4]);
	free((void *)filled);
}

static void an_empty_command_is_one(void **state)
{
	char *command[] = { NULL };
	char **filled;

	(void)state;
	assert_null(template_fill(command, 1, 1, &filled));
	assert_null(filled[0]);
	free((void *)filled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_names_are_filled_in),
		cmocka_unit_test(other_braces_stay),
		cmocka_unit_test(a_command_is_filled_word_by_word),
		cmocka_unit_test(an_empty_command_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

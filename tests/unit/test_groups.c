/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/cmd/groups.c: --include and --exclude keep the order of the command line,
 * in every way of writing an option.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"
#include "cmd/groups.h"
#include "sampling/glob.h"

static const struct option_table table = {
	.command = "sites",
	.parts = (const struct option_part[]){ { &selecting_group, 0 },
					       { NULL, 0 } },
};

/* What two options say of a module; argv ends in NULL. */
static enum glob_verdict merged(int argc, char **argv)
{
	struct selecting selecting;
	struct globs globs;
	enum glob_verdict verdict;
	bool decided;
	int first;

	assert_null(
		options_parse(&table, argc, argv, &selecting, NULL, &first));
	globs_init(&globs);
	assert_null(selecting_globs(&selecting, &globs));
	assert_int_equal(globs.items.count, 2);
	verdict = globs_module(&globs, "/bin/x", &decided);
	globs_deinit(&globs);
	options_release(&table, &selecting);
	return verdict;
}

static void the_later_option_is_later(void **state)
{
	char name[] = "sites", in[] = "--include", out[] = "--exclude",
	     x[] = "x", any[] = "*";
	char *first[] = { name, in, x, out, any, NULL };
	char *second[] = { name, out, any, in, x, NULL };

	(void)state;
	assert_int_equal(merged(5, first), GLOB_EXCLUDE);
	assert_int_equal(merged(5, second), GLOB_INCLUDE);
}

static void arguments_behind_an_equals_sign_count_too(void **state)
{
	char name[] = "sites", include[] = "--include=x",
	     exclude[] = "--exclude=*";
	char *first[] = { name, include, exclude, NULL };
	char *second[] = { name, exclude, include, NULL };

	(void)state;
	assert_int_equal(merged(3, first), GLOB_EXCLUDE);
	assert_int_equal(merged(3, second), GLOB_INCLUDE);
}

static void an_empty_one_is_refused(void **state)
{
	char name[] = "sites",
	     include[] = "--include=", exclude[] = "--exclude=";
	char *options[] = { include, exclude };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *argv[] = { name, options[i], NULL };
		struct selecting selecting;
		struct error *err;
		int first;

		err = options_parse(&table, 2, argv, &selecting, NULL, &first);
		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_USAGE);
		assert_string_equal(error_message(err),
				    i ? "--exclude: '': an empty pattern "
					"matches nothing"
				      : "--include: '': an empty pattern "
					"matches nothing");
		error_free(err);
		options_release(&table, &selecting);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_later_option_is_later),
		cmocka_unit_test(an_empty_one_is_refused),
		cmocka_unit_test(arguments_behind_an_equals_sign_count_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

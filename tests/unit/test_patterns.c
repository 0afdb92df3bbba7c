/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --include and --exclude keep the order of the command line, in every way of
 * writing an option.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"
#include "cmd/patterns.h"
#include "detect/glob.h"

static enum glob_verdict merged(char *const *argv, const char *include,
				const char *exclude)
{
	struct vec in = VEC_INIT(const char *), out = VEC_INIT(const char *);
	struct globs globs;
	enum glob_verdict verdict;
	bool decided;

	globs_init(&globs);
	assert_true(vec_push(&in, &include));
	assert_true(vec_push(&out, &exclude));
	assert_null(patterns_merge(argv, &in, &out, &globs));
	assert_int_equal(globs.items.count, 2);
	verdict = globs_module(&globs, "/bin/x", &decided);
	globs_deinit(&globs);
	vec_deinit(&in);
	vec_deinit(&out);
	return verdict;
}

static void the_later_option_is_later(void **state)
{
	char include[] = "x", exclude[] = "*";
	char *first[] = { "run",       "--include", include,
			  "--exclude", exclude,	    NULL };
	char *second[] = { "run",	"--exclude", exclude,
			   "--include", include,     NULL };

	(void)state;
	assert_int_equal(merged(first, include, exclude), GLOB_EXCLUDE);
	assert_int_equal(merged(second, include, exclude), GLOB_INCLUDE);
}

static void arguments_behind_an_equals_sign_count_too(void **state)
{
	char include[] = "--include=x", exclude[] = "--exclude=*";
	char *first[] = { "run", include, exclude, NULL };
	char *second[] = { "run", exclude, include, NULL };

	(void)state;
	assert_int_equal(merged(first, include + 10, exclude + 10),
			 GLOB_EXCLUDE);
	assert_int_equal(merged(second, include + 10, exclude + 10),
			 GLOB_INCLUDE);
}

static void an_empty_one_is_refused(void **state)
{
	struct vec some = VEC_INIT(const char *), none = VEC_INIT(const char *);
	const char *const texts[] = { "x", "" };

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_true(vec_push(&some, &texts[i]));
	for (int i = 0; i < 2; i++) {
		struct error *err =
			patterns_check(i ? &none : &some, i ? &some : &none);

		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_USAGE);
		assert_non_null(strstr(error_message(err),
				       i ? "--exclude" : "--include"));
		error_free(err);
	}
	assert_null(patterns_check(&none, &none));
	vec_deinit(&some);
	vec_deinit(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_later_option_is_later),
		cmocka_unit_test(an_empty_one_is_refused),
		cmocka_unit_test(arguments_behind_an_equals_sign_count_too),
	};

	return cmocka_run_group_tests_name("patterns", tests, NULL, NULL);
}

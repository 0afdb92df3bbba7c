/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --include and --exclude: what matches what, and which pattern decides.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampling/glob.h"

static void last_match_decides(void **state)
{
	struct globs globs;
	bool decided;

	(void)state;
	globs_init(&globs);
	assert_true(globs_add(&globs, "*", false));
	assert_true(globs_add(&globs, "libstore.so*", true));
	assert_int_equal(globs_module(&globs, "/opt/libstore.so.1", &decided),
			 GLOB_INCLUDE);
	assert_true(decided);
	assert_int_equal(globs_module(&globs, "/usr/bin/server", &decided),
			 GLOB_EXCLUDE);
	assert_false(decided);
	globs_deinit(&globs);
}

static void nothing_matches_by_default(void **state)
{
	struct globs globs;
	bool decided;

	(void)state;
	globs_init(&globs);
	assert_int_equal(globs_module(&globs, "/bin/x", &decided), GLOB_NONE);
	assert_true(decided);
	assert_true(globs_add(&globs, "y", true));
	assert_int_equal(globs_module(&globs, "/bin/x", &decided), GLOB_NONE);
	assert_false(decided);
	assert_int_equal(globs_function(&globs, "/bin/x", "f", NULL, NULL),
			 GLOB_NONE);
	globs_deinit(&globs);
}

static void every_name_of_a_function_matches(void **state)
{
	struct globs globs;

	(void)state;
	globs_init(&globs);
	assert_true(globs_add(&globs, "_ZN5store*", false));
	assert_true(globs_add(&globs, "cache::*", false));
	assert_true(globs_add(&globs, "lru.c", false));
	assert_int_equal(globs_function(&globs, "/m", "_ZN5store3getEv",
					"store::get()", "/src/store.cc"),
			 GLOB_EXCLUDE);
	assert_int_equal(globs_function(&globs, "/m", "_ZN5cache3getEv",
					"cache::get()", NULL),
			 GLOB_EXCLUDE);
	assert_int_equal(globs_function(&globs, "/m", "f", "f", "/src/lru.c"),
			 GLOB_EXCLUDE);
	assert_int_equal(globs_function(&globs, "/m", "f", "f", "/src/lru.cc"),
			 GLOB_NONE);
	globs_deinit(&globs);
}

static void a_function_may_differ_from_its_module(void **state)
{
	struct globs globs;

	(void)state;
	globs_init(&globs);
	assert_true(globs_add(&globs, "libc.so.6", true));
	assert_true(globs_add(&globs, "qsort*", false));
	assert_int_equal(globs_function(&globs, "/lib/libc.so.6", "qsort_r",
					"qsort_r", NULL),
			 GLOB_EXCLUDE);
	assert_int_equal(globs_function(&globs, "/lib/libc.so.6", "bsearch",
					"bsearch", NULL),
			 GLOB_INCLUDE);
	globs_deinit(&globs);
}

static bool has_no_effect(const struct globs *globs, size_t i)
{
	const char *pattern;
	bool include;

	return globs_unmatched(globs, i, &pattern, &include);
}

/* Each pattern is asked, also where a later one has decided. */
static void what_matches_nothing_is_known(void **state)
{
	struct globs globs;
	const char *pattern;
	bool include, decided;

	(void)state;
	globs_init(&globs);
	assert_true(globs_add(&globs, "qsrot*", true));
	assert_true(globs_add(&globs, "store*", false));
	assert_true(globs_add(&globs, "server", false));
	/* nothing was compared with them yet */
	for (size_t i = 0; i < 3; i++)
		assert_false(has_no_effect(&globs, i));
	assert_int_equal(globs_module(&globs, "/bin/server", &decided),
			 GLOB_EXCLUDE);
	assert_int_equal(globs_function(&globs, "/bin/server", "store_get",
					NULL, NULL),
			 GLOB_EXCLUDE);
	assert_true(globs_unmatched(&globs, 0, &pattern, &include));
	assert_string_equal(pattern, "qsrot*");
	assert_true(include);
	assert_false(has_no_effect(&globs, 1));
	assert_false(has_no_effect(&globs, 2));
	globs_deinit(&globs);
}

static void what_leaves_a_module_out_is_known(void **state)
{
	struct globs globs;

	(void)state;
	globs_init(&globs);
	assert_true(globs_add(&globs, "libstore*", false));
	assert_true(globs_add(&globs, "serv*", false));
	assert_true(globs_add(&globs, "get*", false));
	assert_string_equal(globs_excluding(&globs, "/bin/server"), "serv*");
	assert_null(globs_excluding(&globs, "/bin/other"));
	assert_int_equal(globs_function(&globs, "/bin/other", "get_it", NULL,
					NULL),
			 GLOB_EXCLUDE);
	assert_string_equal(globs_excluding(&globs, "/bin/other"), "get*");
	assert_true(globs_add(&globs, "server", true));
	assert_null(globs_excluding(&globs, "/bin/server"));
	globs_deinit(&globs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_match_decides),
		cmocka_unit_test(nothing_matches_by_default),
		cmocka_unit_test(every_name_of_a_function_matches),
		cmocka_unit_test(what_matches_nothing_is_known),
		cmocka_unit_test(what_leaves_a_module_out_is_known),
		cmocka_unit_test(a_function_may_differ_from_its_module),
	};

	return cmocka_run_group_tests_name("glob", tests, NULL, NULL);
}

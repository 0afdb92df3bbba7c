/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/path.c: paths relative to a folder. */
#include "report/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"

static void path_is(const char *path, const char *folder, const char *expected)
{
	struct strbuf buf = { 0 };

	path_add(&buf, path, folder);
	assert_string_equal(strbuf_text(&buf), expected);
	strbuf_deinit(&buf);
}

static void what_is_below_is_relative(void **state)
{
	(void)state;
	path_is("/home/a/src/cache.c", "/home/a", "src/cache.c");
	path_is("/home/a/build/../src/cache.c", "/home/a", "src/cache.c");
	path_is("/home/a/build/../cache.c", "/home/a/", "/home/a/cache.c");
}

static void what_is_elsewhere_is_absolute(void **state)
{
	(void)state;
	path_is("/home/ab/cache.c", "/home/a", "/home/ab/cache.c");
	path_is("/home/a", "/home/a", "/home/a");
	path_is("/usr/include/x.h", "/home/a", "/usr/include/x.h");
	path_is("/usr/include/x.h", "/", "/usr/include/x.h");
	path_is("/usr/include/x.h", NULL, "/usr/include/x.h");
}

static void dots_are_left_out(void **state)
{
	(void)state;
	path_is("/a/./b//c/../d.c", NULL, "/a/b/d.c");
	path_is("/../a.c", NULL, "/a.c");
	path_is("/a/..b/.c", NULL, "/a/..b/.c");
}

static void relative_paths_stay(void **state)
{
	(void)state;
	path_is("../src/cache.c", "/home/a", "../src/cache.c");
	path_is("./nptl/x.c", "/home/a", "./nptl/x.c");
	path_is("", "/home/a", "");
}

static void control_characters_are_visible(void **state)
{
	(void)state;
	path_is("/a/b\033[2J.c", "/a", "b\\x1b[2J.c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_below_is_relative),
		cmocka_unit_test(what_is_elsewhere_is_absolute),
		cmocka_unit_test(dots_are_left_out),
		cmocka_unit_test(relative_paths_stay),
		cmocka_unit_test(control_characters_are_visible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/uri.c: paths as URIs. */
#include "report/uri.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"

static void path_is(const char *path, const char *expected)
{
	struct strbuf buf = { 0 };

	uri_add_path(&buf, path);
	assert_string_equal(strbuf_text(&buf), expected);
	strbuf_deinit(&buf);
}

static void absolute_paths_are_file_uris(void **state)
{
	(void)state;
	path_is("/usr/src/a_b-c.1~/x.c", "file:///usr/src/a_b-c.1~/x.c");
	path_is("/", "file:///");
}

static void relative_paths_stay_relative(void **state)
{
	(void)state;
	path_is("../src/x.c", "../src/x.c");
	/* no scheme, no query, no fragment */
	path_is("a:b?c#d.c", "a%3Ab%3Fc%23d.c");
	path_is("", "");
}

static void every_other_byte_is_encoded(void **state)
{
	(void)state;
	path_is("/c++/a b%\xc3\xa9\xff\n[].c",
		"file:///c%2B%2B/a%20b%25%C3%A9%FF%0A%5B%5D.c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absolute_paths_are_file_uris),
		cmocka_unit_test(relative_paths_stay_relative),
		cmocka_unit_test(every_other_byte_is_encoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/textfile.c: lines with any end, and files that are no text. */
#include "base/textfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[32], path[48];

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/racewatch-test.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/text", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	rmdir(folder);
	return 0;
}

static void write_file(const char *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void assert_line(const struct textfile *file, int line,
			const char *wanted)
{
	const char *found;
	size_t size;

	assert_true(textfile_line(file, line, &found, &size));
	assert_int_equal(size, strlen(wanted));
	assert_memory_equal(found, wanted, size);
}

static void lines_end_in_any_way(void **state)
{
	static const char text[] = "first\n\nthird\r\nlast";
	struct textfile file;
	const char *line;
	size_t size;

	(void)state;
	write_file(text, strlen(text));
	assert_true(textfile_read(&file, NULL, NULL, path, 100));
	assert_int_equal(file.size, strlen(text));
	assert_line(&file, 1, "first");
	assert_line(&file, 2, "");
	assert_line(&file, 3, "third");
	assert_line(&file, 4, "last");
	assert_false(textfile_line(&file, 0, &line, &size));
	assert_false(textfile_line(&file, -1, &line, &size));
	assert_false(textfile_line(&file, 5, &line, &size));
	textfile_deinit(&file);
}

static void the_last_line_feed_ends_a_line(void **state)
{
	struct textfile file;
	const char *line;
	size_t size;

	(void)state;
	write_file("one\n", 4);
	assert_true(textfile_read(&file, NULL, NULL, path, 4));
	assert_line(&file, 1, "one");
	assert_false(textfile_line(&file, 2, &line, &size));
	textfile_deinit(&file);
}

static void what_is_no_text_is_missing(void **state)
{
	struct textfile file = { .size = 7 };

	(void)state;
	assert_false(textfile_read(&file, NULL, NULL, path, 100));
	assert_false(textfile_read(&file, NULL, NULL, folder, 100));
	write_file("", 0);
	assert_false(textfile_read(&file, NULL, NULL, path, 100));
	write_file("nul\0here", 8);
	assert_false(textfile_read(&file, NULL, NULL, path, 100));
	write_file("too long", 8);
	assert_false(textfile_read(&file, NULL, NULL, path, 7));
	assert_int_equal(file.size, 7);
}

static void pipes_are_not_waited_for(void **state)
{
	struct textfile file;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(textfile_read(&file, NULL, NULL, path, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_end_in_any_way, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_last_line_feed_ends_a_line,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_text_is_missing,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(pipes_are_not_waited_for,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

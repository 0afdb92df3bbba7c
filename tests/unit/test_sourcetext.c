/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/sourcetext.c: lines of files that are at hand, and the files that
 * are not taken.
 */
#include "image/sourcetext.h"

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

static const char *const text = "first\n\nthird\nlast";

struct files {
	char folder[32], source[48], module[48];
	struct source_texts *texts;
};

static void write_file(const char *path, const char *content, long when)
{
	const struct timespec times[2] = { { .tv_sec = when },
					   { .tv_sec = when } };
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(utimensat(-1, path, times, 0), 0);
}

static int set_up(void **state)
{
	struct files *files = calloc(1, sizeof(*files));

	assert_non_null(files);
	strcpy(files->folder, "/tmp/racewatch-test.XXXXXX");
	assert_non_null(mkdtemp(files->folder));
	snprintf(files->source, sizeof(files->source), "%s/a.c", files->folder);
	snprintf(files->module, sizeof(files->module), "%s/a", files->folder);
	write_file(files->source, text, 1000);
	write_file(files->module, "module", 1000);
	files->texts = source_texts_create(NULL, files->module);
	assert_non_null(files->texts);
	*state = files;
	return 0;
}

static int tear_down(void **state)
{
	struct files *files = *state;

	source_texts_destroy(files->texts);
	unlink(files->source);
	unlink(files->module);
	rmdir(files->folder);
	free(files);
	return 0;
}

static void assert_line(struct files *files, int line, const char *wanted)
{
	const char *found;
	size_t size;

	assert_true(source_texts_line(files->texts, files->source, line, &found,
				      &size));
	assert_int_equal(size, strlen(wanted));
	assert_memory_equal(found, wanted, size);
}

static bool has_line(struct files *files, const char *path, int line)
{
	const char *found;
	size_t size;

	return source_texts_line(files->texts, path, line, &found, &size);
}

static void lines_count_from_one(void **state)
{
	struct files *files = *state;

	assert_line(files, 1, "first");
	assert_line(files, 2, "");
	assert_line(files, 3, "third");
	assert_line(files, 4, "last");
	assert_false(has_line(files, files->source, 0));
	assert_false(has_line(files, files->source, 5));
}

static void missing_and_relative_files_have_none(void **state)
{
	struct files *files = *state;

	assert_false(has_line(files, "/nowhere/a.c", 1));
	assert_false(has_line(files, "/nowhere/a.c", 1));
	assert_false(has_line(files, "a.c", 1));
	assert_false(has_line(files, files->folder, 1));
}

static void newer_files_have_none(void **state)
{
	struct files *files = *state;

	write_file(files->source, text, 1001);
	assert_false(has_line(files, files->source, 1));
}

static void pipes_are_not_waited_for(void **state)
{
	struct files *files = *state;

	unlink(files->source);
	assert_int_equal(mkfifo(files->source, 0600), 0);
	assert_false(has_line(files, files->source, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_count_from_one, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			missing_and_relative_files_have_none, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(newer_files_have_none, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(pipes_are_not_waited_for,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Only regular files are opened, and the one that was looked at.
 */
#include "base/regular.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

static char folder[] = "/tmp/racewatch-regular.XXXXXX";
static char path[64], other[64];
static bool swap; /* put a FIFO in the file's place after it was looked at */

int __real_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status);

int __wrap_fstat(int fd, struct stat *status)
{
	int result = __real_fstat(fd, status);

	if (swap) {
		swap = false;
		assert_int_equal(mkfifo(other, 0644), 0);
		assert_int_equal(rename(other, path), 0);
	}
	return result;
}

static int set_up(void **state)
{
	FILE *file;

	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("text", file);
	fclose(file);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	unlink(other);
	rmdir(folder);
	return 0;
}

static void expect_text(void)
{
	struct stat status;
	char text[8] = "";
	int fd;

	assert_null(regular_open(path, "name", &fd, &status));
	assert_true(S_ISREG(status.st_mode));
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	assert_string_equal(text, "text");
	close(fd);
}

static void a_file_is_opened(void **state)
{
	(void)state;
	expect_text();
	assert_int_equal(symlink(path, other), 0);
	expect_text();
}

static void expect_refused(const char *what)
{
	struct stat status;
	int fd = -1;
	struct error *err = regular_open(what, "name", &fd, &status);

	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_FORMAT);
	assert_string_equal(error_message(err), "name: not a regular file");
	assert_int_equal(fd, -1);
	error_free(err);
}

static void nothing_else_is(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	expect_refused("/dev/null");
	expect_refused(folder);
	unlink(path);
	assert_int_equal(mkfifo(path, 0644), 0);
	expect_refused(path);
	assert_int_equal(symlink(path, other), 0);
	expect_refused(other);
	unlink(other);
	strcpy(address.sun_path, other);
	assert_int_equal(bind(fd, (const void *)&address, sizeof(address)), 0);
	expect_refused(other);
	close(fd);
}

static void what_was_looked_at_is_opened(void **state)
{
	struct stat status;

	(void)state;
	swap = true;
	expect_text();
	assert_false(swap);
	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_opened),
		TEST(nothing_else_is),
		TEST(what_was_looked_at_is_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

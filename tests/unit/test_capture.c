/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sweep/capture.c: output within its bounds.
 */
#include "sweep/capture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/test_capture.XXXXXX";

static int make_path(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

static void expect_file(const char *wanted)
{
	char text[512] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text, wanted);
}

/* In pieces of `piece' bytes. */
static uint64_t captured(const char *text, uint64_t limit, size_t piece)
{
	struct capture capture;
	size_t length = strlen(text);

	capture_open(&capture, path, limit);
	for (size_t i = 0; i < length; i += piece)
		capture_add(&capture, text + i,
			    length - i < piece ? length - i : piece);
	return capture_close(&capture);
}

static void what_fits_is_kept_as_it_is(void **state)
{
	(void)state;
	for (size_t piece = 1; piece <= 12; piece++) {
		assert_int_equal(captured("0123456789ab", 12, piece), 0);
		expect_file("0123456789ab");
		assert_int_equal(captured("0123456789", 12, piece), 0);
		expect_file("0123456789");
	}
	assert_int_equal(captured("", 12, 1), 0);
	expect_file("");
}

static void the_middle_of_a_flood_is_cut(void **state)
{
	(void)state;
	for (size_t piece = 1; piece <= 26; piece++) {
		assert_int_equal(
			captured("abcdefghijklmnopqrstuvwxyz", 10, piece), 16);
		expect_file("abcde\n[racewatch: 16 bytes were cut here]\n"
			    "vwxyz");
	}
}

static void no_room_at_all(void **state)
{
	(void)state;
	assert_int_equal(captured("abc", 0, 1), 3);
	expect_file("\n[racewatch: 3 bytes were cut here]\n");
	assert_int_equal(captured("abc", 1, 3), 2);
	expect_file("a\n[racewatch: 2 bytes were cut here]\n");
}

static void a_full_disk_is_remembered(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, "/dev/full", 100);
	capture_add(&capture, "text", 4);
	assert_int_equal(capture.error, ENOSPC);
	/* and whoever writes is not kept from it */
	capture_add(&capture, "more", 4);
	assert_int_equal(capture_close(&capture), 0);
	assert_int_equal(capture.error, ENOSPC);
}

static void so_is_a_file_that_cannot_be_made(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, "/proc/none/such", 100);
	assert_int_equal(capture.error, ENOENT);
	capture_add(&capture, "text", 4);
	capture_close(&capture);
	assert_int_equal(capture.error, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_kept_as_it_is),
		cmocka_unit_test(the_middle_of_a_flood_is_cut),
		cmocka_unit_test(no_room_at_all),
		cmocka_unit_test(a_full_disk_is_remembered),
		cmocka_unit_test(so_is_a_file_that_cannot_be_made),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}

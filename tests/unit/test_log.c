/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/log.c: which debug domains speak, and what a line looks like. */
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int saved_stderr, read_end;

static void capture_start(void)
{
	int ends[2];

	fflush(stderr);
	assert_int_equal(pipe(ends), 0);
	saved_stderr = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	read_end = ends[0];
}

/* What was written since capture_start(). */
static void capture_end(char *text, size_t size)
{
	ssize_t n;

	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	n = read(read_end, text, size - 1);
	close(read_end);
	assert_true(n >= 0);
	text[n] = '\0';
}

static void messages_are_one_marked_line(void **state)
{
	char text[4096];

	(void)state;
	capture_start();
	log_note("one %d", 1);
	log_warn("two");
	log_error("three");
	capture_end(text, sizeof(text));
	assert_string_equal(text, "racewatch: note: one 1\n"
				  "racewatch: warning: two\n"
				  "racewatch: error: three\n");
}

static void a_status_line_is_wiped_once(void **state)
{
	char text[4096];

	(void)state;
	capture_start();
	log_stands_on_line(true);
	log_warn("one");
	log_warn("two");
	log_stands_on_line(true);
	log_stands_on_line(false);
	log_warn("three");
	capture_end(text, sizeof(text));
	assert_string_equal(text, "\r\033[Kracewatch: warning: one\n"
				  "racewatch: warning: two\n"
				  "racewatch: warning: three\n");
}

static void long_messages_are_cut_and_still_end_in_a_newline(void **state)
{
	char text[8192], long_text[4000];

	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	capture_start();
	log_note("%s", long_text);
	capture_end(text, sizeof(text));
	assert_true(strlen(text) > 900);
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void debug_is_silent_until_its_domain_is_enabled(void **state)
{
	char text[4096];

	(void)state;
	assert_false(log_enable("target,nonsense"));
	assert_true(log_enable("watch,image"));
	assert_true(log_enabled(LOG_WATCH));
	assert_false(log_enabled(LOG_SYS));
	capture_start();
	log_debug(LOG_SYS, "unheard");
	log_debug(LOG_WATCH, "slot %d", 2);
	capture_end(text, sizeof(text));
	assert_null(strstr(text, "unheard"));
	assert_int_equal(strncmp(text, "racewatch[watch] ", 17), 0);
	assert_non_null(strstr(text, ": slot 2\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_one_marked_line),
		cmocka_unit_test(a_status_line_is_wiped_once),
		cmocka_unit_test(
			long_messages_are_cut_and_still_end_in_a_newline),
		cmocka_unit_test(debug_is_silent_until_its_domain_is_enabled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

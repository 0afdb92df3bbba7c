/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/status.c: what fits in the line, and when it is written at all. */
#include "report/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

static const struct status_counts sample = {
	.elapsed_ns = UINT64_C(9876543210),
	.stalls_per_s = 541.6,
	.sites_sampled = 61,
	.sites_seen = 1204,
	.overhead_pct = 2.13,
	.races = 1,
};

static void line_is(size_t width, const char *expected)
{
	char line[256];

	status_format(&sample, width, line, sizeof(line));
	assert_string_equal(line, expected);
	assert_true(strlen(line) <= width);
}

static void everything_fits_in_79_columns(void **state)
{
	(void)state;
	line_is(79, "racewatch: 9.8 s, 542 stalls/s, 61 of 1204 sites, "
		    "overhead 2.1 %, 1 race");
}

static void the_budget_is_told_with_what_was_spent(void **state)
{
	struct status_counts counts = sample;
	char line[256];

	(void)state;
	counts.budget_pct = 2.5;
	status_format(&counts, 40, line, sizeof(line));
	assert_string_equal(line, "racewatch: 9.8 s, 1 race");
	status_format(&counts, 81, line, sizeof(line));
	assert_string_equal(line, "racewatch: 9.8 s, 542 stalls/s, "
				  "61 of 1204 sites, overhead 2.1 of 2.5 %, "
				  "1 race");
}

static void narrow_terminals_lose_the_least_wanted_first(void **state)
{
	(void)state;
	line_is(71, "racewatch: 9.8 s, 61 of 1204 sites, overhead 2.1 %, "
		    "1 race");
	line_is(50, "racewatch: 9.8 s, overhead 2.1 %, 1 race");
	line_is(39, "racewatch: 9.8 s, 1 race");
	line_is(20, "1 race");
	line_is(5, "");
	line_is(0, "");
}

static void small_buffers_are_respected(void **state)
{
	char line[30];

	(void)state;
	memset(line, 'x', sizeof(line));
	status_format(&sample, 79, line, 26);
	assert_string_equal(line, "racewatch: 9.8 s, 1 race");
	assert_int_equal(line[26], 'x');
	status_format(&sample, 79, line, 1);
	assert_string_equal(line, "");
	status_format(&sample, 79, line, 0);
}

static void elapsed_is(uint64_t seconds, const char *expected)
{
	struct status_counts counts = {
		.elapsed_ns = seconds * CLOCK_NS_PER_S,
		.races = 2,
	};
	char line[256];

	status_format(&counts, 30, line, sizeof(line));
	assert_string_equal(line, expected);
}

static void long_runs_are_told_in_minutes_and_hours(void **state)
{
	(void)state;
	elapsed_is(59, "racewatch: 59.0 s, 2 races");
	elapsed_is(125, "racewatch: 2:05, 2 races");
	elapsed_is(3 * 3600 + 61, "racewatch: 3:01:01, 2 races");
}

static void files_and_pipes_stay_clean(void **state)
{
	struct status status;
	int ends[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	status_init(&status, ends[1]);
	status_show(&status, &sample);
	status_erase(&status);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
}

/* A terminal of that width: its two ends. */
static void open_terminal(int *ret_main, int *ret_terminal,
			  unsigned short columns)
{
	struct winsize size = { .ws_row = 24, .ws_col = columns };
	struct termios raw;
	char name[64];

	*ret_main = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(*ret_main >= 0);
	assert_int_equal(grantpt(*ret_main), 0);
	assert_int_equal(unlockpt(*ret_main), 0);
	assert_int_equal(ptsname_r(*ret_main, name, sizeof(name)), 0);
	*ret_terminal = open(name, O_RDWR | O_NOCTTY);
	assert_true(*ret_terminal >= 0);
	assert_int_equal(ioctl(*ret_terminal, TIOCSWINSZ, &size), 0);
	assert_int_equal(tcgetattr(*ret_terminal, &raw), 0);
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(*ret_terminal, TCSANOW, &raw), 0);
}

static void came_out(int fd, const char *expected)
{
	char text[256];
	size_t length = 0;

	/* the kernel passes on what was written piece by piece */
	while (length < strlen(expected)) {
		ssize_t n = read(fd, text + length, sizeof(text) - 1 - length);

		assert_true(n > 0);
		length += (size_t)n;
	}
	text[length] = '\0';
	assert_string_equal(text, expected);
}

static void terminals_get_one_line_that_erases_itself(void **state)
{
	struct status status;
	int main_end, terminal;

	(void)state;
	setenv("TERM", "xterm", 1);
	open_terminal(&main_end, &terminal, 40);
	status_init(&status, terminal);
	status_show(&status, &sample);
	came_out(main_end, "\rracewatch: 9.8 s, 1 race\033[K");
	status_erase(&status);
	came_out(main_end, "\r\033[K");
	/* there is nothing to erase now */
	status_erase(&status);
	assert_int_equal(write(terminal, "x", 1), 1);
	came_out(main_end, "x");
	close(terminal);
	close(main_end);
}

static void messages_wipe_it(void **state)
{
	int saved = dup(STDERR_FILENO);
	struct status status;
	int main_end, terminal;

	(void)state;
	setenv("TERM", "xterm", 1);
	open_terminal(&main_end, &terminal, 40);
	dup2(terminal, STDERR_FILENO);
	status_init(&status, STDERR_FILENO);
	status_show_text(&status, "3 runs");
	log_note("one");
	status_show_text(&status, "4 runs");
	status_erase(&status);
	log_note("two");
	dup2(saved, STDERR_FILENO);
	came_out(main_end, "\rracewatch: 3 runs\033[K"
			   "\r\033[Kracewatch: note: one\n"
			   "\rracewatch: 4 runs\033[K"
			   "\r\033[K"
			   "racewatch: note: two\n");
	close(saved);
	close(terminal);
	close(main_end);
}

static void a_text_is_told_whose_it_is(void **state)
{
	struct status status;
	int main_end, terminal;

	(void)state;
	setenv("TERM", "xterm", 1);
	open_terminal(&main_end, &terminal, 20);
	status_init(&status, terminal);
	status_show_text(&status, "3 runs");
	came_out(main_end, "\rracewatch: 3 runs\033[K");
	status_show_text(&status, "3 of 40 runs");
	came_out(main_end, "\rracewatch: 3 of 40 \033[K");
	close(terminal);
	close(main_end);
}

static void dumb_terminals_stay_clean(void **state)
{
	struct status status;
	int main_end, terminal;

	(void)state;
	setenv("TERM", "dumb", 1);
	open_terminal(&main_end, &terminal, 40);
	status_init(&status, terminal);
	status_show(&status, &sample);
	assert_int_equal(write(terminal, "x", 1), 1);
	came_out(main_end, "x");
	close(terminal);
	close(main_end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_fits_in_79_columns),
		cmocka_unit_test(the_budget_is_told_with_what_was_spent),
		cmocka_unit_test(narrow_terminals_lose_the_least_wanted_first),
		cmocka_unit_test(small_buffers_are_respected),
		cmocka_unit_test(long_runs_are_told_in_minutes_and_hours),
		cmocka_unit_test(files_and_pipes_stay_clean),
		cmocka_unit_test(terminals_get_one_line_that_erases_itself),
		cmocka_unit_test(messages_wipe_it),
		cmocka_unit_test(a_text_is_told_whose_it_is),
		cmocka_unit_test(dumb_terminals_stay_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

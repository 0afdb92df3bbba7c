/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/clock.c: durations people write, and dates people read. */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

static void durations_with_every_unit(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} cases[] = {
		{ "0", 0 },
		{ "2", 2 * CLOCK_NS_PER_S },
		{ "7ns", 7 },
		{ "200us", 200 * CLOCK_NS_PER_US },
		{ "1.5ms", 1500 * CLOCK_NS_PER_US },
		{ "10s", 10 * CLOCK_NS_PER_S },
		{ "0.25s", 250 * CLOCK_NS_PER_MS },
		{ "3m", 180 * CLOCK_NS_PER_S },
		{ "1min", 60 * CLOCK_NS_PER_S },
		{ "1h", 3600 * CLOCK_NS_PER_S },
		{ "1d", 86400 * CLOCK_NS_PER_S },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ns = UINT64_MAX;

		assert_null(clock_parse_duration(cases[i].text, &ns));
		assert_int_equal(ns, cases[i].ns);
	}
}

static void what_is_no_duration_is_refused(void **state)
{
	static const char *const cases[] = {
		"",    "s",   "-1s",  "+1s", "1 s", "1sx",	 "0x1",	 "1e3",
		"nan", "inf", "1.s.", "1ks", " 1s", "99999999d", "1us1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ns = 42;
		struct error *err = clock_parse_duration(cases[i], &ns);

		if (!err)
			fail_msg("'%s' was taken", cases[i]);
		assert_int_equal(err->kind, ERROR_USAGE);
		assert_int_equal(ns, 42);
		error_free(err);
	}
}

static void dates_are_rfc_3339(void **state)
{
	char out[CLOCK_RFC3339_SIZE];

	(void)state;
	clock_format_rfc3339(0, out);
	assert_string_equal(out, "1970-01-01T00:00:00.000000Z");
	clock_format_rfc3339(UINT64_C(1769862896789012345), out);
	assert_string_equal(out, "2026-01-31T12:34:56.789012Z");
}

static void elapsed_is(uint64_t ns, const char *wanted)
{
	char out[CLOCK_ELAPSED_SIZE];

	clock_format_elapsed(ns, out);
	assert_string_equal(out, wanted);
}

static void what_has_passed_is_rounded_down(void **state)
{
	(void)state;
	elapsed_is(0, "0.0 s");
	elapsed_is(9876 * CLOCK_NS_PER_MS, "9.8 s");
	elapsed_is(59960 * CLOCK_NS_PER_MS, "59.9 s");
	elapsed_is(60 * CLOCK_NS_PER_S, "1:00");
	elapsed_is(3600 * CLOCK_NS_PER_S - 1, "59:59");
	elapsed_is(7280 * CLOCK_NS_PER_S, "2:01:20");
	elapsed_is(UINT64_MAX, "5124095:34:33");
}

static void time_does_not_go_back(void **state)
{
	uint64_t last = clock_now_ns();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint64_t now = clock_now_ns();

		assert_true(now >= last);
		last = now;
	}
}

static void times_are_read_back(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} cases[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "1970-01-01T00:00:00.5Z", 500000000 },
		{ "1970-01-01T01:00:01+01:00", 1000000000 },
		{ "2026-01-31T12:34:56.789012Z",
		  UINT64_C(1769862896789012000) },
		{ "2026-01-31T11:04:56.7890123459-01:30",
		  UINT64_C(1769862896789012345) },
	};
	char text[CLOCK_RFC3339_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ns = UINT64_MAX;

		assert_true(clock_parse_rfc3339(cases[i].text, &ns));
		assert_int_equal(ns, cases[i].ns);
	}
	clock_format_rfc3339(cases[3].ns, text);
	assert_string_equal(text, cases[3].text);
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"2026-01-31",
		"2026-01-31T12:34:56",
		"2026-01-31 12:34:56Z",
		"2026-13-31T12:34:56Z",
		"2026-01-31T12:34:56.Zx",
		"2026-01-31T12:34:56+1:00",
		"2026-01-31T12:34:56+99:00",
		"2026-01-31T12:34:56+01:00 ",
		"1969-12-31T23:59:59Z",
		"9999-01-01T00:00:00Z",
		"0x26-01-31T12:34:56Z",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ns = 42;

		if (clock_parse_rfc3339(cases[i], &ns))
			fail_msg("%s", cases[i]);
		assert_int_equal(ns, 42);
	}
}

static void times_of_a_step_are_the_same_for_all(void **state)
{
	(void)state;
	assert_int_equal(clock_align(0, 100), 0);
	assert_int_equal(clock_align(199, 100), 100);
	assert_int_equal(clock_align(200, 100), 200);
	assert_int_equal(clock_align(UINT64_MAX, 1), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_with_every_unit),
		cmocka_unit_test(what_is_no_duration_is_refused),
		cmocka_unit_test(dates_are_rfc_3339),
		cmocka_unit_test(what_has_passed_is_rounded_down),
		cmocka_unit_test(time_does_not_go_back),
		cmocka_unit_test(times_are_read_back),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(times_of_a_step_are_the_same_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

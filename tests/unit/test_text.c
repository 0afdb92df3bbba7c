/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/text.c: folding, padding, and how numbers are written. */
#include "report/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/error.h"
#include "report/render.h"

/* The line as it is written at that width. */
static void folded_is(const char *line, int width, bool color,
		      const char *expected)
{
	struct renderer renderer = { .style = { .width = width,
						.color = color } };
	char *written = NULL;
	struct text text;
	size_t size = 0;

	renderer.out = open_memstream(&written, &size);
	assert_non_null(renderer.out);
	text = text_begin(&renderer);
	text_set_color(&text, TEXT_BOLD);
	strbuf_add(&text.line, line);
	text_reset_color(&text);
	text_end_line(&text, 2, 4);
	assert_null(text_end(&text));
	fclose(renderer.out);
	assert_string_equal(written, expected);
	free(written);
}

#define FORTY "1234567 9 1234567 9 1234567 9 12345678"

static void line_that_just_fits_is_not_folded(void **state)
{
	(void)state;
	folded_is(FORTY, 40, false, "  " FORTY "\n");
	folded_is(FORTY "9", 40, false,
		  "  1234567 9 1234567 9 1234567 9\n      123456789\n");
}

static void no_width_and_silly_widths_do_not_fold(void **state)
{
	(void)state;
	folded_is(FORTY FORTY, 0, false, "  " FORTY FORTY "\n");
	folded_is(FORTY FORTY, 39, false, "  " FORTY FORTY "\n");
}

static void words_are_not_cut(void **state)
{
	(void)state;
	folded_is("a123456789_123456789_123456789_123456789_123456789 b c", 40,
		  false,
		  "  a123456789_123456789_123456789_123456789_123456789\n"
		  "      b c\n");
}

static void colors_take_no_columns(void **state)
{
	(void)state;
	folded_is(FORTY, 40, true, "  \033[1m" FORTY "\033[0m\n");
}

static void padding_counts_characters(void **state)
{
	struct renderer renderer = { .out = stdout };
	struct text text = text_begin(&renderer);

	(void)state;
	strbuf_add(&text.line, "ab\xc3\xa9");
	text_pad(&text, 1, 4);
	assert_string_equal(strbuf_text(&text.line), "ab\xc3\xa9  ");
	text_pad(&text, 1, 2);
	assert_string_equal(strbuf_text(&text.line), "ab\xc3\xa9  ");
	assert_null(text_end(&text));
}

/* What `expression' appends to buf. */
#define APPENDS(expected, expression)                             \
	do {                                                      \
		struct strbuf buf = { 0 };                        \
		expression;                                       \
		assert_string_equal(strbuf_text(&buf), expected); \
		strbuf_deinit(&buf);                              \
	} while (0)

static void counts_are_grouped(void **state)
{
	(void)state;
	APPENDS("0", text_add_count(&buf, 0));
	APPENDS("999", text_add_count(&buf, 999));
	APPENDS("5 312", text_add_count(&buf, 5312));
	APPENDS("1 000 007", text_add_count(&buf, 1000007));
	APPENDS("18 446 744 073 709 551 615", text_add_count(&buf, UINT64_MAX));
	APPENDS("1 race", text_add_plural(&buf, 1, "race"));
	APPENDS("0 races", text_add_plural(&buf, 0, "race"));
}

static void times_have_a_fitting_unit(void **state)
{
	(void)state;
	APPENDS("0 us", text_add_time(&buf, 0));
	APPENDS("35 us", text_add_time(&buf, 35000));
	APPENDS("0.1 ms", text_add_time(&buf, 100000));
	APPENDS("12.3 ms", text_add_time(&buf, 12345678));
	APPENDS("2.0 s", text_add_time(&buf, 2000000000));
}

static void names_lose_their_directories_and_controls(void **state)
{
	(void)state;
	APPENDS("cache.c:11", text_add_place(&buf, "/home/src/cache.c", 11));
	APPENDS("cache.c", text_add_place(&buf, "cache.c", 0));
	APPENDS("cache+0x1179",
		text_add_offset(&buf, "/usr/bin/cache", 0x1179));
	APPENDS("0x1179", text_add_offset(&buf, NULL, 0x1179));
	APPENDS(" \"a\\x1bb\"", text_add_quoted(&buf, "a\033b"));
	APPENDS("", text_add_quoted(&buf, NULL));
	APPENDS(" (why)", text_add_bracketed(&buf, "why"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_that_just_fits_is_not_folded),
		cmocka_unit_test(no_width_and_silly_widths_do_not_fold),
		cmocka_unit_test(words_are_not_cut),
		cmocka_unit_test(colors_take_no_columns),
		cmocka_unit_test(padding_counts_characters),
		cmocka_unit_test(counts_are_grouped),
		cmocka_unit_test(times_have_a_fitting_unit),
		cmocka_unit_test(names_lose_their_directories_and_controls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

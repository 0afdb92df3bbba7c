/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/utf8.c: foreign bytes for JSON and for terminals. */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define REPLACEMENT "\xef\xbf\xbd"

static void well_formed_characters_have_their_length(void **state)
{
	(void)state;
	assert_int_equal(utf8_length("a"), 1);
	assert_int_equal(utf8_length("\xc3\xa9"), 2);
	assert_int_equal(utf8_length("\xe2\x82\xac"), 3);
	assert_int_equal(utf8_length("\xf0\x9f\x98\x80"), 4);
	assert_int_equal(utf8_length("\xf4\x8f\xbf\xbf"), 4);
}

static void what_is_not_a_character_has_none(void **state)
{
	static const char *const cases[] = {
		"", /* the end */
		"\x80", /* a continuation */
		"\xc3",
		"\xe2\x82",
		"\xf0\x9f\x98", /* cut short */
		"\xc0\x80",
		"\xe0\x80\xaf",
		"\xf0\x80\x80\x80", /* overlong */
		"\xed\xa0\x80", /* a surrogate */
		"\xf4\x90\x80\x80",
		"\xff", /* beyond Unicode */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (utf8_length(cases[i]) != 0)
			fail_msg("case %zu", i);
	}
}

static void added_as(void (*add)(struct strbuf *, const char *),
		     const char *text, const char *expected)
{
	struct strbuf buf = { 0 };

	add(&buf, text);
	assert_string_equal(strbuf_text(&buf), expected);
	strbuf_deinit(&buf);
}

static void bad_bytes_are_replaced_for_json(void **state)
{
	(void)state;
	added_as(utf8_add, "plain \xc3\xa9\n", "plain \xc3\xa9\n");
	added_as(utf8_add, "a\xff\xc3", "a" REPLACEMENT REPLACEMENT);
	added_as(utf8_add, "\xe2\x82z", REPLACEMENT REPLACEMENT "z");
}

static void controls_are_spelled_out_for_terminals(void **state)
{
	(void)state;
	added_as(utf8_add_visible, "plain \xc3\xa9", "plain \xc3\xa9");
	added_as(utf8_add_visible, "\033[2J\x7f\n", "\\x1b[2J\\x7f\\x0a");
	added_as(utf8_add_visible, "\xff", "\\xff");
	/* U+009B, which is ESC [ to some terminals, and U+00A0, which is not */
	added_as(utf8_add_visible, "\xc2\x9b", "\\xc2\\x9b");
	added_as(utf8_add_visible, "\xc2\xa0", "\xc2\xa0");
}

static void columns_are_characters_less_colors(void **state)
{
	(void)state;
	assert_int_equal(utf8_columns("", SIZE_MAX), 0);
	assert_int_equal(utf8_columns("a\xc3\xa9\xe2\x82\xac", SIZE_MAX), 3);
	assert_int_equal(utf8_columns("\033[1;31mred\033[0m", SIZE_MAX), 3);
	assert_int_equal(utf8_columns("\033[1", SIZE_MAX), 0);
	assert_int_equal(utf8_columns("abcdef", 4), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(well_formed_characters_have_their_length),
		cmocka_unit_test(what_is_not_a_character_has_none),
		cmocka_unit_test(bad_bytes_are_replaced_for_json),
		cmocka_unit_test(controls_are_spelled_out_for_terminals),
		cmocka_unit_test(columns_are_characters_less_colors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/strbuf.c: appending, growth, handing the text over. */
#include "base/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static void empty_reads_as_empty_string(void **state)
{
	struct strbuf buf = { 0 };

	(void)state;
	assert_string_equal(strbuf_text(&buf), "");
	strbuf_deinit(&buf);
}

static void appends_join_in_order(void **state)
{
	struct strbuf buf = { 0 };

	(void)state;
	strbuf_add(&buf, "one ");
	strbuf_addf(&buf, "%d %s", 2, "three");
	strbuf_add_bytes(&buf, " four and more", 5);
	assert_string_equal(strbuf_text(&buf), "one 2 three four");
	assert_int_equal(buf.length, strlen("one 2 three four"));
	assert_false(buf.failed);
	strbuf_deinit(&buf);
}

static void formats_longer_than_the_room_are_whole(void **state)
{
	struct strbuf buf = { 0 };
	char expected[5001];

	(void)state;
	memset(expected, 'x', 5000);
	expected[5000] = '\0';
	for (int i = 0; i < 5; i++)
		strbuf_addf(&buf, "%.*s", 1000, expected);
	assert_string_equal(strbuf_text(&buf), expected);
	strbuf_deinit(&buf);
}

static void bytes_become_digits(void **state)
{
	struct strbuf buf = { 0 };

	(void)state;
	strbuf_add(&buf, "0x");
	strbuf_add_hex(&buf, "\x00\x9f\xa0\xff", 4);
	assert_string_equal(strbuf_text(&buf), "0x009fa0ff");
	strbuf_add_hex(&buf, "", 0);
	assert_int_equal(buf.length, 10);
	strbuf_deinit(&buf);
}

static void clear_starts_again(void **state)
{
	struct strbuf buf = { 0 };

	(void)state;
	strbuf_add(&buf, "old");
	strbuf_clear(&buf);
	assert_string_equal(strbuf_text(&buf), "");
	strbuf_add(&buf, "new");
	assert_string_equal(strbuf_text(&buf), "new");
	strbuf_deinit(&buf);
}

static void steal_hands_the_text_over(void **state)
{
	struct strbuf buf = { 0 };
	char *text;

	(void)state;
	strbuf_add(&buf, "mine");
	text = strbuf_steal(&buf);
	assert_string_equal(text, "mine");
	assert_string_equal(strbuf_text(&buf), "");
	free(text);
	strbuf_deinit(&buf);
}

static void steal_of_nothing_is_an_empty_string(void **state)
{
	struct strbuf buf = { 0 };
	char *text = strbuf_steal(&buf);

	(void)state;
	assert_non_null(text);
	assert_string_equal(text, "");
	free(text);
}

static void failure_is_remembered_until_the_end(void **state)
{
	struct strbuf buf = { 0 };
	volatile size_t too_much = SIZE_MAX - 8;
	char *text;

	(void)state;
	strbuf_add(&buf, "before");
	strbuf_add_bytes(&buf, "x", too_much);
	assert_true(buf.failed);
	strbuf_add(&buf, " after");
	assert_string_equal(strbuf_text(&buf), "before");
	assert_null(strbuf_steal(&buf));
	strbuf_add(&buf, "again");
	text = strbuf_steal(&buf);
	assert_string_equal(text, "again");
	free(text);
}

static void truncate_cuts_and_never_extends(void **state)
{
	struct strbuf buf = { 0 };

	(void)state;
	strbuf_truncate(&buf, 0);
	assert_string_equal(strbuf_text(&buf), "");
	strbuf_add(&buf, "shards.used");
	strbuf_truncate(&buf, 20);
	assert_string_equal(strbuf_text(&buf), "shards.used");
	strbuf_truncate(&buf, 6);
	assert_string_equal(strbuf_text(&buf), "shards");
	strbuf_add(&buf, "[1]");
	assert_string_equal(strbuf_text(&buf), "shards[1]");
	strbuf_deinit(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_reads_as_empty_string),
		cmocka_unit_test(appends_join_in_order),
		cmocka_unit_test(formats_longer_than_the_room_are_whole),
		cmocka_unit_test(bytes_become_digits),
		cmocka_unit_test(clear_starts_again),
		cmocka_unit_test(steal_hands_the_text_over),
		cmocka_unit_test(steal_of_nothing_is_an_empty_string),
		cmocka_unit_test(failure_is_remembered_until_the_end),
		cmocka_unit_test(truncate_cuts_and_never_extends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

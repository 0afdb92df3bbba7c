/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/judge/wildcard.c: which texts a suppression's pattern matches. */
#include "judge/wildcard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MATCHES(pattern, text) assert_true(wildcard_matches(pattern, text))
#define DIFFERS(pattern, text) assert_false(wildcard_matches(pattern, text))

static void a_plain_pattern_matches_anywhere(void **state)
{
	(void)state;
	MATCHES("add", "shard_add");
	MATCHES("shard", "shard_add");
	MATCHES("src/cache.c", "/home/src/cache.c");
	DIFFERS("Add", "shard_add");
	DIFFERS("shard_adds", "shard_add");
}

static void marks_tie_it_to_the_ends(void **state)
{
	(void)state;
	MATCHES("^shard", "shard_add");
	DIFFERS("^add", "shard_add");
	MATCHES("add$", "shard_add");
	DIFFERS("shard$", "shard_add");
	MATCHES("^shard_add$", "shard_add");
	DIFFERS("^shard_add$", "shard_add2");
	DIFFERS("^shard_add$", "my_shard_add");
	/* the first occurrence is not at the end, the last one is */
	MATCHES("a$", "banana");
	/* ... what comes after the end mark is nothing */
	MATCHES("add$xyz", "shard_add");
}

static void asterisks_stand_for_anything(void **state)
{
	(void)state;
	MATCHES("*", "x");
	MATCHES("^s*d$", "shard_add");
	MATCHES("s*a*a*d", "shard_add");
	DIFFERS("^s*x$", "shard_add");
	MATCHES("foo**bar", "foobar");
	MATCHES("lib*.so*", "/usr/lib/libcache.so.1");
	MATCHES("^foo*$", "foobar");
	/* it may not overlap what was matched before it */
	DIFFERS("^aba*ba$", "aba");
	MATCHES("^aba*ba$", "ababa");
	MATCHES("operator*(long)", "Ptr::operator*(long)");
}

static void what_is_not_known_matches_nothing(void **state)
{
	(void)state;
	DIFFERS("*", NULL);
	DIFFERS("*", "");
	DIFFERS("", "");
}

static void patterns_without_a_word_are_told(void **state)
{
	(void)state;
	assert_true(wildcard_says_something("*"));
	assert_true(wildcard_says_something("^a"));
	assert_false(wildcard_says_something(""));
	assert_false(wildcard_says_something("^"));
	assert_false(wildcard_says_something("$"));
	assert_false(wildcard_says_something("^$"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_pattern_matches_anywhere),
		cmocka_unit_test(marks_tie_it_to_the_ends),
		cmocka_unit_test(asterisks_stand_for_anything),
		cmocka_unit_test(what_is_not_known_matches_nothing),
		cmocka_unit_test(patterns_without_a_word_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

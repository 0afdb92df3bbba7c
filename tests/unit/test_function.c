/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/foreign/function.c: names of functions as racewatch has them. */
#include "foreign/function.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "foreign/scan.h"

static void is(const char *text, const char *expected)
{
	struct scan scan = scan_of(text);
	char *name = function_name(&scan);

	assert_non_null(name);
	assert_string_equal(name, expected);
	free(name);
}

static void names_of_c_stay(void **state)
{
	(void)state;
	is("shard_add", "shard_add");
	is("pthread_create@@GLIBC_2.34", "pthread_create@@GLIBC_2.34");
	is("", "");
}

static void mangled_names_are_taken_apart(void **state)
{
	(void)state;
	is("_ZN5cache3putEi", "cache::put");
	is("_ZN4jobs5queue3put17h0123456789abcdefE", "jobs::queue::put");
}

static void parameters_and_qualifiers_are_dropped(void **state)
{
	(void)state;
	is("cache::put(int)", "cache::put");
	is("cache::size() const", "cache::size");
	is("each(void (*)(int), std::function<void (int)>)", "each");
	is("main::{lambda()#1}::operator()() const",
	   "main::{lambda()#1}::operator()");
	is("main::$_1::operator()(int) const", "main::$_1::operator()");
	is("operator()", "operator()");
	is("(anonymous namespace)::put(int)", "(anonymous namespace)::put");
}

static void return_types_are_dropped(void **state)
{
	(void)state;
	is("void queue<int>::put<int const&>(int const&)",
	   "queue<int>::put<int const&>");
	is("std::vector<int, std::allocator<int> >::size() const",
	   "std::vector<int, std::allocator<int> >::size");
	is("operator new(unsigned long)", "operator new");
	is("operator delete[](void*)", "operator delete[]");
}

static void copies_and_hashes_are_dropped(void **state)
{
	(void)state;
	is("shard_add.constprop.0", "shard_add");
	is("shard_add.isra.0.cold", "shard_add");
	is("shard_add(int) [clone .part.1]", "shard_add");
	is("jobs::put::h0123456789abcdef", "jobs::put");
	is("jobs::h0123", "jobs::h0123");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_c_stay),
		cmocka_unit_test(mangled_names_are_taken_apart),
		cmocka_unit_test(parameters_and_qualifiers_are_dropped),
		cmocka_unit_test(return_types_are_dropped),
		cmocka_unit_test(copies_and_hashes_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

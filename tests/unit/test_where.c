/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sampling/where.c: what --at takes, what it refuses, and which names of
 * files, functions and modules it means.
 */
#include "sampling/where.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "x86/access.h"

static struct where parsed(const char *text)
{
	struct where where;
	struct error *err = where_parse(text, &where);

	if (err)
		fail_msg("%s: %s", text, error_message(err));
	return where;
}

static void expect(const char *text, enum where_kind kind, const char *name,
		   uint64_t number, uint8_t access)
{
	struct where where = parsed(text);

	assert_int_equal(where.kind, kind);
	assert_string_equal(where.name, name);
	if (kind == WHERE_LINE)
		assert_int_equal(where.line, number);
	if (kind == WHERE_OFFSET)
		assert_int_equal(where.offset, number);
	assert_int_equal(where.access, access);
	assert_ptr_equal(where.text, text);
	where_deinit(&where);
}

static void lines_functions_and_offsets_are_told_apart(void **state)
{
	(void)state;
	expect("cache.c:84", WHERE_LINE, "cache.c", 84, 0);
	expect("src/cache.c:84:write", WHERE_LINE, "src/cache.c", 84,
	       ACCESS_WRITE);
	expect("/x/a b.c:1:rmw", WHERE_LINE, "/x/a b.c", 1, ACCESS_RMW);
	expect("put", WHERE_FUNCTION, "put", 0, 0);
	expect("put:read", WHERE_FUNCTION, "put", 0, ACCESS_READ);
	expect("ns::Shard::read", WHERE_FUNCTION, "ns::Shard::read", 0, 0);
	expect("Shard::add(int, char)", WHERE_FUNCTION, "Shard::add", 0, 0);
	expect("F::operator()(int)", WHERE_FUNCTION, "F::operator()", 0, 0);
	expect("operator+", WHERE_FUNCTION, "operator+", 0, 0);
	expect("shard_*", WHERE_FUNCTION, "shard_*", 0, 0);
	expect("libc.so.6+0x1f", WHERE_OFFSET, "libc.so.6", 0x1f, 0);
	expect("libstdc++.so.6+0xAB:write", WHERE_OFFSET, "libstdc++.so.6",
	       0xab, ACCESS_WRITE);
	expect("+0x1179", WHERE_OFFSET, "", 0x1179, 0);
}

static void what_says_no_place_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		":read",
		"cache.c:",
		"cache.c:x",
		"cache.c:0",
		"cache.c:-1",
		"cache.c:84x",
		":84",
		"src/:84",
		"84",
		"0x1179",
		"libx.so+12",
		"libx.so+0x",
		"libx.so+0x1g",
		"cache.c:99999999999999999999",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct where where;
		struct error *err = where_parse(wrong[i], &where);

		if (!err)
			fail_msg("%s was taken", wrong[i]);
		assert_int_equal(err->kind, ERROR_USAGE);
		error_free(err);
	}
}

static bool is_file(const char *text, const char *path)
{
	struct where where = parsed(text);
	bool is = where_is_file(&where, path);

	where_deinit(&where);
	return is;
}

static void a_file_is_meant_by_the_last_parts_of_its_path(void **state)
{
	(void)state;
	assert_true(is_file("cache.c:1", "cache.c"));
	assert_true(is_file("cache.c:1", "/src/store/cache.c"));
	assert_true(is_file("./cache.c:1", "/src/store/cache.c"));
	assert_true(is_file("store/cache.c:1", "/src/store/cache.c"));
	assert_true(is_file("/src/cache.c:1", "/src/cache.c"));
	assert_false(is_file("cache.c:1", "/src/mycache.c"));
	assert_false(is_file("re/cache.c:1", "/src/store/cache.c"));
	assert_false(is_file("cache.c:1", "/src/cache.cc"));
	assert_false(is_file("/src/cache.c:1", "/other/src/cache.cc"));
}

static bool is_function(const char *text, const char *linkage, const char *name)
{
	struct where where = parsed(text);
	bool is = where_is_function(&where, linkage, name);

	where_deinit(&where);
	return is;
}

static void a_function_is_meant_by_the_last_parts_of_its_name(void **state)
{
	(void)state;
	assert_true(is_function("put", "put", NULL));
	assert_true(is_function("put", NULL, "put"));
	assert_false(is_function("put", "input", NULL));
	assert_false(is_function("put", "put_all", NULL));
	/* cache::Shard::put(int) */
	assert_true(is_function("put", "_ZN5cache5Shard3putEi", NULL));
	assert_true(is_function("Shard::put", "_ZN5cache5Shard3putEi", NULL));
	assert_true(is_function("cache::Shard::put", "_ZN5cache5Shard3putEi",
				NULL));
	assert_true(is_function("_ZN5cache5Shard3putEi",
				"_ZN5cache5Shard3putEi", NULL));
	assert_false(is_function("ard::put", "_ZN5cache5Shard3putEi", NULL));
	assert_false(is_function("cache::put", "_ZN5cache5Shard3putEi", NULL));
	assert_false(is_function("Shard", "_ZN5cache5Shard3putEi", NULL));
}

static void template_arguments_may_be_left_out(void **state)
{
	(void)state;
	assert_true(is_function("box::get", NULL, "ns::box<a::b<int> >::get"));
	assert_true(is_function("get", NULL, "ns::box<int>::get<x>"));
	assert_true(is_function("get<x>", NULL, "ns::box<int>::get<x>"));
	assert_false(is_function("x", NULL, "ns::box<int>::get<x>"));
	assert_true(is_function("operator<", NULL, "ns::box<int>::operator<"));
	assert_true(is_function("box::operator->", NULL,
				"ns::box<int>::operator->"));
	assert_false(is_function("operator<", NULL, "ns::operator<<"));
}

static void clones_of_the_compiler_are_the_function(void **state)
{
	(void)state;
	assert_true(is_function("put", "put.part.0", NULL));
	assert_true(is_function("put", "put.cold", NULL));
	assert_true(is_function("put.cold", "put.cold", NULL));
	assert_false(is_function("put.cold", "put", NULL));
	assert_true(is_function("main.worker", "main.worker", NULL));
}

static void patterns_are_for_whole_names(void **state)
{
	(void)state;
	assert_true(is_function("put_*", "put_all", NULL));
	assert_false(is_function("put_*", "input_all", NULL));
	assert_true(is_function("*::put", "_ZN5cache5Shard3putEi", NULL));
	assert_true(is_function("ca?he::*", "_ZN5cache5Shard3putEi", NULL));
}

static void a_module_is_meant_by_path_or_soname(void **state)
{
	struct where lib = parsed("libstore.so.1+0x1"), own = parsed("+0x1");

	(void)state;
	assert_true(where_is_module(&lib, "/usr/lib/libstore.so.1", NULL, 0));
	assert_true(where_is_module(&lib, "/usr/lib/libstore.so.1.4",
				    "libstore.so.1", 0));
	assert_false(
		where_is_module(&lib, "/usr/lib/mylibstore.so.1", NULL, 1));
	assert_true(where_is_module(&own, "/usr/bin/x", NULL, true));
	assert_false(where_is_module(&own, "/usr/bin/x", NULL, false));
	where_deinit(&lib);
	where_deinit(&own);
}

static void reads_and_writes_are_met_by_what_does_both(void **state)
{
	static const struct {
		const char *text;
		bool read, write, rmw;
	} cases[] = {
		{ "f", true, true, true },
		{ "f:read", true, false, true },
		{ "f:write", false, true, true },
		{ "f:rmw", false, false, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct where where = parsed(cases[i].text);

		assert_int_equal(where_is_access(&where, ACCESS_READ),
				 cases[i].read);
		assert_int_equal(where_is_access(&where, ACCESS_WRITE),
				 cases[i].write);
		assert_int_equal(where_is_access(&where, ACCESS_RMW),
				 cases[i].rmw);
		where_deinit(&where);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_functions_and_offsets_are_told_apart),
		cmocka_unit_test(what_says_no_place_is_refused),
		cmocka_unit_test(a_file_is_meant_by_the_last_parts_of_its_path),
		cmocka_unit_test(
			a_function_is_meant_by_the_last_parts_of_its_name),
		cmocka_unit_test(template_arguments_may_be_left_out),
		cmocka_unit_test(clones_of_the_compiler_are_the_function),
		cmocka_unit_test(patterns_are_for_whole_names),
		cmocka_unit_test(a_module_is_meant_by_path_or_soname),
		cmocka_unit_test(reads_and_writes_are_met_by_what_does_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

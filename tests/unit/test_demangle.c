/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/demangle.c: the languages, and what is left alone. */
#include "base/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void becomes(const char *symbol, const char *expected)
{
	char *name = demangle(symbol);

	assert_non_null(name);
	assert_string_equal(name, expected);
	free(name);
}

static void cxx_names_come_without_parameters(void **state)
{
	(void)state;
	becomes("_ZN5cache3putEi", "cache::put");
	becomes("_Z4swapIiEvRT_S1_", "swap<int>");
	becomes("_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f");
	becomes("_ZZ3foovE1x", "foo()::x");
}

static void rust_names_in_both_manglings(void **state)
{
	(void)state;
	becomes("_ZN4core3ptr13drop_in_place17h0123456789abcdefE",
		"core::ptr::drop_in_place");
	becomes("_RNvC7example4main", "example::main");
}

static void d_names(void **state)
{
	(void)state;
	becomes("_D3std5stdio4File5closeMFZv", "std.stdio.File.close()");
	becomes("_Dmain", "D main");
}

static void plain_names_are_none(void **state)
{
	static const char *const names[] = {
		"",   "main",	"_start", "_Z",	  "_ZZZZ",    "_R",
		"_D", "_D3std", "Z3foov", "_Dxy", "foo.cold",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *name = demangle(names[i]);

		if (name)
			fail_msg("%s became %s", names[i], name);
	}
}

/* Pointers to pointers ...: each character of the symbol is a level. */
static void deep_names_do_not_exhaust_the_stack(void **state)
{
	enum { LENGTH = 1 << 20 };
	char *symbol = malloc(LENGTH + 1);

	(void)state;
	assert_non_null(symbol);
	memset(symbol, 'P', LENGTH);
	memcpy(symbol, "_Z1f", 4);
	symbol[LENGTH - 1] = 'i';
	symbol[LENGTH] = '\0';
	assert_null(demangle(symbol));
	free(symbol);
}

/* Each level is two of the one before: 2^LEVELS bytes and more of text. */
static void names_that_double_are_bounded(void **state)
{
	enum { LEVELS = 16 };
	static const char digits[] = "0123456789ABCDEFG";
	char symbol[512] = "_Z1fI1pIiiE";
	size_t length = strlen(symbol);

	(void)state;
	for (int level = 1; level <= LEVELS; level++)
		length += (size_t)snprintf(symbol + length,
					   sizeof(symbol) - length,
					   "S0_IS%c_S%c_E", digits[level],
					   digits[level]);
	snprintf(symbol + length, sizeof(symbol) - length, "Evv");
	assert_null(demangle(symbol));
	/* a name, with one level */
	becomes("_Z1fI1pIiiES0_IS1_S1_EEvv",
		"f<p<int, int>, p<p<int, int>, p<int, int> > >");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cxx_names_come_without_parameters),
		cmocka_unit_test(rust_names_in_both_manglings),
		cmocka_unit_test(d_names),
		cmocka_unit_test(plain_names_are_none),
		cmocka_unit_test(deep_names_do_not_exhaust_the_stack),
		cmocka_unit_test(names_that_double_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/variants.c: tunables of glibc beside those that the user has set. */
#include "hunt/variants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

/* glibc takes the last one of a name: each has to be there once. */
static size_t count(const char *text, const char *name)
{
	size_t found = 0;

	for (; (text = strstr(text, name)); text++)
		found++;
	return found;
}

static void is_whole(const char *text)
{
	assert_non_null(text);
	assert_int_equal(count(text, "glibc.cpu.hwcaps="), 1);
	assert_int_equal(count(text, "glibc.cpu.x86_non_temporal_threshold="),
			 1);
	assert_int_equal(count(text, ",-AVX2,"), 1);
	assert_int_equal(count(text, ",-ERMS,"), 1);
	assert_int_equal(count(text, "::"), 0);
	assert_int_not_equal(text[strlen(text) - 1], ':');
}

static void without_others(void **state)
{
	char *text = variants_tunables(NULL), *same = variants_tunables("");

	(void)state;
	is_whole(text);
	assert_string_equal(text, same);
	free(text);
	free(same);
}

static void the_users_are_kept(void **state)
{
	char *text = variants_tunables("glibc.malloc.check=3:"
				       "glibc.cpu.hwcaps=-XSAVEC:"
				       "glibc.malloc.perturb=1");

	(void)state;
	is_whole(text);
	assert_int_equal(count(text, "glibc.malloc.check=3:"), 1);
	assert_int_equal(count(text, "glibc.cpu.hwcaps=-XSAVEC,-SSE3,"), 1);
	assert_int_equal(count(text, ":glibc.malloc.perturb=1:"), 1);
	free(text);
	text = variants_tunables("glibc.cpu.x86_non_temporal_threshold=0x5000");
	is_whole(text);
	assert_int_equal(count(text, "threshold=0x5000:"), 1);
	free(text);
}

static void they_are_in_the_environment(void **state)
{
	struct error *err;

	(void)state;
	setenv("GLIBC_TUNABLES", "glibc.malloc.check=3", 1);
	err = variants_choose();
	assert_null(err);
	is_whole(getenv("GLIBC_TUNABLES"));
	assert_int_equal(count(getenv("GLIBC_TUNABLES"), "check=3:"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_others),
		cmocka_unit_test(the_users_are_kept),
		cmocka_unit_test(they_are_in_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

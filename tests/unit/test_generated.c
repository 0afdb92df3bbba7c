/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/session/generated.c: which mappings hold generated code. That the time in
 * it is measured, tests/run/silence.sh tests.
 */
#include "session/generated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "image/maps.h"

static bool is_code(const char *line)
{
	struct maps maps;
	bool is;

	maps_init(&maps);
	assert_null(maps_parse("maps", line, strlen(line), &maps));
	assert_int_equal(maps.entries.count, 1);
	is = generated_is_code(vec_at(&maps.entries, 0));
	maps_deinit(&maps);
	return is;
}

static void anonymous_executable_memory_is(void **state)
{
	(void)state;
	assert_true(is_code("1000-2000 rwxp 00000000 00:00 0\n"));
	assert_true(is_code("1000-2000 r-xp 00000000 00:00 0 [anon:v8]\n"));
	assert_true(is_code("1000-2000 rwxp 00000000 00:00 0 [heap]\n"));
	assert_true(is_code("1000-2000 r-xs 00000000 00:01 17 "
			    "/memfd:doublemapper (deleted)\n"));
}

static void files_data_and_the_kernels_own_are_not(void **state)
{
	(void)state;
	assert_false(is_code("1000-2000 rw-p 00000000 00:00 0\n"));
	assert_false(is_code("1000-2000 r-xp 00000000 08:01 12 /bin/x\n"));
	assert_false(is_code("1000-2000 r-xp 00000000 00:00 0 [vdso]\n"));
	assert_false(is_code("1000-2000 --xp 00000000 00:00 0 [vsyscall]\n"));
	assert_false(is_code("1000-2000 --xp 00000000 00:00 0 [uprobes]\n"));
	assert_false(is_code("1000-2000 rw-p 00000000 00:00 0 [heap]\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anonymous_executable_memory_is),
		cmocka_unit_test(files_data_and_the_kernels_own_are_not),
	};

	return cmocka_run_group_tests_name("generated", tests, NULL, NULL);
}

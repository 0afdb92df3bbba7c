/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/sampling/coverage.c: sites by module. */
#include "sampling/coverage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void entry_is(const struct vec *list, size_t i, const char *path,
		     uint64_t known, uint64_t sampled)
{
	const struct run_coverage *entry = vec_at(list, i);

	assert_string_equal(entry->path, path);
	assert_int_equal(entry->sites_eligible, known);
	assert_int_equal(entry->sites_sampled, sampled);
}

static void paths_are_summed(void **state)
{
	struct vec list = VEC_INIT(struct run_coverage);
	struct vec other = VEC_INIT(struct run_coverage);

	(void)state;
	assert_true(coverage_add(&list, "/bin/a", 10, 1));
	assert_true(coverage_add(&list, "/lib/b", 20, 2));
	assert_true(coverage_add(&list, "/bin/a", 5, 3));
	assert_true(coverage_add(&other, "/lib/c", 7, 7));
	assert_true(coverage_add(&other, "/lib/b", 1, 0));
	assert_true(coverage_add_all(&list, &other));
	assert_int_equal(list.count, 3);
	entry_is(&list, 0, "/bin/a", 15, 4);
	entry_is(&list, 1, "/lib/b", 21, 2);
	entry_is(&list, 2, "/lib/c", 7, 7);
	coverage_deinit(&list);
	coverage_deinit(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_summed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

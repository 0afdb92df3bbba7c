/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/sys/loader.c: what our own loader tells debuggers. */
#include "sys/loader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <link.h>

#include "base/error.h"
#include "sys/memory.h"

static void it_is_found(void **state)
{
	struct loader_debug debug = { 0 };
	struct memory memory;
	struct r_debug *own;
	struct error *err;

	(void)state;
	memory_init(&memory, getpid());
	err = loader_find(&memory, &debug);
	assert_null(err);
	/* its own, of which _r_debug may be a copy */
	own = (struct r_debug *)debug.address;
	assert_ptr_equal(own->r_map->l_ld, _DYNAMIC);
	assert_int_equal(debug.function, own->r_brk);
	assert_int_equal(loader_state(&memory, &debug), LOADER_AT_REST);
	own->r_state = RT_ADD;
	assert_int_equal(loader_state(&memory, &debug), LOADER_MAPS);
	own->r_state = RT_DELETE;
	assert_int_equal(loader_state(&memory, &debug), LOADER_UNMAPS);
	own->r_state = RT_CONSISTENT;
	assert_int_equal(loader_state(&memory, &debug), LOADER_AT_REST);
	memory_deinit(&memory);
}

static void a_process_that_has_gone_has_none(void **state)
{
	struct loader_debug debug = { 1, 2 };
	struct memory memory;
	struct error *err;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	memory_init(&memory, pid);
	err = loader_find(&memory, &debug);
	assert_non_null(err);
	error_free(err);
	assert_int_equal(debug.address, 1);
	debug.address = 8;
	assert_int_equal(loader_state(&memory, &debug), LOADER_AT_REST);
	memory_deinit(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_found),
		cmocka_unit_test(a_process_that_has_gone_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

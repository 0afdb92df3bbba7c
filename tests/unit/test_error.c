/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/error.c: messages, wrapping, the sentinels. */
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

static void create_formats_the_message(void **state)
{
	struct error *err = error_create(ERROR_FORMAT, "line %d", 3);

	(void)state;
	assert_int_equal(err->kind, ERROR_FORMAT);
	assert_int_equal(err->code, 0);
	assert_string_equal(error_message(err), "line 3");
	error_free(err);
}

static void os_errors_carry_the_code_and_its_text(void **state)
{
	struct error *err = error_os(ENOENT, "open %s", "x");

	(void)state;
	assert_int_equal(err->code, ENOENT);
	assert_string_equal(error_message(err),
			    "open x: No such file or directory");
	error_free(err);
}

static void vanished_tracee_is_the_sentinel(void **state)
{
	(void)state;
	assert_ptr_equal(error_os(ESRCH, "resume"), error_gone);
	assert_int_equal(error_gone->kind, ERROR_GONE);
}

static void no_memory_is_the_sentinel(void **state)
{
	(void)state;
	assert_ptr_equal(error_os(ENOMEM, "map"), error_nomem);
	assert_int_equal(error_nomem->kind, ERROR_NOMEM);
}

static void wrap_puts_the_context_first(void **state)
{
	struct error *err = error_os(EIO, "write text");

	(void)state;
	err = error_wrap(err, "arm site 0x%x", 0x1179);
	assert_int_equal(err->code, EIO);
	assert_string_equal(error_message(err),
			    "arm site 0x1179: write text: Input/output error");
	error_free(err);
}

static void wrap_leaves_success_and_sentinels_alone(void **state)
{
	(void)state;
	assert_null(error_wrap(NULL, "context"));
	assert_ptr_equal(error_wrap(error_gone, "context"), error_gone);
	assert_ptr_equal(error_wrap(error_nomem, "context"), error_nomem);
}

static void catch_takes_only_its_kind(void **state)
{
	struct error *err = error_create(ERROR_REFUSED, "no");

	(void)state;
	assert_false(error_catch(NULL, ERROR_OTHER));
	assert_false(error_catch(err, ERROR_FORMAT));
	assert_string_equal(error_message(err), "no");
	assert_true(error_catch(err, ERROR_REFUSED));
	assert_true(error_catch(error_gone, ERROR_GONE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(create_formats_the_message),
		cmocka_unit_test(os_errors_carry_the_code_and_its_text),
		cmocka_unit_test(vanished_tracee_is_the_sentinel),
		cmocka_unit_test(no_memory_is_the_sentinel),
		cmocka_unit_test(wrap_puts_the_context_first),
		cmocka_unit_test(wrap_leaves_success_and_sentinels_alone),
		cmocka_unit_test(catch_takes_only_its_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

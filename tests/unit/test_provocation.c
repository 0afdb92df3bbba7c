/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/provocation.c: the ends of runs, as text and as JSON. */
#include "report/provocation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "report/field.h"

static const struct provocation_end good = { .status = 0 };
static const struct provocation_end crash = { .signal = 11 };

static void sample(struct provocation *provocation)
{
	provocation_init(provocation);
	provocation->order = 1;
	provocation->times = 20;
	provocation->met = 3;
	assert_true(provocation_add_end(provocation, &good));
	assert_true(provocation_add_end(provocation, &crash));
	assert_true(provocation_add_end(provocation, &crash));
}

static void assert_said(const struct provocation *provocation,
			const char *wanted)
{
	struct strbuf line = { 0 };

	provocation_say(&line, provocation);
	assert_string_equal(strbuf_text(&line), wanted);
	strbuf_deinit(&line);
}

static void the_most_frequent_end_is_first(void **state)
{
	struct provocation provocation;

	(void)state;
	sample(&provocation);
	assert_said(&provocation, "order ba: 3 of 20 met, 2 SIGSEGV, 1 exit 0");
	provocation_deinit(&provocation);
}

static void ends_are_told_apart(void **state)
{
	const struct provocation_end seven = { .status = 7 };
	const struct provocation_end late = { .timed_out = true };
	const struct provocation_end alive = { .running = true };
	struct provocation provocation;

	(void)state;
	sample(&provocation);
	assert_true(provocation_add_end(&provocation, &seven));
	assert_true(provocation_add_end(&provocation, &late));
	assert_true(provocation_add_end(&provocation, &alive));
	assert_said(&provocation, "order ba: 3 of 20 met, 2 SIGSEGV, 1 exit 0, "
				  "1 exit 7, 1 timed out, 1 running on");
	provocation_deinit(&provocation);
}

static void another_instruction_is_said(void **state)
{
	struct provocation provocation;

	(void)state;
	sample(&provocation);
	provocation.met_other = 2;
	assert_said(&provocation,
		    "order ba: 3 of 20 met, 2 SIGSEGV, 1 exit 0 (2 with "
		    "another instruction than the reported one)");
	provocation_deinit(&provocation);
}

static void json_has_status_or_signal(void **state)
{
	struct provocation provocation;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	sample(&provocation);
	assert_null(fields_write(&provocation_fields, &provocation, out));
	fclose(out);
	assert_non_null(strstr(text, "\"type\":\"provoke\",\"schema\":1,"));
	assert_non_null(
		strstr(text, "\"order\":\"ba\",\"times\":20,\"met\":3"));
	assert_non_null(strstr(text, "{\"status\":null,\"signal\":11,"
				     "\"timed_out\":false,\"running\":false,"
				     "\"count\":2}"));
	assert_non_null(strstr(text, "{\"status\":0,\"signal\":null,"));
	free(text);
	provocation_deinit(&provocation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_most_frequent_end_is_first),
		cmocka_unit_test(ends_are_told_apart),
		cmocka_unit_test(another_instruction_is_said),
		cmocka_unit_test(json_has_status_or_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/sweep/unsampled.c: runs without a sample are counted by reason. */
#include "sweep/unsampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "report/object.h"
#include "sweep/journal.h"
#include "sweep/results.h"

struct fixture {
	struct plan plan;
	struct results results;
	struct vec groups;
};

static void begin(struct fixture *f)
{
	const struct plan_fixed nothing = { UINT64_MAX, UINT64_MAX, NULL };

	plan_init(&f->plan, &nothing, false);
	results_init(&f->results, &f->plan);
	f->groups = (struct vec)VEC_INIT(struct unsampled_group);
}

static void end(struct fixture *f)
{
	vec_deinit(&f->groups);
	results_deinit(&f->results);
}

/* text NULL: of a report that does not tell. */
static void take(struct fixture *f, uint64_t run, bool unsampled,
		 const char *reason, const char *text)
{
	struct journal_record record;

	journal_record_init(&record);
	record.type = JOURNAL_DONE;
	record.run = record.seed = run;
	record.outcome.unsampled = unsampled;
	record.findings.samples = unsampled ? 0 : 10;
	record.findings.unsampled_reason = reason ? strdup(reason) : NULL;
	record.findings.unsampled_text = text ? strdup(text) : NULL;
	assert_null(results_take(&f->results, &record));
	journal_record_deinit(&record);
}

static void text_is(struct fixture *f, const char *expected)
{
	struct strbuf text = { 0 };

	assert_null(unsampled_count(&f->results, &f->groups));
	unsampled_add_text(&text, &f->groups, f->results.finished);
	assert_string_equal(strbuf_text(&text), expected);
	strbuf_deinit(&text);
}

static void runs_with_samples_are_not_told(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	take(&f, 1, false, NULL, NULL);
	text_is(&f, "");
	end(&f);
}

static void one_reason_is_one_line(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	take(&f, 1, true, "one-thread", "one thread");
	take(&f, 2, true, "one-thread", "one thread");
	take(&f, 3, false, NULL, NULL);
	text_is(&f, "  2 of 3 runs took no sample of the program's own "
		    "modules: one thread\n");
	end(&f);
}

static void the_most_frequent_comes_first(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	take(&f, 4, true, "too-short", "it ended after 8 ms");
	take(&f, 1, true, "children", "2 children\x1b[31m");
	take(&f, 3, true, "too-short", "it ended after 9 ms");
	take(&f, 2, true, NULL, NULL);
	text_is(&f, "  2 of 4 runs took no sample of the program's own "
		    "modules: it ended after 9 ms (figures of run 3)\n"
		    "  1 of 4 runs took no sample of the program's own "
		    "modules: 2 children\\x1b[31m\n"
		    "  1 of 4 runs took no sample of the program's own "
		    "modules\n");
	end(&f);
}

static void the_json_has_the_same(void **state)
{
	struct object line = object_begin(NULL);
	struct fixture f;
	json_t *object;
	char *text;

	(void)state;
	begin(&f);
	take(&f, 2, true, "children", "2 children");
	take(&f, 3, true, NULL, NULL);
	take(&f, 4, true, NULL, NULL);
	assert_null(unsampled_count(&f.results, &f.groups));
	unsampled_put(&line, &f.groups);
	object = object_end(&line);
	text = json_dumps(object, JSON_COMPACT);
	assert_string_equal(text, "{\"unsampled\":[{\"reason\":null,"
				  "\"text\":null,\"runs\":2,\"first_run\":3},"
				  "{\"reason\":\"children\",\"text\":"
				  "\"2 children\",\"runs\":1,\"first_run\":2}]"
				  "}");
	free(text);
	json_decref(object);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_with_samples_are_not_told),
		cmocka_unit_test(one_reason_is_one_line),
		cmocka_unit_test(the_most_frequent_comes_first),
		cmocka_unit_test(the_json_has_the_same),
	};

	return cmocka_run_group_tests_name("unsampled", tests, NULL, NULL);
}

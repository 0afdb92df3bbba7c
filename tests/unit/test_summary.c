/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sweep/summary.c: what is said of a sweep.
 */
#include "sweep/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "sweep/journal.h"

static char *command[] = { "./test", NULL };

struct fixture {
	struct plan plan;
	struct results results;
	struct sweep_result result;
	struct summary summary;
};

static void take(struct fixture *f, uint64_t run, enum outcome_kind kind,
		 const char *races)
{
	struct journal_record record;

	journal_record_init(&record);
	record.type = JOURNAL_DONE;
	record.run = record.seed = run;
	record.outcome.kind = kind;
	record.outcome.status = kind == OUTCOME_FAILED ? 134 : 0;
	record.elapsed_ns = 2 * CLOCK_NS_PER_S;
	record.findings.samples = 10;
	strcpy(record.plan, f->plan.entries[run % 2].name);
	if (kind == OUTCOME_BROKEN)
		record.note = strdup("no room\x1b[31m");
	for (; *races; races++) {
		struct finding *finding = vec_append(&record.findings.races);

		assert_non_null(finding);
		finding->fingerprint[0] = *races;
		finding->what = strdup("x: f t.c:1 against g t.c:2");
	}
	assert_null(results_take(&f->results, &record));
	journal_record_deinit(&record);
}

static void begin(struct fixture *f)
{
	const struct plan_fixed nothing = { UINT64_MAX, UINT64_MAX, NULL };

	*f = (struct fixture){ .result = { .end = SWEEP_QUIET,
					   .elapsed_ns =
						   75 * CLOCK_NS_PER_S } };
	plan_init(&f->plan, &nothing, false);
	results_init(&f->results, &f->plan);
	f->summary = (struct summary){
		.results = &f->results,
		.result = &f->result,
		.ids = VEC_INIT(struct summary_id),
		.directory = "d",
		.command = command,
	};
}

static void end(struct fixture *f)
{
	vec_deinit(&f->summary.ids);
	summary_deinit(&f->summary);
	results_deinit(&f->results);
}

static void fill(struct fixture *f)
{
	const struct summary_id id = { "a", 2 };

	take(f, 1, OUTCOME_PASSED, "");
	take(f, 2, OUTCOME_PASSED, "a");
	take(f, 3, OUTCOME_FAILED, "ab");
	take(f, 4, OUTCOME_BROKEN, "a");
	assert_true(vec_push(&f->summary.ids, &id));
	assert_null(summary_fill(&f->summary));
}

static void the_text_has_what_matters(void **state)
{
	struct strbuf out = { 0 };
	struct fixture f;

	(void)state;
	begin(&f);
	fill(&f);
	summary_add_text(&out, &f.summary);
	assert_string_equal(
		strbuf_text(&out),
		"SWEEP: racewatch: 4 runs in 1:15, 2 races; 2 passed, 1 "
		"failed, 1 failed in racewatch; the last runs showed no new "
		"race\n"
		"  race #2 in 3 of 4 runs, first in run 2 (the 2nd to end): "
		"x: f t.c:1 against g t.c:2\n"
		"  race in 1 of 4 runs, first in run 3 (the 3rd to end): "
		"x: f t.c:1 against g t.c:2\n"
		"  unseen: one more such run shows a new race with "
		"probability 25 %, at most 100.0 % (Good-Turing, 95 %)\n"
		"  unseen: how many races there are in all cannot be "
		"estimated yet: none was seen in exactly two runs\n"
		"  plan rate=1000 stall=1ms policy=guided: 2 runs, 1 first shown\n"
		"  plan rate=300 stall=10ms policy=guided: 2 runs, 1 first shown\n"
		"  run 3 (seed 3): failed with status 134 (SIGABRT)\n"
		"  run 4 (seed 4): racewatch failed with status 0: no "
		"room\\x1b[31m\n"
		"  kept in d\n");
	strbuf_deinit(&out);
	end(&f);
}

static void troubled_runs_are_not_all_named(void **state)
{
	struct strbuf out = { 0 };
	struct fixture f;

	(void)state;
	begin(&f);
	for (uint64_t run = 1; run <= 13; run++)
		take(&f, run, OUTCOME_TIMED_OUT, "");
	assert_null(summary_fill(&f.summary));
	summary_add_text(&out, &f.summary);
	assert_non_null(strstr(strbuf_text(&out), "  run 10 (seed 10): hung"));
	assert_null(strstr(strbuf_text(&out), "  run 11 (seed 11)"));
	assert_non_null(strstr(strbuf_text(&out), "  and 3 more such runs"));
	strbuf_clear(&out);
	f.summary.all = true;
	summary_add_text(&out, &f.summary);
	assert_non_null(strstr(strbuf_text(&out), "  run 13 (seed 13): hung"));
	strbuf_deinit(&out);
	end(&f);
}

static void the_json_has_the_same(void **state)
{
	char *text = NULL;
	size_t size;
	struct fixture f;
	FILE *out;

	(void)state;
	begin(&f);
	fill(&f);
	f.summary.exit_status = 66;
	out = open_memstream(&text, &size);
	assert_null(summary_write_json(&f.summary, out));
	fclose(out);
	assert_non_null(strstr(text, "\"end\":\"quiet\",\"elapsed_s\":75.0,"
				     "\"runs\":{\"finished\":4,\"sampled\":4,"
				     "\"passed\":2,\"failed\":1,"));
	assert_non_null(strstr(text, "\"races\":[{\"id\":2,\"fingerprint\":"
				     "\"a\","));
	assert_non_null(strstr(text, "\"runs\":3,\"first_run\":2,"
				     "\"first_order\":2},{\"id\":null,"));
	assert_non_null(strstr(text, "\"estimate\":{\"once\":1,\"twice\":0,"
				     "\"next\":0.25,"));
	assert_non_null(strstr(text, "\"exit\":66}\n"));
	free(text);
	end(&f);
}

static void progress(const struct sweep_progress *given, const char *wanted)
{
	struct strbuf out = { 0 };

	summary_add_progress(&out, given);
	assert_string_equal(strbuf_text(&out), wanted);
	strbuf_deinit(&out);
}

static void the_line_tells_when_it_ends(void **state)
{
	struct sweep_progress now = {
		.elapsed_ns = 133 * CLOCK_NS_PER_S,
		.finished = 37,
		.runs = 200,
		.running = 2,
		.races = 5,
		.other_than_passed = 1,
		.left_ns = 3700 * CLOCK_NS_PER_S,
	};

	(void)state;
	progress(&now, "2:13, 37 of 200 runs, 2 running, 5 races, "
		       "1 not passed, ends in 1:01:40");
	now.runs = 0;
	now.left_ns = UINT64_MAX;
	now.other_than_passed = 0;
	now.quiet = 7;
	progress(&now, "2:13, 37 runs, 2 running, 5 races, "
		       "nothing new for 7 runs");
	now.waits = true;
	now.running = now.quiet = 0;
	progress(&now, "2:13, 37 runs, 0 running, 5 races, "
		       "waiting for another sweep's runs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_has_what_matters),
		cmocka_unit_test(troubled_runs_are_not_all_named),
		cmocka_unit_test(the_json_has_the_same),
		cmocka_unit_test(the_line_tells_when_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

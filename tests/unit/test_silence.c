/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/output/silence.c: for each reason its own words, which name what to do. */
#include "output/silence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/run.h"
#include "sampling/glob.h"
#include "session/session.h"

static const struct silence_asked normal = {
	.rate = 1000,
	.overhead_pct = 40,
	.effort = "normal",
};

/* Two threads, breakpoints, and nothing that was met. */
static struct session_counts nothing_met(void)
{
	return (struct session_counts){
		.sum = { .stats = { .threads_most = 2,
				    .arms = 128,
				    .refills = 100 },
			 .sampling.sites_eligible_own = 40,
			 .elapsed_ns = 1500000000 },
		.own_functions = 10,
		.own_complete = true,
	};
}

static void says(const struct silence_asked *asked,
		 const struct session_counts *counts, const char *expected)
{
	struct strbuf text = { 0 };

	silence_explain(&text, asked, counts);
	assert_string_equal(strbuf_text(&text), expected);
	strbuf_deinit(&text);
}

static void samples_need_no_reason(void **state)
{
	struct session_counts counts = nothing_met();

	(void)state;
	counts.sum.stats.samples = counts.sum.stats.stalled =
		counts.sum.sampling.own = 1;
	says(&normal, &counts, "");
}

static void what_was_asked_for_is_named(void **state)
{
	struct session_counts counts = nothing_met();
	struct silence_asked asked = normal;

	(void)state;
	asked.rate = 0;
	asked.rate_given = true;
	says(&asked, &counts, "no samples were taken: --rate 0 allows none");
	asked.rate_given = false;
	asked.overhead_given = true;
	says(&asked, &counts,
	     "no samples were taken: --overhead 0 allows none");
	counts.own_functions = 0;
	counts.excluded_by = "serv*";
	says(&normal, &counts,
	     "no samples were taken: --exclude 'serv*' leaves nothing of the "
	     "program's own modules");
}

static void children_are_counted(void **state)
{
	struct session_counts counts = nothing_met();
	struct silence_asked asked = normal;

	(void)state;
	counts.sum.stats.threads_most = 1;
	counts.sum.stats.unwatched = 1;
	says(&asked, &counts,
	     "no samples were taken: the program had one thread, and 1 child "
	     "process ran unwatched: --follow all watches children too");
	counts.sum.stats.unwatched = 1234;
	asked.attached = true;
	says(&asked, &counts,
	     "no samples were taken: the process had one thread, and 1 234 "
	     "child processes ran unwatched: --follow all watches children "
	     "too");
	counts.sum.stats.unwatched = 0;
	says(&asked, &counts,
	     "no samples were taken: the process had one thread while it was "
	     "watched, so that nothing could race");
	/* hits of the only thread */
	counts.sum.stats.hits = counts.sum.stats.samples = 7;
	says(&normal, &counts,
	     "nothing of the program's own modules was sampled: the program "
	     "had one thread, so that nothing could race");
}

/* Those of a script whose interpreter has threads. */
static void children_are_named_beside_another_reason(void **state)
{
	struct session_counts counts = nothing_met();
	struct silence_asked asked = normal;

	(void)state;
	asked.follows_fork = true;
	counts.sum.stats.unwatched = 3;
	says(&asked, &counts,
	     "no samples were taken: 128 breakpoints were set in 1.5 s, and "
	     "none was reached: run it longer; racewatch sites lists what is "
	     "left out, and why; 3 child processes ran unwatched: --follow all "
	     "watches children too, whatever they run");
}

static void budgets_are_named(void **state)
{
	struct session_counts counts = nothing_met();
	struct silence_asked asked = normal;

	(void)state;
	counts.sum.stats.unpaid = 90;
	says(&asked, &counts,
	     "no samples were taken: --effort normal (40 % of the time) "
	     "allowed none: what it takes to watch had used it up");
	asked.overhead_given = true;
	asked.overhead_pct = 0.01;
	says(&asked, &counts,
	     "no samples were taken: --overhead 0.01 allowed none: what it "
	     "takes to watch had used it up");
	counts.sum.stats.unpaid = 0;
	counts.sum.stats.over_rate = 90;
	asked.rate = 1;
	says(&asked, &counts,
	     "no samples were taken: --rate 1 allowed none in 1.5 s");
}

static void an_early_end_is_told(void **state)
{
	struct session_counts counts = nothing_met();
	struct silence_asked asked = normal;

	(void)state;
	counts.sum.stats.arms = 0;
	asked.attached = true;
	says(&asked, &counts,
	     "no samples were taken: the watching ended after 1.5 s, before a "
	     "breakpoint was set: watch longer (--duration)");
	asked.ended = true;
	says(&asked, &counts,
	     "no samples were taken: the process ended after 1.5 s, before a "
	     "breakpoint was set: attach earlier, or start it with racewatch "
	     "run");
}

static void what_was_not_reached_is_told(void **state)
{
	struct session_counts counts = nothing_met();
	struct silence_asked asked = normal;

	(void)state;
	says(&normal, &counts,
	     "no samples were taken: 128 breakpoints were set in 1.5 s, and "
	     "none was reached: run it longer; racewatch sites lists what is "
	     "left out, and why");
	counts.sum.stats.arms = 0;
	says(&normal, &counts,
	     "no samples were taken: the program ended after 1.5 s, before a "
	     "breakpoint was set: run it longer, or often (racewatch sweep)");
	asked.swept = true;
	says(&asked, &counts,
	     "no samples were taken: the program ended after 1.5 s, before a "
	     "breakpoint was set: run it longer");
	counts.sum.stats.arms = 1;
	counts.sum.elapsed_ns = 51800000;
	says(&normal, &counts,
	     "no samples were taken: 1 breakpoint was set in 51.8 ms, and it "
	     "was not reached: run it longer; racewatch sites lists what is "
	     "left out, and why");
	counts.sum.stats.arms = 9;
	counts.sum.stats.hits = counts.sum.stats.samples = 1;
	says(&normal, &counts,
	     "nothing of the program's own modules was sampled: no other "
	     "thread could run at the only hit");
	counts.sum.stats.hits = counts.sum.stats.samples = 3;
	says(&normal, &counts,
	     "nothing of the program's own modules was sampled: no other "
	     "thread could run at any of 3 hits");
	counts.sum.stats.stalled = 2;
	says(&normal, &counts,
	     "nothing of the program's own modules was sampled: 2 samples "
	     "with a stall, all in libraries: the program's own code "
	     "reached no breakpoint; racewatch sites lists what is left out, "
	     "and why");
}

static void nothing_that_can_be_sampled_is_told(void **state)
{
	static const char reason[] =
		"the program's own modules have no instruction that can be "
		"sampled: racewatch sites lists what is left out, and why";
	struct session_counts counts = nothing_met();
	struct strbuf text = { 0 };

	(void)state;
	counts.own_complete = true;
	counts.sum.sampling.sites_eligible_own = 0;
	silence_explain(&text, &normal, &counts);
	assert_non_null(strstr(strbuf_text(&text), reason));
	/* samples in libraries do not change that */
	counts.sum.stats.hits = counts.sum.stats.samples =
		counts.sum.stats.stalled = 9;
	strbuf_clear(&text);
	silence_explain(&text, &normal, &counts);
	assert_non_null(strstr(strbuf_text(&text), reason));
	/* not known before all functions are decoded */
	counts.own_complete = false;
	strbuf_clear(&text);
	silence_explain(&text, &normal, &counts);
	assert_null(strstr(strbuf_text(&text), reason));
	strbuf_deinit(&text);
}

static void a_pattern_without_effect_is_named(void **state)
{
	struct session_counts counts = nothing_met();
	struct silence_asked asked = normal;
	struct vec patterns = VEC_INIT(struct run_pattern);
	struct strbuf text = { 0 };
	struct globs globs;

	(void)state;
	globs_init(&globs);
	assert_true(globs_add(&globs, "put*", true));
	assert_true(globs_add(&globs, "gte*", false));
	assert_true(globs_add(&globs, "nosuch", true));
	globs_function(&globs, "/bin/x", "put_it", NULL, NULL);
	assert_true(silence_patterns(&globs, &patterns));
	assert_int_equal(patterns.count, 2);
	silence_pattern(&text, vec_at(&patterns, 0));
	assert_string_equal(strbuf_text(&text),
			    "--exclude 'gte*' has no effect: it matches no "
			    "module, function or source file");
	strbuf_clear(&text);
	silence_pattern(&text, vec_at(&patterns, 1));
	assert_string_equal(strbuf_text(&text),
			    "--include 'nosuch' has no effect: it matches no "
			    "module, function or source file; the rest is "
			    "sampled as without it");
	vec_deinit(&patterns);
	/* where all else is excluded it is the reason too */
	asked.globs = &globs;
	counts.own_functions = 0;
	counts.excluded_by = "*";
	counts.modules_read = true;
	says(&asked, &counts,
	     "no samples were taken: --exclude '*' leaves nothing of the "
	     "program's own modules, and --include 'nosuch' matches nothing");
	strbuf_deinit(&text);
	globs_deinit(&globs);
}

static void a_floor_is_told(void **state)
{
	struct session_counts counts = nothing_met();
	struct silence_asked asked = normal;
	struct strbuf text = { 0 };

	(void)state;
	counts.sum.sampling.own = 1;
	asked.min_samples = 1;
	silence_floor(&text, &asked, &counts);
	assert_int_equal(text.length, 0);
	asked.min_samples = 1000;
	silence_floor(&text, &asked, &counts);
	assert_string_equal(strbuf_text(&text),
			    "1 sample of the program's own modules had a "
			    "stall: --min-samples asks for 1 000");
	strbuf_deinit(&text);
}

static void generated_is(const struct session_counts *counts,
			 const char *expected)
{
	struct strbuf text = { 0 };

	silence_generated(&text, counts);
	assert_string_equal(strbuf_text(&text), expected);
	strbuf_deinit(&text);
}

static void time_in_generated_code_is_told(void **state)
{
	struct session_counts counts = nothing_met();

	(void)state;
	generated_is(&counts, "");
	counts.generated_seen = true;
	generated_is(&counts, "there was code generated at run time, which is "
			      "not sampled; how much of the time was in it is "
			      "not known");
	counts.sum.sampling.own = 1;
	generated_is(&counts, "");
	counts.sum.sampling.looks = 200;
	counts.sum.sampling.generated = 19;
	generated_is(&counts, "");
	counts.sum.sampling.generated = 186;
	generated_is(&counts, "93 % of the time was in code generated at run "
			      "time, which is not sampled");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_need_no_reason),
		cmocka_unit_test(what_was_asked_for_is_named),
		cmocka_unit_test(children_are_counted),
		cmocka_unit_test(children_are_named_beside_another_reason),
		cmocka_unit_test(budgets_are_named),
		cmocka_unit_test(an_early_end_is_told),
		cmocka_unit_test(what_was_not_reached_is_told),
		cmocka_unit_test(nothing_that_can_be_sampled_is_told),
		cmocka_unit_test(a_pattern_without_effect_is_named),
		cmocka_unit_test(time_in_generated_code_is_told),
		cmocka_unit_test(a_floor_is_told),
	};

	return cmocka_run_group_tests_name("silence", tests, NULL, NULL);
}

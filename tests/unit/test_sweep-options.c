/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/cmd/sweep-options.c: what a sweep passes on to its runs. */
#include "cmd/sweep-options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"

enum { WORDS_MAX = 32 };

static char line[256];

/* Parse the words of a line; end with sweep_end(). */
static struct error *sweep_parse(const char *words,
				 struct sweep_options *options)
{
	char *argv[WORDS_MAX + 1] = { NULL }, *save = NULL, *word;
	int argc = 0, first;

	snprintf(line, sizeof(line), "%s", words);
	for (word = strtok_r(line, " ", &save); word && argc < WORDS_MAX;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	*options = (struct sweep_options){
		.of_runs = VEC_INIT(struct option_word),
	};
	return options_parse(&sweep_table, argc, argv, options,
			     &options->of_runs, &first);
}

static void sweep_end(struct sweep_options *options)
{
	vec_deinit(&options->of_runs);
	options_release(&sweep_table, options);
}

/* The options of the runs of the line, with a blank behind each. */
static void passes(const char *words, const char *learned, const char *expected)
{
	struct sweep_options options;
	struct vec list = VEC_INIT(char *);
	char all[256] = "";

	assert_null(sweep_parse(words, &options));
	assert_true(sweep_options_fill(&options, learned, &list));
	for (size_t i = 0; i < list.count; i++) {
		strcat(all, *(char **)vec_at(&list, i));
		strcat(all, " ");
	}
	assert_string_equal(all, expected);
	vec_deinit(&list);
	sweep_end(&options);
}

static void runs_get_their_options_as_they_were_given(void **state)
{
	(void)state;
	passes("sweep --runs 3 --exclude=b --stall 2.50ms --include a --spec v "
	       "--at x.c:1 -q -o f --no-aslr --effort high --overhead 7 --error-exitcode 1",
	       NULL,
	       "--exclude b --stall 2.50ms --include a --special-variable v "
	       "--at x.c:1 --no-aslr --effort high --overhead 7 ");
	passes("sweep --seed 4 --timeout 1s --state f", "l.db",
	       "--state l.db ");
}

static void a_baseline_to_be_updated_is_of_the_sweep_alone(void **state)
{
	(void)state;
	passes("sweep --baseline f --suppressions s", NULL,
	       "--baseline f --suppressions s ");
	passes("sweep --baseline f --suppressions s --update-baseline", NULL,
	       "--suppressions s ");
}

static struct plan_fixed fixed(const char *words)
{
	struct sweep_options options;
	struct plan_fixed ret;

	assert_null(sweep_parse(words, &options));
	ret = sweep_options_fixed(&options);
	sweep_end(&options);
	return ret;
}

static void what_is_given_the_plan_does_not_vary(void **state)
{
	struct plan_fixed none = fixed("sweep"),
			  high = fixed("sweep --effort "
				       "high"),
			  some = fixed("sweep --rate 3 --policy uniform");

	(void)state;
	assert_true(none.rate == UINT64_MAX && none.stall_ns == UINT64_MAX);
	assert_null(none.policy);
	assert_int_equal(some.rate, 3);
	assert_true(some.stall_ns == UINT64_MAX);
	assert_string_equal(some.policy, "uniform");
	assert_int_equal(high.stall_ns, CLOCK_NS_PER_MS);
	assert_true(high.rate > 1000 && high.rate < UINT64_MAX);
}

static void bad_values_are_told_before_any_run(void **state)
{
	static const struct {
		const char *words, *message;
	} wrong[] = {
		{ "sweep --on-race stop",
		  "--on-race: 'stop': not for a sweep: a run that is left "
		  "stopped never ends" },
		{ "sweep --on-race jump",
		  "--on-race: 'jump': must be report, stop, core or "
		  "exec:COMMAND" },
		{ "sweep --stall 1000s",
		  "--stall: 1000s is out of range: 1us to 10s" },
		{ "sweep --include=",
		  "--include: '': an empty pattern matches nothing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct sweep_options options;
		struct error *err = sweep_parse(wrong[i].words, &options);

		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_USAGE);
		assert_string_equal(error_message(err), wrong[i].message);
		error_free(err);
		sweep_end(&options);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_get_their_options_as_they_were_given),
		cmocka_unit_test(
			a_baseline_to_be_updated_is_of_the_sweep_alone),
		cmocka_unit_test(what_is_given_the_plan_does_not_vary),
		cmocka_unit_test(bad_values_are_told_before_any_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

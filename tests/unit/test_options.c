/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/options.c: one table parses, helps and dumps. */
#include "base/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"

/* Allocations of this program that succeed before one fails; negative: all. */
static int allocations = -1;

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__real_reallocarray(void *pointer, size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
void *__wrap_reallocarray(void *pointer, size_t count, size_t size);

static bool allocation_fails(void)
{
	if (allocations == 0)
		return true;
	if (allocations > 0)
		allocations--;
	return false;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *pointer, size_t size)
{
	return allocation_fails() ? NULL : __real_realloc(pointer, size);
}

void *__wrap_reallocarray(void *pointer, size_t count, size_t size)
{
	return allocation_fails() ? NULL
				  : __real_reallocarray(pointer, count, size);
}

struct sample {
	bool quiet, stop;
	const char *output;
	struct vec include;
	uint64_t seed, rate, stall;
	int backend;
	const char *policy;
	struct vec patterns;
	struct inner {
		bool stack;
		uint64_t limit;
		double percent;
	} inner;
};

static const char *const backends[] = { "auto", "perf", "ptrace", NULL };

static const struct option_def defs[] = {
	{
		.name = "--quiet",
		.letter = 'q',
		.help = "print races only",
		.type = OPTION_FLAG,
		.offset = offsetof(struct sample, quiet),
	},
	{
		.name = "--output",
		.letter = 'o',
		.arg = "FILE",
		.help = "write the report to FILE too",
		.type = OPTION_STRING,
		.offset = offsetof(struct sample, output),
	},
	{
		.name = "--include",
		.arg = "GLOB",
		.help = "sample also modules, functions or source files of "
			"this name, which may be left out by default",
		.type = OPTION_LIST,
		.offset = offsetof(struct sample, include),
	},
	{
		.name = "--seed",
		.arg = "N",
		.help = "choose by this number",
		.type = OPTION_UINT64,
		.offset = offsetof(struct sample, seed),
	},
	{
		.name = "--rate",
		.arg = "HITS",
		.help = "this many a second",
		.type = OPTION_UINT64,
		.offset = offsetof(struct sample, rate),
		.min = 1,
		.max = 1000,
	},
	{
		.name = "--stall",
		.arg = "TIME",
		.help = "hold a thread as long at most",
		.type = OPTION_DURATION,
		.offset = offsetof(struct sample, stall),
		.min = 1000,
		.max = UINT64_C(1500000000),
	},
	{
		.name = "--stop-at-the-first-race-of-all",
		.help = "stop",
		.type = OPTION_FLAG,
		.offset = offsetof(struct sample, stop),
	},
	{
		.name = "--backend",
		.arg = "NAME",
		.help = "notice accesses so",
		.type = OPTION_CHOICE,
		.offset = offsetof(struct sample, backend),
		.choices = backends,
	},
};

static const struct option_group group = OPTION_GROUP(defs);

static const struct option_table table = {
	.command = "run",
	.synopsis = "[options] [--] CMD [ARG...]",
	.summary = "Start a program and report its data races.",
	.parts = (const struct option_part[]){ { &group, 0 }, { NULL, 0 } },
	.leading = true,
};

static const char *const policies[] = { "guided", "uniform", NULL };

static struct error *not_x(const char *value)
{
	return strcmp(value, "x") ? NULL : error_create(ERROR_USAGE, "no x");
}

/* Members of the structure itself, and a group inside of it. */
static const struct option_def outer_defs[] = {
	{ .name = "--policy",
	  .arg = "WHICH",
	  .help = "choose so",
	  .type = OPTION_NAME,
	  .offset = offsetof(struct sample, policy),
	  .preset = 1,
	  .choices = policies },
	{ .name = "--take",
	  .arg = "GLOB",
	  .help = "take these",
	  .type = OPTION_WORDS,
	  .offset = offsetof(struct sample, patterns),
	  .check = not_x,
	  .of_runs = true },
	{ .name = "--leave",
	  .arg = "GLOB",
	  .help = "leave these",
	  .type = OPTION_WORDS,
	  .offset = offsetof(struct sample, patterns),
	  .of_runs = true },
};

static const struct option_def inner_defs[] = {
	{ .name = "--stack",
	  .letter = 's',
	  .help = "take the stack too",
	  .type = OPTION_FLAG,
	  .offset = offsetof(struct inner, stack),
	  .of_runs = true },
	{ .name = "--limit",
	  .arg = "N",
	  .help = "take this many",
	  .type = OPTION_UINT64,
	  .offset = offsetof(struct inner, limit),
	  .preset = 7 },
	{ .name = "--percent",
	  .arg = "N",
	  .help = "take this part",
	  .type = OPTION_PERCENT,
	  .offset = offsetof(struct inner, percent),
	  .preset = OPTION_NONE },
};

static const struct option_group outer_group = OPTION_GROUP(outer_defs);
static const struct option_group inner_group = OPTION_GROUP(inner_defs);

static const struct option_table grouped = {
	.command = "sweep",
	.parts =
		(const struct option_part[]){
			{ &outer_group, 0 },
			{ &inner_group, offsetof(struct sample, inner) },
			{ NULL, 0 } },
};

enum { WORDS_MAX = 16 };

/* Where what is of the runs goes; NULL: nowhere. */
static struct vec *of_runs;

/* Parse the words of a line; *ret_rest: the operands, joined by spaces. */
static struct error *parse_with(const struct option_table *with,
				const char *line, struct sample *sample,
				char *rest)
{
	static char copy[256];
	char *argv[WORDS_MAX + 1] = { NULL }, *save = NULL, *word;
	struct error *err;
	int argc = 0, first = -1;

	snprintf(copy, sizeof(copy), "%s", line);
	for (word = strtok_r(copy, " ", &save); word && argc < WORDS_MAX;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	err = options_parse(with, argc, argv, sample, of_runs, &first);
	rest[0] = '\0';
	for (int i = first; !err && i < argc; i++) {
		strcat(rest, rest[0] ? " " : "");
		strcat(rest, argv[i]);
	}
	return err;
}

static void parses(const char *line, struct sample *sample,
		   const char *expected_rest)
{
	char rest[256];

	assert_null(parse_with(&table, line, sample, rest));
	assert_string_equal(rest, expected_rest);
}

static void fails(const char *line, const char *message)
{
	struct sample sample = { 0 };
	char rest[256];
	struct error *err = parse_with(&table, line, &sample, rest);

	if (!err)
		fail_msg("%s was taken", line);
	assert_int_equal(err->kind, ERROR_USAGE);
	assert_string_equal(error_message(err), message);
	error_free(err);
	options_release(&table, &sample);
}

static void every_type_sets_its_member(void **state)
{
	struct sample sample = { 0 };

	(void)state;
	parses("run -q --output=a.jsonl --seed 18446744073709551615 "
	       "--rate 1000 --stall 1.5ms --backend ptrace ./cmd",
	       &sample, "./cmd");
	assert_true(sample.quiet);
	assert_false(sample.stop);
	assert_string_equal(sample.output, "a.jsonl");
	assert_int_equal(sample.seed, UINT64_MAX);
	assert_int_equal(sample.rate, 1000);
	assert_int_equal(sample.stall, 1500000);
	assert_int_equal(sample.backend, 2);
	options_release(&table, &sample);
}

static void what_is_not_given_has_its_default(void **state)
{
	struct sample sample = { .rate = 77, .output = "x", .backend = 1 };
	char rest[256];

	(void)state;
	parses("run", &sample, "");
	assert_int_equal(sample.rate, 0);
	assert_null(sample.output);
	assert_int_equal(sample.backend, 0);
	options_release(&table, &sample);
	assert_null(parse_with(&grouped, "sweep", &sample, rest));
	assert_string_equal(sample.policy, "uniform");
	assert_false(sample.inner.stack);
	assert_int_equal(sample.inner.limit, 7);
	assert_true(sample.inner.percent < 0);
	options_release(&grouped, &sample);
}

static void groups_set_members_of_their_own_structures(void **state)
{
	struct sample sample = { .rate = 77 };
	char rest[256];

	(void)state;
	assert_null(parse_with(&grouped,
			       "sweep --limit 3 --policy guided -s --percent 5",
			       &sample, rest));
	assert_int_equal(sample.rate, 77);
	assert_int_equal(sample.inner.limit, 3);
	assert_true(sample.inner.stack);
	assert_true(sample.inner.percent == 5);
	assert_string_equal(sample.policy, "guided");
	options_release(&grouped, &sample);
}

/* The word that was given is NAME VALUE; NULL: a flag. */
static void is_word(const struct vec *words, size_t i, const char *name,
		    const char *value)
{
	const struct option_word *word = vec_at(words, i);

	assert_string_equal(word->def->name, name);
	if (value)
		assert_string_equal(word->value, value);
	else
		assert_null(word->value);
}

static void words_of_several_options_keep_their_order(void **state)
{
	struct vec words = VEC_INIT(struct option_word);
	struct sample sample;
	char rest[256];

	(void)state;
	of_runs = &words;
	assert_null(parse_with(&grouped,
			       "sweep --leave=b --limit 3 --tak a -s --leave c",
			       &sample, rest));
	of_runs = NULL;
	assert_int_equal(sample.patterns.count, 3);
	is_word(&sample.patterns, 0, "--leave", "b");
	is_word(&sample.patterns, 1, "--take", "a");
	is_word(&sample.patterns, 2, "--leave", "c");
	/* those that a sweep passes on, and no others */
	assert_int_equal(words.count, 4);
	is_word(&words, 0, "--leave", "b");
	is_word(&words, 1, "--take", "a");
	is_word(&words, 2, "--stack", NULL);
	is_word(&words, 3, "--leave", "c");
	vec_deinit(&words);
	options_release(&grouped, &sample);
}

static void values_are_checked_by_their_row(void **state)
{
	struct sample sample;
	char rest[256];
	struct error *err =
		parse_with(&grouped, "sweep --leave x --take x", &sample, rest);

	(void)state;
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_USAGE);
	assert_string_equal(error_message(err), "--take: 'x': no x");
	error_free(err);
	assert_int_equal(sample.patterns.count, 1);
	options_release(&grouped, &sample);
}

static struct error *percent_of(const char *word, double *ret)
{
	static const struct option_def def = { .name = "--overhead",
					       .arg = "PERCENT",
					       .help = "lose so much",
					       .type = OPTION_PERCENT };
	static const struct option_group only = { .defs = &def, .count = 1 };
	static const struct option_part parts[] = { { &only, 0 }, { NULL, 0 } };
	static const struct option_table one = { .command = "run",
						 .parts = parts };
	char option[] = "--overhead", value[32], name[] = "run";
	char *argv[] = { name, option, value, NULL };
	int first;

	snprintf(value, sizeof(value), "%s", word);
	return options_parse(&one, 3, argv, ret, NULL, &first);
}

static void percentages_may_have_a_fraction(void **state)
{
	static const char *const wrong[] = { "-1",  "100.1", "2%%", "",
					     "%",   "2 %",   ".",   "nan",
					     "0x2", "1e1",   " 2",  "1.2.3" };
	double percent = -1;

	(void)state;
	assert_null(percent_of("2", &percent));
	assert_true(percent == 2);
	assert_null(percent_of("0.5", &percent));
	assert_true(percent == 0.5);
	assert_null(percent_of("2.5%", &percent));
	assert_true(percent == 2.5);
	assert_null(percent_of("100", &percent));
	assert_true(percent == 100);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct error *err = percent_of(wrong[i], &percent);

		if (!err)
			fail_msg("'%s' was taken", wrong[i]);
		assert_int_equal(err->kind, ERROR_USAGE);
		error_free(err);
		assert_true(percent == 0);
	}
}

static void lists_keep_every_value_in_order(void **state)
{
	struct sample sample = { 0 };

	(void)state;
	parses("run --include libc.so.6 --include=foo*", &sample, "");
	assert_int_equal(sample.include.count, 2);
	assert_string_equal(*(char **)vec_at(&sample.include, 0), "libc.so.6");
	assert_string_equal(*(char **)vec_at(&sample.include, 1), "foo*");
	options_release(&table, &sample);
	assert_int_equal(sample.include.count, 0);
}

static void short_forms_and_the_last_of_two_count(void **state)
{
	struct sample sample = { 0 };

	(void)state;
	parses("run -qoone -o two --see 3", &sample, "");
	assert_true(sample.quiet);
	assert_string_equal(sample.output, "two");
	assert_int_equal(sample.seed, 3);
	options_release(&table, &sample);
}

static void leading_options_end_at_the_first_operand(void **state)
{
	struct sample sample = { 0 };

	(void)state;
	parses("run --seed 1 cmd --seed 2 -q", &sample, "cmd --seed 2 -q");
	assert_int_equal(sample.seed, 1);
	assert_false(sample.quiet);
	options_release(&table, &sample);
}

static void two_dashes_end_the_options(void **state)
{
	struct sample sample = { 0 };

	(void)state;
	parses("run -q -- --seed -x", &sample, "--seed -x");
	assert_true(sample.quiet);
	parses("run -- -- x", &sample, "-- x");
	options_release(&table, &sample);
}

static void elsewhere_options_may_follow_operands(void **state)
{
	struct option_table loose = table;
	struct sample sample = { 0 };
	struct error *err;
	char rest[256];

	(void)state;
	loose.leading = false;
	assert_null(parse_with(&loose, "sites one --seed 2 two -q -- -x",
			       &sample, rest));
	assert_string_equal(rest, "one two -x");
	assert_int_equal(sample.seed, 2);
	assert_true(sample.quiet);
	/* the word at fault is named although others have moved */
	err = parse_with(&loose, "sites one --none two", &sample, rest);
	assert_non_null(err);
	assert_string_equal(error_message(err), "unknown option: --none");
	error_free(err);
	options_release(&loose, &sample);
}

static void mistakes_name_the_option(void **state)
{
	(void)state;
	fails("run --none=3 x", "unknown option: --none");
	fails("run --quite", "unknown option: --quite; did you mean --quiet?");
	fails("run --bakcend=best x",
	      "unknown option: --bakcend; did you mean --backend?");
	fails("run -x", "unknown option: -x");
	fails("run -qx", "unknown option: -x");
	fails("run --seed", "--seed needs an argument: N");
	fails("run -o", "--output needs an argument: FILE");
	fails("run --quiet=yes", "--quiet takes no argument: --quiet=yes");
	fails("run --st", "--st is ambiguous: --stall, "
			  "--stop-at-the-first-race-of-all");
}

static void bad_values_are_named(void **state)
{
	(void)state;
	fails("run --rate 0", "--rate: 0 is out of range: 1 to 1000");
	fails("run --rate 1001", "--rate: 1001 is out of range: 1 to 1000");
	fails("run --rate -1", "--rate: '-1' is not a number");
	fails("run --rate +1", "--rate: '+1' is not a number");
	fails("run --seed 0x10", "--seed: '0x10' is not a number");
	fails("run --seed 18446744073709551616",
	      "--seed: 18446744073709551616 is out of range: 0 to "
	      "18446744073709551615");
	fails("run --seed=", "--seed: '' is not a number");
	fails("run --stall soon",
	      "--stall: 'soon' is not a time (such as 200us, 1.5ms, 10s)");
	fails("run --stall 1ns", "--stall: 1ns is out of range: 1us to 1500ms");
	fails("run --stall 1h", "--stall: 1h is out of range: 1us to 1500ms");
	fails("run --backend best",
	      "--backend: 'best' is not one of auto, perf, ptrace");
	/* words are not cut short */
	fails("run --backend per",
	      "--backend: 'per' is not one of auto, perf, ptrace");
}

/* What print writes. */
static void prints(void (*print)(const struct option_table *, FILE *),
		   const char *expected)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	print(&table, out);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void help_is_made_of_the_table(void **state)
{
	(void)state;
	prints(options_help,
	       "Usage:\n"
	       " racewatch run [options] [--] CMD [ARG...]\n"
	       "\n"
	       "Start a program and report its data races.\n"
	       "\n"
	       "Options:\n"
	       " -q, --quiet         print races only\n"
	       " -o, --output FILE   write the report to FILE too\n"
	       "     --include GLOB  sample also modules, functions or source "
	       "files of this\n"
	       "                     name, which may be left out by default\n"
	       "     --seed N        choose by this number\n"
	       "     --rate HITS     this many a second\n"
	       "     --stall TIME    hold a thread as long at most\n"
	       "     --stop-at-the-first-race-of-all\n"
	       "                     stop\n"
	       "     --backend NAME  notice accesses so\n");
}

static void dump_has_a_line_for_each_option(void **state)
{
	(void)state;
	prints(options_dump,
	       "run\t--quiet\t-q\t-\tprint races only\t-\n"
	       "run\t--output\t-o\tFILE\twrite the report to FILE too\t-\n"
	       "run\t--include\t-\tGLOB\tsample also modules, functions or "
	       "source files of this name, which may be left out by default\t-\n"
	       "run\t--seed\t-\tN\tchoose by this number\t-\n"
	       "run\t--rate\t-\tHITS\tthis many a second\t-\n"
	       "run\t--stall\t-\tTIME\thold a thread as long at most\t-\n"
	       "run\t--stop-at-the-first-race-of-all\t-\t-\tstop\t-\n"
	       "run\t--backend\t-\tNAME\tnotice accesses so\tauto perf ptrace\n");
}

static void no_memory_is_an_error(void **state)
{
	struct error *err = error_nomem;

	(void)state;
	for (int n = 0; err; n++) {
		struct sample sample = { 0 };
		char rest[256];

		allocations = n;
		err = parse_with(&table, "run --include a -q x", &sample, rest);
		allocations = -1;
		if (err)
			assert_ptr_equal(err, error_nomem);
		else
			assert_true(n >= 3);
		assert_true(n < 100);
		options_release(&table, &sample);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_sets_its_member),
		cmocka_unit_test(what_is_not_given_has_its_default),
		cmocka_unit_test(groups_set_members_of_their_own_structures),
		cmocka_unit_test(words_of_several_options_keep_their_order),
		cmocka_unit_test(values_are_checked_by_their_row),
		cmocka_unit_test(percentages_may_have_a_fraction),
		cmocka_unit_test(lists_keep_every_value_in_order),
		cmocka_unit_test(short_forms_and_the_last_of_two_count),
		cmocka_unit_test(leading_options_end_at_the_first_operand),
		cmocka_unit_test(two_dashes_end_the_options),
		cmocka_unit_test(elsewhere_options_may_follow_operands),
		cmocka_unit_test(mistakes_name_the_option),
		cmocka_unit_test(bad_values_are_named),
		cmocka_unit_test(help_is_made_of_the_table),
		cmocka_unit_test(dump_has_a_line_for_each_option),
		cmocka_unit_test(no_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

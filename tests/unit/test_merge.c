/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/report/merge.c, and what it is made of (combine.c, totals.c): the same
 * bytes come out whatever the order, the grouping and the memory.
 */
#include "report/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/rng.h"
#include "judge/rank.h"
#include "report/combine.h"
#include "report/field.h"
#include "report/read.h"
#include "report/render.h"
#include "report/totals.h"
#include "sample-race.h"

enum { RUNS = 12, KINDS = 30, FIRST_MEMORY = 16 << 20 };

#define TIME UINT64_C(1769862896000000000)

static const char *pick(struct rng *rng, const char *const *words, uint64_t n)
{
	return words[rng_below(rng, n)];
}

/* A race of one of the kinds, whose other members vary. */
static void vary_race(struct race *race, struct rng *rng)
{
	static const char *const reasons[] = { NULL, "b", "a",
					       RACE_REPLAY_SAME_NAME };
	static const char *const rules[] = { NULL, "race:x", "race:y" };
	static const char *const hosts[] = { "alpha", "beta", "gamma" };
	uint64_t kind = rng_below(rng, KINDS);
	struct race_frame *top;
	char name[24];

	sample_race(race);
	if (rng_below(rng, 4) == 0)
		sample_more(race);
	snprintf(name, sizeof(name), "kind%d", (int)kind);
	top = vec_at(&race->sides[0].frames, 0);
	sample_set(&top->function, name);
	top->line = (int)rng_below(rng, 3);
	if (rng_below(rng, 2))
		sample_frame(&race->sides[1], NULL, 0, 0x999);
	for (int i = 0; i < 2 && kind % 2; i++) {
		race->sides[i].access = i ? ACCESS_WRITE : ACCESS_READ;
		race->sides[i].address = race->address;
		sample_set(&race->sides[i].insn, "movq %rax, (%rbx)");
		race->sides[i].missing = (unsigned int)rng_below(rng, 9) ? 1
									 : 0;
		race->sides[i].missing *= 1 + (unsigned int)rng_below(rng, 2);
	}
	race->size = rng_below(rng, 4) ? 8 : 4;
	race->time = TIME + rng_below(rng, 100) * 1000;
	race->last_time = race->time + rng_below(rng, 100) * 1000;
	race->elapsed_ns = rng_below(rng, 2) * 1000;
	race->count = rng_below(rng, 50);
	race->verdict = (enum race_verdict)rng_below(rng, 4);
	race->status = (enum race_status)rng_below(rng, 3);
	race->runs = rng_below(rng, 3);
	sample_set(&race->reason, pick(rng, reasons, 4));
	sample_set(&race->suppressed.rule, pick(rng, rules, 3));
	race->values.count = 0;
	for (uint64_t i = rng_below(rng, 12); i > 0; i--) {
		uint8_t before[X86_ACCESS_MAX] = { 0 };
		uint8_t after[X86_ACCESS_MAX] = { 0 };

		before[0] = (uint8_t)rng_below(rng, 5);
		after[1] = (uint8_t)rng_below(rng, 5);
		assert_true(race_add_values(race, before, after,
					    rng_below(rng, 9)));
	}
	for (uint64_t i = rng_below(rng, 3); i > 0; i--) {
		sample_replays(race, (int)rng_below(rng, 3), NULL);
		sample_replays(race, (int)rng_below(rng, 2), "rdtsc");
		if (rng_below(rng, 2))
			sample_change(race, name,
				      rng_below(rng, 2) ? "total" : NULL);
		if (rng_below(rng, 4) == 0)
			sample_fault(race);
	}
	if (rng_below(rng, 3) == 0)
		assert_null(race_add_host(race, pick(rng, hosts, 3)));
	assert_true(race_fingerprint(race));
}

static void write_races(struct renderer *json, struct rng *rng,
			struct crash *crash)
{
	uint64_t count = rng_below(rng, 40);

	for (uint64_t id = 1; id <= count; id++) {
		struct race race;

		vary_race(&race, rng);
		race.id = id;
		race.count = 1;
		if (rng_below(rng, 2))
			assert_null(json->ops->race(json, &race));
		race.count = rng_below(rng, 100);
		assert_null(json->ops->race(json, &race));
		if (rng_below(rng, 10) == 0) {
			struct crash_race *named = vec_append(&crash->races);

			assert_non_null(named);
			named->id = id;
			memcpy(named->fingerprint, race.fingerprint,
			       sizeof(named->fingerprint));
		}
		race_deinit(&race);
	}
}

/* A whole run, or one that was cut short. */
static char *make_run(uint64_t seed)
{
	static const char *const command[] = { "./cache", NULL };
	struct run_module modules[] = {
		{ "/usr/bin/cache", "00aa", 0x1000 * seed },
		{ "/lib/libc.so.6", "00bb", 0 },
		{ seed % 2 ? "/lib/x.so" : "/lib/y.so", NULL, 0x7000 },
	};
	struct run_coverage coverage = { "/usr/bin/cache", seed, 17 };
	struct run_at at[] = {
		{ "f.c:1", seed % 2, seed, seed % 2 ? NULL : "it ended" },
		{ "g", 0, 0, seed % 3 ? "no such function" : "it ended" },
	};
	struct run_record run = {
		.version = "0.1.0",
		.command = command,
		.host = seed % 3 ? "alpha" : "delta",
		.backend = "perf",
		.seed = seed,
		.start = TIME + seed * 1000,
		.modules = modules,
		.module_count = 3,
	};
	struct renderer json = { .ops = &render_json };
	struct run_summary summary = {
		.stats.samples = seed,
		.sites_sampled = 100 - seed,
		.elapsed_ns = 1234567890 * seed + seed,
		.stats.stalled_ns = 7777777,
		.cpu_ns = 1111111 * seed,
		.stats.stops = seed,
		.budget_pct = seed % 3 ? 2 : 40,
		.overhead_pct = (double)seed / 7,
		.start_pct = (double)seed / 80,
		.stops_pct = (double)seed / 70,
		.computing_pct = (double)seed / 77,
		.stats.stalled = seed,
		.stats.threads_most = seed % 5,
		.stats.unwatched = seed,
		.sampling = { .known = true,
			      .own = seed / 2,
			      .sites_sampled_own = 50 - seed % 50,
			      .proves_nothing = seed < 2 },
		.unsampled = { seed < 2 ? "alone" : NULL,
			       seed < 2 ? "no other thread" : NULL },
		.backend = "perf",
		.coverage = &coverage,
		.coverage_count = 1,
		.at = at,
		.at_count = 2,
		.exit_status = seed % 2 ? 66 : 0,
	};
	struct crash crash;
	char *text = NULL;
	size_t size = 0;
	struct rng rng;

	rng_init(&rng, seed);
	crash_init(&crash);
	crash.time = TIME + seed / 2;
	crash.signal = 11;
	json.out = open_memstream(&text, &size);
	assert_non_null(json.out);
	assert_null(json.ops->run(&json, &run));
	write_races(&json, &rng, &crash);
	if (seed % 4 == 0)
		assert_null(json.ops->crash(&json, &crash));
	if (seed % 5)
		assert_null(json.ops->summary(&json, &summary));
	fclose(json.out);
	crash_deinit(&crash);
	return text;
}

static void add_text(struct merge *merge, const char *text)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct reader *reader;
	struct error *err;

	assert_non_null(file);
	assert_null(reader_create(file, "run", &reader));
	err = merge_add_all(merge, reader);
	if (err)
		fail_msg("%s", error_message(err));
	reader_close(reader);
	fclose(file);
}

/* What comes out; the caller frees it. */
static char *result(struct merge *merge)
{
	struct renderer json = { .ops = &render_json };
	struct report_record record;
	char *text = NULL;
	size_t size = 0;
	bool more = true;

	report_record_init(&record);
	assert_null(merge_rewind(merge));
	json.out = open_memstream(&text, &size);
	assert_non_null(json.out);
	do {
		assert_null(merge_next(merge, &record, &more));
		if (more)
			assert_null(render_record(&json, &record));
	} while (more);
	fclose(json.out);
	report_record_deinit(&record);
	return text;
}

static char *merge_all(char *const *texts, const size_t *order, size_t count,
		       uint64_t memory, struct error *(*judge)(struct race *))
{
	struct merge *merge;
	char *text;

	assert_null(merge_create(memory, &merge));
	merge_judge(merge, judge);
	for (size_t i = 0; i < count; i++)
		add_text(merge, texts[order ? order[i] : i]);
	text = result(merge);
	merge_destroy(merge);
	return text;
}

/* Merge texts[order[0..count-1]]; the caller frees the result. */
static char *merge_texts(char *const *texts, const size_t *order, size_t count,
			 uint64_t memory)
{
	return merge_all(texts, order, count, memory, NULL);
}

/* The same, judged anew; there is room for all of it. */
static char *merge_judged(char *const *texts, const size_t *order, size_t count)
{
	return merge_all(texts, order, count, FIRST_MEMORY, rank_merged);
}

struct runs {
	char *texts[RUNS];
	char *merged, *judged;
};

static int make_runs(void **state)
{
	struct runs *runs = calloc(1, sizeof(*runs));

	assert_non_null(runs);
	for (size_t i = 0; i < RUNS; i++)
		runs->texts[i] = make_run(i + 1);
	runs->merged = merge_texts(runs->texts, NULL, RUNS, FIRST_MEMORY);
	runs->judged = merge_judged(runs->texts, NULL, RUNS);
	*state = runs;
	return 0;
}

static int free_runs(void **state)
{
	struct runs *runs = *state;

	for (size_t i = 0; i < RUNS; i++)
		free(runs->texts[i]);
	free(runs->merged);
	free(runs->judged);
	free(runs);
	return 0;
}

static void shuffle(size_t *order, size_t count, struct rng *rng)
{
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count; i > 1; i--) {
		size_t j = rng_below(rng, i), moved = order[j];

		order[j] = order[i - 1];
		order[i - 1] = moved;
	}
}

static void order_does_not_matter(void **state)
{
	struct runs *runs = *state;
	size_t order[RUNS];
	struct rng rng;

	rng_init(&rng, 7);
	for (int round = 0; round < 20; round++) {
		char *text;

		shuffle(order, RUNS, &rng);
		text = merge_texts(runs->texts, order, RUNS, FIRST_MEMORY);
		assert_string_equal(text, runs->merged);
		free(text);
		text = merge_judged(runs->texts, order, RUNS);
		assert_string_equal(text, runs->judged);
		free(text);
	}
}

static void memory_does_not_matter(void **state)
{
	static const uint64_t memories[] = { 1, 10000, 40000, 150000 };
	struct runs *runs = *state;

	for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++) {
		char *text = merge_texts(runs->texts, NULL, RUNS, memories[i]);

		assert_string_equal(text, runs->merged);
		free(text);
	}
}

static void what_was_merged_is_merged_again(void **state)
{
	struct runs *runs = *state;
	size_t order[RUNS];
	struct rng rng;

	rng_init(&rng, 8);
	for (size_t split = 2; split + 1 < RUNS; split++) {
		char *parts[2], *text;

		shuffle(order, RUNS, &rng);
		parts[0] = merge_texts(runs->texts, order, split, 50000);
		parts[1] = merge_texts(runs->texts, order + split, RUNS - split,
				       50000);
		text = merge_texts(parts, NULL, 2, FIRST_MEMORY);
		assert_string_equal(text, runs->merged);
		free(text);
		free(parts[0]);
		free(parts[1]);
		parts[0] = merge_judged(runs->texts, order, split);
		parts[1] =
			merge_judged(runs->texts, order + split, RUNS - split);
		text = merge_judged(parts, NULL, 2);
		assert_string_equal(text, runs->judged);
		free(parts[0]);
		free(parts[1]);
		free(text);
	}
}

static void one_run_comes_out_as_it_was(void **state)
{
	static const char last[] = "{\"type\":\"race\",\"id\":2,";
	struct runs *runs = *state;
	char *text = merge_texts(runs->texts, NULL, 1, FIRST_MEMORY);
	char *spilled = merge_texts(runs->texts, NULL, 1, 1);
	const char *from = runs->texts[0], *line = NULL;
	size_t length;

	/* each race once, in the last form that was written */
	while ((from = strstr(from, last)) != NULL)
		line = from++;
	assert_non_null(line);
	length = (size_t)(strchr(line, '\n') - line);
	from = strstr(text, last);
	assert_non_null(from);
	assert_memory_equal(from, line, length);
	assert_null(strstr(from + 1, last));
	assert_string_equal(text, spilled);
	/* and so again */
	free(spilled);
	spilled = merge_texts(&text, NULL, 1, FIRST_MEMORY);
	assert_string_equal(text, spilled);
	free(spilled);
	free(text);
}

static void runs_and_lost_summaries_are_counted(void **state)
{
	struct runs *runs = *state;
	struct merge *merge;

	assert_null(merge_create(FIRST_MEMORY, &merge));
	for (size_t i = 0; i < RUNS; i++)
		add_text(merge, runs->texts[i]);
	assert_int_equal(merge_runs(merge), RUNS);
	assert_int_equal(merge_cut_runs(merge), 2);
	merge_destroy(merge);
	assert_non_null(strstr(runs->merged,
			       "\"runs\":12,"
			       "\"hosts\":[\"alpha\",\"delta\"]"));
	/* where it lay differs */
	assert_non_null(strstr(runs->merged,
			       "{\"path\":\"/usr/bin/cache\","
			       "\"build_id\":\"00aa\",\"base\":\"0x0\"}"));
	assert_non_null(strstr(runs->merged, "\"samples\":63,"));
}

static void combine_samples(struct race *a, struct race *b)
{
	struct error *err = race_combine(a, b);

	if (err)
		fail_msg("%s", error_message(err));
	race_deinit(b);
}

static void counts_are_added_and_the_worst_is_kept(void **state)
{
	struct race a, b;

	(void)state;
	sample_race(&a);
	sample_race(&b);
	sample_more(&b);
	a.changed[0] = 0x50;
	b.changed[0] = 0x11;
	a.verdict = VERDICT_UNLIKELY;
	sample_set(&a.reason, "disjoint-bits");
	b.verdict = VERDICT_SUSPECT;
	b.count = UINT64_MAX - 1;
	b.time -= 5000;
	assert_null(race_add_host(&a, "aardvark"));
	assert_null(race_add_host(&a, "alpha"));
	combine_samples(&a, &b);
	assert_int_equal(a.count, UINT64_MAX);
	assert_int_equal(a.runs, 3);
	assert_int_equal(a.changed[0], 0x51);
	assert_int_equal(a.hosts.count, 3);
	assert_string_equal(*(char **)vec_at(&a.hosts, 0), "aardvark");
	assert_string_equal(*(char **)vec_at(&a.hosts, 2), "beta");
	assert_int_equal(a.verdict, VERDICT_SUSPECT);
	assert_null(a.reason);
	/* one was known by nothing */
	assert_int_equal(a.status, STATUS_UNSET);
	assert_int_equal(a.time, UINT64_C(1769862896789007345));
	race_deinit(&a);
}

/* A run with one race, and so many instances of it; the caller frees it. */
static char *replayed_run(int same, bool changes)
{
	const struct run_record run = { .version = "0.1.0", .start = TIME };
	struct renderer json = { .ops = &render_json };
	struct race race;
	char *text = NULL;
	size_t size = 0;

	sample_race(&race);
	race.id = 1;
	race.verdict = VERDICT_SUSPECT;
	sample_set(&race.reason, NULL);
	sample_replays(&race, same, NULL);
	if (changes)
		sample_change(&race, "used", NULL);
	assert_true(race_fingerprint(&race));
	json.out = open_memstream(&text, &size);
	assert_non_null(json.out);
	assert_null(json.ops->run(&json, &run));
	assert_null(json.ops->race(&json, &race));
	fclose(json.out);
	race_deinit(&race);
	return text;
}

static void merged_is(char *const *texts, size_t count, const char *verdict)
{
	char *text = merge_judged(texts, NULL, count);

	if (!strstr(text, verdict))
		fail_msg("no %s in %s", verdict, text);
	free(text);
}

/* Seven instances are too few, and twice as many are enough. */
static void replays_of_all_runs_are_judged_anew(void **state)
{
	static const char suspect[] = "\"verdict\":\"suspect\"";
	static const char unlikely[] =
		"\"verdict\":\"unlikely\",\"reason\":\"no-state-change\"";
	char *runs[] = { replayed_run(7, false), replayed_run(7, false),
			 replayed_run(7, true) };
	char *again[2];

	(void)state;
	merged_is(runs, 1, suspect);
	merged_is(runs, 2, unlikely);
	merged_is(runs, 3, suspect);
	/* as it was merged before, and with one that speaks against it */
	again[0] = merge_judged(runs, NULL, 2);
	again[1] = runs[2];
	merged_is(again, 1, unlikely);
	merged_is(again, 2, suspect);
	free(again[0]);
	for (int i = 0; i < 3; i++)
		free(runs[i]);
}

/* The summaries of two runs with one --at, as JSON. */
static void places_are(const struct run_at *one, const struct run_at *two,
		       const char *expected)
{
	const struct run_at *places[] = { one, two };

	for (int first = 0; first < 2; first++) {
		struct totals totals;
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		assert_non_null(out);
		totals_init(&totals);
		for (int i = 0; i < 2; i++) {
			const struct run_summary summary = {
				.at = places[i ^ first],
				.at_count = 1,
			};

			assert_null(totals_add_summary(&totals, &summary));
		}
		assert_null(
			fields_write(&summary_fields, &totals.summary, out));
		fclose(out);
		assert_non_null(strstr(text, expected));
		free(text);
		totals_deinit(&totals);
	}
}

static void a_place_has_a_problem_if_no_run_found_it(void **state)
{
	const struct run_at ended = { "g", 0, 0, NULL };
	const struct run_at missed = { "g", 0, 0, "no such function" };
	const struct run_at found = { "g", 2, 1, NULL };

	(void)state;
	places_are(&missed, &found,
		   "\"sites\":2,\"samples\":1,"
		   "\"problem\":null");
	/* the other run has not looked for it */
	places_are(&missed, &ended, "\"problem\":\"no such function\"");
}

static void the_shortest_stacks_are_kept(void **state)
{
	for (int swapped = 0; swapped < 2; swapped++) {
		struct race races[2];

		(void)state;
		sample_race(&races[0]);
		sample_race(&races[1]);
		sample_frame(&races[0].sides[1], "main", 50, 0x1300);
		races[1].address = 0x1234;
		combine_samples(&races[swapped], &races[!swapped]);
		assert_int_equal(races[swapped].address, 0x1234);
		assert_int_equal(races[swapped].sides[1].frames.count, 2);
		race_deinit(&races[swapped]);
	}
}

static void synchronization_and_suppressed_are_other_kinds(void **state)
{
	uint8_t one[COMBINE_KEY_SIZE], two[COMBINE_KEY_SIZE];
	struct race race;

	(void)state;
	sample_race(&race);
	assert_null(race_key(&race, one));
	assert_int_equal(strlen(race.fingerprint), 32);
	race.verdict = VERDICT_HARMFUL;
	assert_null(race_key(&race, two));
	assert_memory_equal(one, two, sizeof(one));
	race.verdict = VERDICT_SYNC;
	assert_null(race_key(&race, two));
	assert_memory_not_equal(one, two, sizeof(one));
	race.verdict = VERDICT_SUSPECT;
	sample_set(&race.suppressed.rule, "race:x");
	assert_null(race_key(&race, two));
	assert_memory_not_equal(one, two, sizeof(one));
	race_deinit(&race);
}

static bool are_one_kind(struct race *a, struct race *b)
{
	uint8_t one[COMBINE_KEY_SIZE], two[COMBINE_KEY_SIZE];

	assert_null(race_key(a, one));
	assert_null(race_key(b, two));
	return memcmp(one, two, sizeof(one)) == 0;
}

/* By a hunt; elsewhere all lines of a function are one. */
static void provoked_races_are_told_apart_by_lines_and_blocks(void **state)
{
	struct race_frame *called;
	struct race one, two;

	(void)state;
	sample_race(&one);
	sample_race(&two);
	((struct race_frame *)vec_at(&two.sides[0].frames, 0))->line++;
	assert_true(are_one_kind(&one, &two));
	one.evidence = two.evidence = EVIDENCE_PROVOKED;
	assert_false(are_one_kind(&one, &two));
	((struct race_frame *)vec_at(&two.sides[0].frames, 0))->line--;
	assert_true(are_one_kind(&one, &two));
	called = vec_append(&two.recorded.block.allocated);
	assert_non_null(called);
	sample_set(&called->file, "pool.c");
	called->line = 7;
	assert_false(are_one_kind(&one, &two));
	race_deinit(&one);
	race_deinit(&two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			provoked_races_are_told_apart_by_lines_and_blocks),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(memory_does_not_matter),
		cmocka_unit_test(what_was_merged_is_merged_again),
		cmocka_unit_test(one_run_comes_out_as_it_was),
		cmocka_unit_test(runs_and_lost_summaries_are_counted),
		cmocka_unit_test(counts_are_added_and_the_worst_is_kept),
		cmocka_unit_test(replays_of_all_runs_are_judged_anew),
		cmocka_unit_test(a_place_has_a_problem_if_no_run_found_it),
		cmocka_unit_test(the_shortest_stacks_are_kept),
		cmocka_unit_test(
			synchronization_and_suppressed_are_other_kinds),
	};

	return cmocka_run_group_tests(tests, make_runs, free_runs);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/report/target-record.c: what is said of targets, and how reports of them
 * are merged.
 */
#include "report/target-record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "report/merge.h"
#include "report/record.h"
#include "report/render.h"
#include "sample-target.h"

/* reached: that many executions; 0: as many as usual */
static void is_said_of(uint64_t reached, unsigned int result,
		       const char *expected)
{
	struct target_record record;
	struct strbuf line = { 0 };

	target_record_init(&record);
	sample_target(&record, result);
	if (reached > 0)
		record.outcome.reached = reached;
	target_say_outcome(&line, &record);
	assert_string_equal(strbuf_text(&line), expected);
	strbuf_deinit(&line);
	target_record_deinit(&record);
}

static void is_said(unsigned int result, const char *expected)
{
	is_said_of(0, result, expected);
}

static void each_outcome_is_said(void **state)
{
	(void)state;
	is_said(TARGET_PENDING, "pending in 2 runs");
	is_said(TARGET_PROVOKED, "provoked: race "
				 "4c1f5dc13c24409f7bb0105291fc0a06 in 2 runs");
	is_said(TARGET_ORDERED, "ordered by a mutex in 2 runs");
	is_said(TARGET_UNREACHED, "unreached: 2 of 4 executions in 2 runs");
	is_said_of(4, TARGET_UNREACHED,
		   "unreached: 4 of 4 executions, but only while no thread "
		   "could be held there, in 2 runs");
	is_said(TARGET_TIMEOUT, "timeout: held 45.0 ms in 2 runs");
	is_said(TARGET_UNCHANGED, "unchanged in 2 runs");
}

static void a_side_is_said(void **state)
{
	struct hunt_side side;
	struct strbuf line = { 0 };

	(void)state;
	hunt_side_init(&side);
	sample_hunt_side(&side, 1);
	target_say_side(&line, &side);
	assert_string_equal(strbuf_text(&line),
			    "thread 0.0 WRITES 8 bytes, shards[3].used, at "
			    "cache+0x1179 (shard_add), execution 4");
	strbuf_clear(&line);
	sample_set(&side.thread_path, NULL);
	sample_set(&side.variable, NULL);
	sample_set(&side.function, NULL);
	side.writes = false;
	side.size = 1;
	target_say_side(&line, &side);
	assert_string_equal(strbuf_text(&line),
			    "any thread READS 1 byte at cache+0x1179, "
			    "execution 4");
	strbuf_deinit(&line);
	hunt_side_deinit(&side);
}

static void a_partner_is_said(void **state)
{
	struct hunt_side side;
	struct hunt_partner *partner;
	struct strbuf line = { 0 };

	(void)state;
	hunt_side_init(&side);
	sample_hunt_side(&side, 1);
	partner = vec_at(&side.partners, 0);
	target_say_partner(&line, partner);
	assert_string_equal(strbuf_text(&line),
			    "thread 0.1 WRITES 4 bytes at cache+0x1216 "
			    "(shard_evict)");
	strbuf_clear(&line);
	sample_set(&partner->function, NULL);
	partner->writes = false;
	partner->syscall = true;
	target_say_partner(&line, partner);
	assert_string_equal(strbuf_text(&line),
			    "thread 0.1 READS 4 bytes in a system call at "
			    "cache+0x1216");
	strbuf_deinit(&line);
	hunt_side_deinit(&side);
}

static void words_are_parsed(void **state)
{
	unsigned int result = 99;

	(void)state;
	for (unsigned int i = 0; i < TARGET_RESULTS; i++) {
		assert_true(
			target_result_parse(target_result_name(i), &result));
		assert_int_equal(result, i);
	}
	assert_false(target_result_parse("met", &result));
	assert_string_equal(target_result_name(TARGET_RESULTS), "unknown");
}

/* A run with a target of that number, fingerprint and result. */
static void add_run(struct merge *merge, uint64_t id, char digit,
		    unsigned int result)
{
	struct report_record record;

	report_record_init(&record);
	record.type = REPORT_TARGET;
	sample_target(&record.target, result);
	record.target.side.id = id;
	record.target.side.fingerprint[0] = digit;
	assert_null(merge_add(merge, &record));
	report_record_deinit(&record);
}

/* "id fingerprint's-first-digit outcome; ..." */
static void come_out(struct merge *merge, const char *expected)
{
	struct report_record record;
	struct strbuf line = { 0 };
	bool more = true;

	report_record_init(&record);
	assert_null(merge_rewind(merge));
	assert_null(merge_next(merge, &record, &more));
	while (more) {
		const struct target_record *target = &record.target;

		assert_int_equal(record.type, REPORT_TARGET);
		strbuf_addf(&line, "%d %c %s; ", (int)target->side.id,
			    target->side.fingerprint[0],
			    target_result_name(target->outcome.result));
		assert_null(merge_next(merge, &record, &more));
	}
	assert_string_equal(strbuf_text(&line), expected);
	strbuf_deinit(&line);
	report_record_deinit(&record);
}

static void one_report_comes_out_by_id(void **state)
{
	struct merge *merge;

	(void)state;
	assert_null(merge_create(MERGE_MEMORY, &merge));
	add_run(merge, 2, '1', TARGET_TIMEOUT);
	add_run(merge, 1, '2', TARGET_ORDERED);
	add_run(merge, 3, '0', TARGET_PROVOKED);
	come_out(merge, "1 2 ordered; 2 1 timeout; 3 0 provoked; ");
	/* once more from the beginning */
	come_out(merge, "1 2 ordered; 2 1 timeout; 3 0 provoked; ");
	merge_destroy(merge);
}

static void reports_are_merged_in_any_order(void **state)
{
	(void)state;
	for (int order = 0; order < 2; order++) {
		struct merge *merge;

		assert_null(merge_create(MERGE_MEMORY, &merge));
		for (int i = 0; i < 2; i++) {
			bool first = i == order;

			add_run(merge, 1, 'a',
				first ? TARGET_TIMEOUT : TARGET_PROVOKED);
			add_run(merge, 2, 'b',
				first ? TARGET_ORDERED : TARGET_PENDING);
			merge_end_file(merge);
		}
		assert_int_equal(merge_runs(merge), 2);
		come_out(merge, "1 a provoked; 2 b ordered; ");
		merge_destroy(merge);
	}
}

static void text_has_a_line_for_each(void **state)
{
	struct renderer renderer = { .ops = &render_text };
	struct report_record record;
	char *text = NULL;
	size_t size = 0;

	(void)state;
	report_record_init(&record);
	record.type = REPORT_TARGET;
	sample_target(&record.target, TARGET_TIMEOUT);
	renderer.out = open_memstream(&text, &size);
	assert_non_null(renderer.out);
	assert_null(render_record(&renderer, &record));
	fclose(renderer.out);
	assert_string_equal(text,
			    "racewatch: target #7: thread 0.0 WRITES 8 bytes, "
			    "shards[3].used, at cache+0x1179 (shard_add), "
			    "execution 4: timeout: held 45.0 ms in 2 runs\n");
	free(text);
	report_record_deinit(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_outcome_is_said),
		cmocka_unit_test(a_side_is_said),
		cmocka_unit_test(a_partner_is_said),
		cmocka_unit_test(words_are_parsed),
		cmocka_unit_test(one_report_comes_out_by_id),
		cmocka_unit_test(reports_are_merged_in_any_order),
		cmocka_unit_test(text_has_a_line_for_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sweep/journal.c: records are read as they were written, and nothing else
 * is taken for one.
 */
#include "sweep/journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strbuf.h"

/* Write and read again; the first is ended. */
static void there_and_back(struct journal_record *record,
			   struct journal_record *ret)
{
	struct strbuf line = { 0 };

	assert_null(journal_write(record, &line));
	assert_int_equal(line.text[line.length - 1], '\n');
	assert_ptr_equal(strchr(line.text, '\n'), line.text + line.length - 1);
	journal_record_init(ret);
	assert_null(journal_parse(line.text, line.length - 1, ret));
	strbuf_deinit(&line);
}

static void the_header_has_the_command(void **state)
{
	char *command[] = { "./a b", "", "{seed}", "\"quoted\"\n", NULL };
	struct journal_record record, read;

	(void)state;
	journal_record_init(&record);
	record.type = JOURNAL_SWEEP;
	record.command = command;
	record.seed = 5;
	record.time = 1700000000 * CLOCK_NS_PER_S;
	there_and_back(&record, &read);
	assert_int_equal(read.type, JOURNAL_SWEEP);
	assert_int_equal(read.seed, 5);
	assert_int_equal(read.time, record.time);
	for (int i = 0; i < 4; i++)
		assert_string_equal(read.command[i], command[i]);
	assert_null(read.command[4]);
	journal_record_deinit(&read);
}

static void a_claim(void **state)
{
	struct journal_record record, read;

	(void)state;
	journal_record_init(&record);
	record.type = JOURNAL_CLAIM;
	record.run = 17;
	record.seed = UINT64_MAX;
	strcpy(record.plan, "rate=1 stall=1ms");
	record.worker = strdup("host:1");
	there_and_back(&record, &read);
	assert_int_equal(read.type, JOURNAL_CLAIM);
	assert_int_equal(read.run, 17);
	assert_int_equal(read.seed, UINT64_MAX);
	assert_string_equal(read.plan, "rate=1 stall=1ms");
	assert_string_equal(read.worker, "host:1");
	journal_record_deinit(&record);
	journal_record_deinit(&read);
}

static void add_race(struct journal_record *record, const char *fingerprint,
		     bool minor)
{
	struct finding *finding = vec_append(&record->findings.races);

	assert_non_null(finding);
	strcpy(finding->fingerprint, fingerprint);
	finding->minor = minor;
	finding->what = strdup("x: f against g");
}

static void the_end_of_a_run(void **state)
{
	struct journal_record record, read;
	const struct finding *finding;

	(void)state;
	journal_record_init(&record);
	record.type = JOURNAL_DONE;
	record.run = 3;
	record.seed = 4;
	record.outcome = (struct outcome){ .kind = OUTCOME_TIMED_OUT,
					   .status = 124,
					   .unsampled = true,
					   .left = 2,
					   .away = 1,
					   .output_cut = true,
					   .output_lost = true };
	record.elapsed_ns = 1500 * CLOCK_NS_PER_MS;
	record.findings.samples = 12;
	record.findings.sites = 8;
	record.findings.unsampled_reason = strdup("one-thread");
	record.findings.unsampled_text = strdup("one thread");
	record.findings.unmatched = strdup("--at x: no such");
	record.directory = strdup("/d/run-000003");
	record.note = strdup("what it said");
	add_race(&record, "0123456789abcdef0123456789abcdef", true);
	add_race(&record, "ffffffffffffffffffffffffffffffff", false);
	there_and_back(&record, &read);
	assert_int_equal(read.outcome.kind, OUTCOME_TIMED_OUT);
	assert_int_equal(read.outcome.status, 124);
	assert_true(read.outcome.unsampled && read.outcome.output_cut &&
		    read.outcome.output_lost);
	assert_int_equal(read.outcome.left, 2);
	assert_int_equal(read.outcome.away, 1);
	assert_int_equal(read.elapsed_ns, record.elapsed_ns);
	assert_int_equal(read.findings.samples, 12);
	assert_int_equal(read.findings.sites, 8);
	assert_string_equal(read.findings.unsampled_reason, "one-thread");
	assert_string_equal(read.findings.unsampled_text, "one thread");
	assert_string_equal(read.findings.unmatched, "--at x: no such");
	assert_string_equal(read.directory, "/d/run-000003");
	assert_string_equal(read.note, "what it said");
	assert_int_equal(read.findings.races.count, 2);
	finding = vec_at(&read.findings.races, 0);
	assert_string_equal(finding->fingerprint,
			    "0123456789abcdef0123456789abcdef");
	assert_true(finding->minor);
	assert_string_equal(finding->what, "x: f against g");
	finding = vec_at(&read.findings.races, 1);
	assert_false(finding->minor);
	journal_record_deinit(&record);
	journal_record_deinit(&read);
}

/* Of a later version. */
static void other_types_are_passed_over(void **state)
{
	static const char line[] = "{\"type\":\"weather\",\"run\":\"rain\"}";
	struct journal_record record;

	(void)state;
	journal_record_init(&record);
	assert_null(journal_parse(line, strlen(line), &record));
	assert_int_equal(record.type, JOURNAL_OTHER);
	journal_record_deinit(&record);
}

static void what_is_wrong_is_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"{",
		"[]",
		"\"claim\"",
		"{\"type\":\"claim\",\"run\":1,\"seed\":1,\"plan\":\"x\"",
		"{\"run\":1}",
		"{\"type\":7}",
		"{\"type\":\"claim\"}",
		"{\"type\":\"claim\",\"run\":0}",
		"{\"type\":\"claim\",\"run\":-1}",
		"{\"type\":\"done\",\"run\":1,\"outcome\":\"good\"}",
		"{\"type\":\"done\",\"run\":1,\"exit\":256}",
		"{\"type\":\"done\",\"run\":1,\"races\":[7]}",
		"{\"type\":\"done\",\"run\":1,\"races\":{}}",
		"{\"type\":\"sweep\",\"schema\":2,\"command\":[]}",
		"{\"type\":\"sweep\",\"schema\":1,\"command\":[1]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct journal_record record;
		struct error *err;

		journal_record_init(&record);
		err = journal_parse(lines[i], strlen(lines[i]), &record);
		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_FORMAT);
		assert_int_equal(record.type, JOURNAL_OTHER);
		error_free(err);
		journal_record_deinit(&record);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_has_the_command),
		cmocka_unit_test(a_claim),
		cmocka_unit_test(the_end_of_a_run),
		cmocka_unit_test(other_types_are_passed_over),
		cmocka_unit_test(what_is_wrong_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/report/read.c: lines of a file, whole, cut short, too long, and not of a
 * report.
 */
#include "report/read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

#define RUN "{\"type\":\"run\",\"schema\":1}\n"
/* What a race cannot do without. */
#define RACE_MEMBERS                                                  \
	"\"type\":\"race\",\"id\":1,\"fingerprint\":\"0a\","          \
	"\"evidence\":\"collision\",\"address\":\"0x10\",\"size\":4," \
	"\"sides\":[{\"role\":\"stalled\"},{\"role\":\"unknown\"}],"  \
	"\"count\":2,\"verdict\":\"suspect\""
#define RACE "{" RACE_MEMBERS "}\n"
#define SUMMARY                                                      \
	"{\"type\":\"summary\",\"races\":1,\"new\":1,\"samples\":3," \
	"\"exit\":66}\n"

struct outcome {
	int records;
	int races;
	bool cut;
	struct error *err;
};

/* Give stderr back: was it said there that a line is cut short? */
static bool saved_warning(int saved, int warnings)
{
	char text[1024] = "";

	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	assert_true(pread(warnings, text, sizeof(text) - 1, 0) >= 0);
	close(saved);
	close(warnings);
	return strstr(text, "is cut short");
}

/* Read it all from memory; the caller frees the error. */
static struct outcome read_all(const char *text, size_t size)
{
	int saved = dup(STDERR_FILENO);
	int warnings = memfd_create("warnings", 0);
	struct outcome outcome = { 0 };
	struct report_record record;
	struct reader *reader;
	bool more = true;
	FILE *file = fmemopen((void *)(uintptr_t)text, size, "r");

	assert_non_null(file);
	assert_null(reader_create(file, "x.jsonl", &reader));
	report_record_init(&record);
	assert_true(saved >= 0 && warnings >= 0);
	assert_true(dup2(warnings, STDERR_FILENO) >= 0);
	do {
		outcome.err = reader_next(reader, &record, &more);
		if (outcome.err || !more)
			break;
		outcome.records++;
		outcome.races += record.type == REPORT_RACE;
	} while (true);
	outcome.cut = saved_warning(saved, warnings);
	report_record_deinit(&record);
	reader_close(reader);
	fclose(file);
	return outcome;
}

static void read_ok(const char *text, int records, bool cut)
{
	struct outcome outcome = read_all(text, strlen(text));

	if (outcome.err)
		fail_msg("%s", error_message(outcome.err));
	assert_int_equal(outcome.records, records);
	assert_int_equal(outcome.cut, cut);
}

static void read_fails(const char *text, int records, const char *message)
{
	struct outcome outcome = read_all(text, strlen(text));

	assert_non_null(outcome.err);
	assert_int_equal(outcome.err->kind, ERROR_FORMAT);
	assert_int_equal(outcome.records, records);
	if (!strstr(error_message(outcome.err), message))
		fail_msg("'%s' does not say '%s'", error_message(outcome.err),
			 message);
	error_free(outcome.err);
}

static void records_come_in_order(void **state)
{
	(void)state;
	read_ok(RUN RACE SUMMARY, 3, false);
	read_ok(RUN "\n \r\n" RACE "{\"type\":\"new\"}\n" SUMMARY, 3, false);
	read_ok("\n", 0, false);
	/* an editor's file, without the last newline */
	read_ok(RUN "{" RACE_MEMBERS "}", 2, false);
}

static void a_last_line_cut_short_loses_nothing_else(void **state)
{
	static const char text[] = RUN RACE SUMMARY;
	size_t size = strlen(text);

	(void)state;
	for (size_t cut = 1; cut <= size; cut++) {
		struct outcome outcome = read_all(text, cut);
		int lines = 0;
		bool whole;

		for (size_t i = 0; i < cut; i++)
			lines += text[i] == '\n';
		/* only its newline may be missing */
		whole = text[cut] == '\n';
		assert_null(outcome.err);
		assert_int_equal(outcome.records, lines + whole);
		assert_int_equal(outcome.cut, text[cut - 1] != '\n' && !whole);
	}
}

static void errors_name_file_and_line(void **state)
{
	(void)state;
	read_fails(RUN RACE "{\"type\":\"race\",\"id\":{}}\n" SUMMARY, 2,
		   "x.jsonl:3: 'id' is an object");
	/* in the middle a line is not cut short but wrong */
	read_fails(RUN "{\"type\":\"ra\n" SUMMARY, 1, "x.jsonl:2: column");
	read_fails(RUN "nonsense", 1, "x.jsonl:2: column");
	/* complete, only its newline is missing: not cut short */
	read_fails(RUN "{\"type\":\"run\",\"schema\":2}", 1,
		   "x.jsonl:2: schema version 2");
}

/* The malformed ones are passed over where the reader was told to. */
static void the_rest_is_read_behind_a_malformed_record(void **state)
{
	static const char text[] = RUN "{\"type\":\"race\"}\n"
				       "{\"type\":\"race\",\"id\":{}}\n" RACE
				       "{\"type\":\"summary\"}\n" SUMMARY
				       "{\"type\":\"crash\"}\n";
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	enum report_type types[4] = { REPORT_OTHER };
	struct report_record record;
	struct reader *reader;
	bool more = true;
	int count = 0;

	(void)state;
	assert_non_null(file);
	assert_null(reader_create(file, "x.jsonl", &reader));
	reader_skip_malformed(reader);
	report_record_init(&record);
	for (;;) {
		assert_null(reader_next(reader, &record, &more));
		if (!more)
			break;
		assert_true(count < 4);
		types[count++] = record.type;
	}
	assert_int_equal(count, 3);
	assert_int_equal(types[0], REPORT_RUN);
	assert_int_equal(types[1], REPORT_RACE);
	assert_int_equal(types[2], REPORT_SUMMARY);
	assert_int_equal(reader_malformed(reader), 4);
	report_record_deinit(&record);
	reader_close(reader);
	fclose(file);
	/* but a run that cannot be understood is no run */
	read_fails("{\"type\":\"run\"}\n" RACE, 0,
		   "x.jsonl:1: 'schema' is missing");
	read_fails(RUN "{\"type\":\"race\"}\n", 1,
		   "x.jsonl:2: 'id' is missing");
}

static void nul_bytes_are_refused(void **state)
{
	static const char text[] = RUN "\0\0\0\n";
	struct outcome outcome = read_all(text, sizeof(text) - 1);

	(void)state;
	assert_non_null(outcome.err);
	assert_int_equal(outcome.err->kind, ERROR_FORMAT);
	error_free(outcome.err);
}

static void endless_lines_are_refused(void **state)
{
	size_t size = READER_LINE_MAX + (2 << 20);
	char *text = malloc(size);
	struct outcome outcome;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	memcpy(text, RUN, strlen(RUN));
	outcome = read_all(text, size);
	assert_non_null(outcome.err);
	assert_non_null(
		strstr(error_message(outcome.err), "x.jsonl:2: this line"));
	error_free(outcome.err);
	free(text);
}

static void long_lines_span_blocks(void **state)
{
	enum { NAME = 300000 };
	struct report_record record;
	struct reader *reader;
	bool more = false;
	char *text = malloc(NAME + 500);
	size_t size;
	FILE *file;

	(void)state;
	assert_non_null(text);
	size = (size_t)sprintf(text, "{" RACE_MEMBERS ",\"program\":\"");
	memset(text + size, 'n', NAME);
	size += NAME;
	size += (size_t)sprintf(text + size, "\"}\n");
	file = fmemopen(text, size, "r");
	assert_non_null(file);
	assert_null(reader_create(file, "x", &reader));
	report_record_init(&record);
	assert_null(reader_next(reader, &record, &more));
	assert_true(more);
	assert_int_equal(strlen(record.race.program), NAME);
	report_record_deinit(&record);
	reader_close(reader);
	fclose(file);
	free(text);
}

static void what_cannot_be_read_is_named(void **state)
{
	struct report_record record;
	struct reader *reader;
	struct error *err;
	bool more;

	(void)state;
	err = reader_open("/nonexistent/x.jsonl", &reader);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), "/nonexistent/x.jsonl"));
	error_free(err);
	assert_null(reader_open("/", &reader));
	report_record_init(&record);
	err = reader_next(reader, &record, &more);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), "/: "));
	error_free(err);
	report_record_deinit(&record);
	reader_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_in_order),
		cmocka_unit_test(a_last_line_cut_short_loses_nothing_else),
		cmocka_unit_test(errors_name_file_and_line),
		cmocka_unit_test(the_rest_is_read_behind_a_malformed_record),
		cmocka_unit_test(nul_bytes_are_refused),
		cmocka_unit_test(endless_lines_are_refused),
		cmocka_unit_test(long_lines_span_blocks),
		cmocka_unit_test(what_cannot_be_read_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

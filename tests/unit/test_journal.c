/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sweep/journal.c: records are read as they were written, in their order,
 * and each once.
 */
#include "sweep/journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "store/store.h"

static char path[] = "/tmp/test_journal.XXXXXX";
static struct store *store;

static int open_journal(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	return store_open(path, &journal_kind, &store) ? -1 : 0;
}

static int close_journal(void **state)
{
	char journal[64];

	(void)state;
	store_close(store);
	snprintf(journal, sizeof(journal), "%s-journal", path);
	unlink(journal);
	unlink(path);
	strcpy(path + strlen(path) - 6, "XXXXXX");
	return 0;
}

/* What was read, by its type and run: "c1 c2 e2 ". */
struct seen {
	char text[80];
	struct journal_record last;
};

static struct error *see(void *context, struct journal_record *record)
{
	struct seen *seen = context;
	size_t length = strlen(seen->text);

	snprintf(seen->text + length, sizeof(seen->text) - length, "%c%u ",
		 record->type == JOURNAL_CLAIM ? 'c' : 'e',
		 (unsigned int)record->run);
	journal_record_deinit(&seen->last);
	seen->last = *record;
	journal_record_init(record);
	return NULL;
}

static void read_all(struct journal_place *place, struct seen *seen,
		     const char *expected)
{
	seen->text[0] = '\0';
	assert_null(journal_read(store, place, see, seen));
	assert_string_equal(seen->text, expected);
}

static void write_record(enum journal_type type, uint64_t run)
{
	struct journal_record record;

	journal_record_init(&record);
	record.type = type;
	record.run = run;
	record.seed = run + 100;
	strcpy(record.plan, "rate=100 stall=5ms");
	assert_null(journal_write(store, &record, "host:7"));
	journal_record_deinit(&record);
}

static void records_come_in_their_order_and_once(void **state)
{
	struct journal_place place = { 0 };
	struct seen seen;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	journal_record_init(&seen.last);
	read_all(&place, &seen, "");
	write_record(JOURNAL_CLAIM, 3);
	write_record(JOURNAL_CLAIM, 1);
	read_all(&place, &seen, "c3 c1 ");
	assert_int_equal(seen.last.seed, 101);
	assert_string_equal(seen.last.plan, "rate=100 stall=5ms");
	write_record(JOURNAL_DONE, 1);
	write_record(JOURNAL_DONE, 3);
	/* an end that came before stays the end */
	write_record(JOURNAL_DONE, 1);
	/* nobody claimed it */
	write_record(JOURNAL_DONE, 9);
	write_record(JOURNAL_CLAIM, 2);
	read_all(&place, &seen, "c2 e1 e3 ");
	read_all(&place, &seen, "");
	/* given up, and claimed again */
	write_record(JOURNAL_CLAIM, 2);
	read_all(&place, &seen, "c2 ");
	place = (struct journal_place){ 0 };
	read_all(&place, &seen, "c3 c1 c2 e1 e3 ");
	journal_record_deinit(&seen.last);
}

static void add_race(struct journal_record *record, const char *fingerprint,
		     bool minor, const char *what)
{
	struct finding *race = vec_append(&record->findings.races);

	assert_non_null(race);
	strcpy(race->fingerprint, fingerprint);
	race->minor = minor;
	race->what = what ? strdup(what) : NULL;
}

static void fill(struct journal_record *record)
{
	record->type = JOURNAL_DONE;
	record->run = 7;
	record->seed = UINT64_MAX;
	strcpy(record->plan, "rate=100");
	record->outcome = (struct outcome){
		.kind = OUTCOME_FAILED,
		.status = 139,
		.left = 3,
		.away = 1,
		.output_cut = true,
	};
	record->elapsed_ns = 1250001;
	record->findings.samples = 12345;
	record->findings.sites = 99;
	record->findings.unsampled_reason = strdup("one-thread");
	record->findings.unmatched = strdup("--at x");
	record->directory = strdup("/tmp/caf\xe9/run-000007");
	record->note = strdup("it's \"so\"\n");
	add_race(record, "0123456789abcdef0123456789abcdef", false,
		 "hits: set count.c:7 against get count.c:9");
	add_race(record, "00000000000000000000000000000001", true, NULL);
}

static void all_of_an_end(void **state)
{
	struct journal_place place = { 0 };
	struct journal_record record;
	const struct finding *race;
	struct seen seen;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	journal_record_init(&seen.last);
	write_record(JOURNAL_CLAIM, 7);
	journal_record_init(&record);
	fill(&record);
	assert_null(journal_write(store, &record, "host:8"));
	journal_record_deinit(&record);
	read_all(&place, &seen, "c7 e7 ");
	assert_string_equal(seen.last.plan, "rate=100");
	assert_int_equal(seen.last.outcome.kind, OUTCOME_FAILED);
	assert_int_equal(seen.last.outcome.status, 139);
	assert_int_equal(seen.last.outcome.left, 3);
	assert_int_equal(seen.last.outcome.away, 1);
	assert_true(seen.last.outcome.output_cut);
	assert_false(seen.last.outcome.output_lost);
	assert_false(seen.last.outcome.unsampled);
	assert_int_equal(seen.last.elapsed_ns, 1250001);
	assert_int_equal(seen.last.findings.samples, 12345);
	assert_int_equal(seen.last.findings.sites, 99);
	assert_string_equal(seen.last.findings.unsampled_reason, "one-thread");
	assert_null(seen.last.findings.unsampled_text);
	assert_string_equal(seen.last.findings.unmatched, "--at x");
	assert_string_equal(seen.last.directory, "/tmp/caf\xe9/run-000007");
	assert_string_equal(seen.last.note, "it's \"so\"\n");
	assert_int_equal(seen.last.findings.races.count, 2);
	race = vec_at(&seen.last.findings.races, 0);
	assert_string_equal(race->fingerprint,
			    "0123456789abcdef0123456789abcdef");
	assert_false(race->minor);
	assert_string_equal(race->what,
			    "hits: set count.c:7 against get count.c:9");
	race = vec_at(&seen.last.findings.races, 1);
	assert_true(race->minor);
	assert_null(race->what);
	journal_record_deinit(&seen.last);
}

static void refused(char *const *command, uint64_t seed, const char *why)
{
	struct error *err = journal_begin(store, command, seed);

	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_USAGE);
	assert_non_null(strstr(error_message(err), why));
	error_free(err);
}

static void a_sweep_is_of_one_command_and_seed(void **state)
{
	char *command[] = { "./a b", "", "{seed}", "\"quoted\"\n", NULL };
	char *shorter[] = { "./a b", "", "{seed}", NULL };
	char *longer[] = { "./a b", "", "{seed}", "\"quoted\"\n", "", NULL };
	char *other[] = { "./a b", "x", "{seed}", "\"quoted\"\n", NULL };

	(void)state;
	assert_null(journal_begin(store, command, UINT64_MAX));
	assert_null(journal_begin(store, command, UINT64_MAX));
	refused(shorter, UINT64_MAX, "another command");
	refused(longer, UINT64_MAX, "another command");
	refused(other, UINT64_MAX, "another command");
	refused(command, 5, "--seed 18446744073709551615");
}

/* What a user has put there is not believed. */
static void a_number_out_of_range_is_an_error(void **state)
{
	struct journal_place place = { 0 };
	struct seen seen;
	struct error *err;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	journal_record_init(&seen.last);
	write_record(JOURNAL_CLAIM, 1);
	write_record(JOURNAL_DONE, 1);
	assert_null(store_execute(store, "UPDATE run SET exit = 256"));
	err = journal_read(store, &place, see, &seen);
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_FORMAT);
	assert_non_null(strstr(error_message(err), "'exit'"));
	error_free(err);
	journal_record_deinit(&seen.last);
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, open_journal, close_journal)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(records_come_in_their_order_and_once),
		CASE(all_of_an_end),
		CASE(a_sweep_is_of_one_command_and_seed),
		CASE(a_number_out_of_range_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

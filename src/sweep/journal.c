/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sweep's tables; see journal.h. A run is one row: `claimed' and `ended' give
 * the order of claims and of ends.
 */
#include "sweep/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/query.h"
#include "store/shared.h"
#include "store/store.h"

#define NOW "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

/* racewatch-state(5) explains each. */
const struct store_kind journal_kind = {
	.name = "the state of a sweep",
	.application = STORE_SWEEP,
	.version = 1,
	.keep_journal = true,
	.schema = "CREATE TABLE sweep ("
		  " id INTEGER PRIMARY KEY CHECK (id = 1),"
		  " seed INTEGER NOT NULL,"
		  " time TEXT NOT NULL DEFAULT (" NOW
		  ")) STRICT;" SHARED_COMMAND_TABLE "CREATE TABLE run ("
		  " run INTEGER PRIMARY KEY CHECK (run > 0),"
		  " seed INTEGER NOT NULL,"
		  " plan TEXT NOT NULL,"
		  " worker TEXT,"
		  " claimed INTEGER NOT NULL UNIQUE,"
		  " claim_time TEXT NOT NULL DEFAULT (" NOW "),"
		  " ended INTEGER UNIQUE,"
		  " end_time TEXT,"
		  " outcome TEXT,"
		  " exit INTEGER,"
		  " unsampled INTEGER,"
		  " left_behind INTEGER,"
		  " away INTEGER,"
		  " output_cut INTEGER,"
		  " output_lost INTEGER,"
		  " elapsed_ns INTEGER,"
		  " samples INTEGER,"
		  " sites INTEGER,"
		  " unsampled_reason TEXT,"
		  " unsampled_text TEXT,"
		  " unmatched TEXT,"
		  " directory TEXT,"
		  " note TEXT) STRICT;"
		  "CREATE TABLE race ("
		  " id INTEGER PRIMARY KEY,"
		  " run INTEGER NOT NULL REFERENCES run,"
		  " fingerprint TEXT NOT NULL,"
		  " minor INTEGER NOT NULL CHECK (minor IN (0, 1)),"
		  " what TEXT,"
		  " UNIQUE (run, fingerprint)) STRICT;",
};

void journal_record_init(struct journal_record *record)
{
	*record = (struct journal_record){ .type = JOURNAL_CLAIM };
	findings_init(&record->findings);
}

void journal_record_deinit(struct journal_record *record)
{
	free(record->directory);
	free(record->note);
	findings_deinit(&record->findings);
	journal_record_init(record);
}

static struct error *write_sweep(struct store *store, uint64_t seed)
{
	struct query *query;
	struct error *err = query_prepare(
		store, "INSERT INTO sweep (id, seed) VALUES (1, ?)", &query);

	if (err)
		return err;
	query_bind(query, 1, seed);
	err = query_run(query);
	query_free(query);
	return err;
}

static struct error *check_seed(uint64_t found, uint64_t wanted)
{
	if (found == wanted)
		return NULL;
	return error_create(ERROR_USAGE,
			    "was begun with --seed %llu; use another directory",
			    (unsigned long long)found);
}

struct error *journal_begin(struct store *store, char *const *command,
			    uint64_t seed)
{
	struct query *query;
	uint64_t found = 0;
	bool row;
	struct error *err =
		query_prepare(store, "SELECT seed FROM sweep", &query);

	if (err)
		return err;
	err = query_next(query, &row);
	if (!err && row)
		found = query_bits(query, 0);
	query_free(query);
	if (err)
		return err;
	err = shared_keep_command(store, command, "directory");
	if (err)
		return err;
	return row ? check_seed(found, seed) : write_sweep(store, seed);
}

static struct error *write_claim(struct store *store,
				 const struct journal_record *record,
				 const char *worker)
{
	struct query *query;
	struct error *err = query_prepare(
		store,
		"INSERT INTO run (run, seed, plan, worker, claimed)"
		" VALUES (?, ?, ?, ?,"
		"  (SELECT coalesce(max(claimed), 0) + 1 FROM run))"
		" ON CONFLICT (run) DO UPDATE SET plan = excluded.plan,"
		" worker = excluded.worker, claimed = excluded.claimed,"
		" claim_time = excluded.claim_time",
		&query);

	if (err)
		return err;
	query_bind(query, 1, record->run);
	query_bind(query, 2, record->seed);
	query_bind_text(query, 3, record->plan);
	query_bind_text(query, 4, worker);
	err = query_run(query);
	query_free(query);
	return err;
}

static struct error *write_races(struct store *store,
				 const struct journal_record *record)
{
	const struct vec *races = &record->findings.races;
	struct query *query;
	struct error *err = query_prepare(
		store,
		"INSERT OR IGNORE INTO race (run, fingerprint, minor, what)"
		" VALUES (?, ?, ?, ?)",
		&query);

	if (err)
		return err;
	for (size_t i = 0; !err && i < races->count; i++) {
		const struct finding *finding = vec_at(races, i);

		query_bind(query, 1, record->run);
		query_bind_text(query, 2, finding->fingerprint);
		query_bind(query, 3, finding->minor);
		query_bind_text(query, 4, finding->what);
		err = query_run(query);
	}
	query_free(query);
	return err;
}

/* The numbers of an end, in the order of the columns from `exit' on. */
enum { END_NUMBERS = 9 };

static void bind_end(struct query *query, const struct journal_record *record)
{
	const struct outcome *outcome = &record->outcome;
	const struct findings *findings = &record->findings;
	const uint64_t numbers[END_NUMBERS] = {
		(uint64_t)outcome->status,
		outcome->unsampled,
		outcome->left,
		outcome->away,
		outcome->output_cut,
		outcome->output_lost,
		record->elapsed_ns,
		findings->samples,
		findings->sites,
	};
	const char *const texts[] = {
		findings->unsampled_reason,
		findings->unsampled_text,
		findings->unmatched,
		record->directory,
		record->note,
	};

	query_bind_text(query, 4, outcome_word(outcome->kind));
	for (int i = 0; i < END_NUMBERS; i++)
		query_bind(query, 5 + i, numbers[i]);
	for (int i = 0; i < 5; i++)
		query_bind_text(query, 5 + END_NUMBERS + i, texts[i]);
}

static struct error *write_end(struct store *store,
			       const struct journal_record *record,
			       const char *worker)
{
	struct query *query;
	bool first = false;
	struct error *err = query_prepare(
		store,
		"UPDATE run SET ended ="
		" (SELECT coalesce(max(ended), 0) + 1 FROM run),"
		" end_time = " NOW ", plan = ?2, worker = ?3, outcome = ?4,"
		" exit = ?5, unsampled = ?6, left_behind = ?7, away = ?8,"
		" output_cut = ?9, output_lost = ?10, elapsed_ns = ?11,"
		" samples = ?12, sites = ?13, unsampled_reason = ?14,"
		" unsampled_text = ?15, unmatched = ?16, directory = ?17,"
		" note = ?18 WHERE run = ?1 AND ended IS NULL RETURNING run",
		&query);

	if (err)
		return err;
	query_bind(query, 1, record->run);
	query_bind_text(query, 2, record->plan);
	query_bind_text(query, 3, worker);
	bind_end(query, record);
	err = query_next(query, &first);
	if (!err && first)
		err = query_run(query);
	query_free(query);
	return err || !first ? err : write_races(store, record);
}

struct error *journal_write(struct store *store,
			    const struct journal_record *record,
			    const char *worker)
{
	if (record->type == JOURNAL_DONE)
		return write_end(store, record, worker);
	return write_claim(store, record, worker);
}

static enum outcome_kind read_kind(const char *word)
{
	for (unsigned int kind = 0; word && kind < OUTCOMES; kind++) {
		if (strcmp(word, outcome_word(kind)) == 0)
			return kind;
	}
	return OUTCOME_PASSED;
}

static struct error *read_races(struct store *store,
				struct journal_record *record)
{
	struct query *query;
	bool row = true;
	struct error *err =
		query_prepare(store,
			      "SELECT fingerprint, minor, what FROM race"
			      " WHERE run = ? ORDER BY id",
			      &query);

	if (err)
		return err;
	query_bind(query, 1, record->run);
	while (!err && (err = query_next(query, &row)) == NULL && row) {
		struct finding *finding = vec_append(&record->findings.races);
		const char *fingerprint = query_text(query, 0);

		if (!finding) {
			err = error_nomem;
			break;
		}
		snprintf(finding->fingerprint, sizeof(finding->fingerprint),
			 "%s", fingerprint ? fingerprint : "");
		finding->minor = query_number(query, 1, 1);
		finding->what = query_copy(query, 2);
	}
	query_free(query);
	return err;
}

static void read_end(struct query *query, struct journal_record *record)
{
	struct outcome *outcome = &record->outcome;
	struct findings *findings = &record->findings;

	outcome->kind = read_kind(query_text(query, 4));
	outcome->status = (int)query_number(query, 5, 255);
	outcome->unsampled = query_number(query, 6, 1);
	outcome->left = (uint32_t)query_number(query, 7, UINT32_MAX);
	outcome->away = (uint32_t)query_number(query, 8, UINT32_MAX);
	outcome->output_cut = query_number(query, 9, 1);
	outcome->output_lost = query_number(query, 10, 1);
	record->elapsed_ns = query_number(query, 11, INT64_MAX);
	findings->samples = query_number(query, 12, INT64_MAX);
	findings->sites = query_number(query, 13, INT64_MAX);
	findings->unsampled_reason = query_copy(query, 14);
	findings->unsampled_text = query_copy(query, 15);
	findings->unmatched = query_copy(query, 16);
	record->directory = query_copy(query, 17);
	record->note = query_copy(query, 18);
}

/* The row at hand, of columns as in read_end(). */
static struct error *take_row(struct store *store, struct query *query,
			      enum journal_type type, journal_take *take,
			      void *context)
{
	struct journal_record record;
	struct error *err = NULL;
	const char *plan = query_text(query, 3);

	journal_record_init(&record);
	record.type = type;
	record.run = query_number(query, 1, UINT32_MAX);
	record.seed = query_bits(query, 2);
	snprintf(record.plan, sizeof(record.plan), "%s", plan ? plan : "");
	if (type == JOURNAL_DONE) {
		read_end(query, &record);
		err = read_races(store, &record);
	}
	if (!err)
		err = take(context, &record);
	journal_record_deinit(&record);
	return err;
}

static struct error *read_rows(struct store *store, enum journal_type type,
			       uint64_t *place, journal_take *take,
			       void *context)
{
	static const char *const sql[] = {
		"SELECT claimed, run, seed, plan FROM run WHERE claimed > ?"
		" ORDER BY claimed",
		"SELECT ended, run, seed, plan, outcome, exit, unsampled,"
		" left_behind, away, output_cut, output_lost, elapsed_ns,"
		" samples, sites, unsampled_reason, unsampled_text, unmatched,"
		" directory, note FROM run WHERE ended > ? ORDER BY ended",
	};
	struct query *query;
	bool row = true;
	struct error *err = query_prepare(store, sql[type], &query);

	if (err)
		return err;
	query_bind(query, 1, *place);
	while (!err && (err = query_next(query, &row)) == NULL && row) {
		uint64_t at = query_number(query, 0, INT64_MAX);

		err = take_row(store, query, type, take, context);
		if (!err)
			*place = at;
	}
	query_free(query);
	return err;
}

struct error *journal_read(struct store *store, struct journal_place *place,
			   journal_take *take, void *context)
{
	struct error *err =
		read_rows(store, JOURNAL_CLAIM, &place->claims, take, context);

	return err ? err
		   : read_rows(store, JOURNAL_DONE, &place->ends, take,
			       context);
}

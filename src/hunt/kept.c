/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Candidates in a store; see kept.h. */
#include "hunt/kept.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "hunt/callers.h"
#include "hunt/candidates.h"
#include "hunt/outcomes.h"
#include "report/combine.h"
#include "report/field.h"
#include "report/race.h"
#include "report/record.h"
#include "store/query.h"
#include "store/store.h"

/* A store that was made without candidates has none of these. */
static const char candidate_tables[] =
	"CREATE TABLE IF NOT EXISTS candidate ("
	" candidate INTEGER PRIMARY KEY CHECK (candidate > 0),"
	" found INTEGER NOT NULL CHECK (found IN (0, 1)),"
	" fit INTEGER NOT NULL,"
	" other_fit INTEGER NOT NULL,"
	" ordered INTEGER NOT NULL CHECK (ordered IN (0, 1)),"
	" left_out INTEGER NOT NULL CHECK (left_out IN (0, 1)),"
	" record TEXT NOT NULL) STRICT;"
	"CREATE TABLE IF NOT EXISTS candidate_side ("
	" candidate INTEGER NOT NULL,"
	" fingerprint TEXT NOT NULL) STRICT;";

/* One in which no race was kept yet lacks this. */
static const char race_table[] = "CREATE TABLE IF NOT EXISTS race ("
				 " key TEXT PRIMARY KEY,"
				 " verdict INTEGER NOT NULL,"
				 " record TEXT NOT NULL) STRICT;";

/* The race as a line of a report; the caller frees it. */
static struct error *write_line(const struct race *race, char **ret)
{
	size_t size = 0;
	FILE *out;
	struct error *err;

	*ret = NULL;
	out = open_memstream(ret, &size);
	if (!out)
		return error_nomem;
	err = fields_write(&race_fields, race, out);
	if (fclose(out) != 0 && !err)
		err = error_nomem;
	if (err) {
		free(*ret);
		*ret = NULL;
	}
	return err;
}

static struct error *save_sides(struct store *store,
				const struct candidate *candidate)
{
	struct query *query;
	struct error *err = query_prepare(
		store, "INSERT INTO candidate_side VALUES (?, ?)", &query);

	if (err)
		return err;
	for (size_t i = 0; !err && i < candidate->sides.count; i++) {
		const struct candidate_side *side =
			vec_at(&candidate->sides, i);

		query_bind(query, 1, candidate->race->id);
		query_bind_text(query, 2, side->fingerprint);
		err = query_run(query);
	}
	query_free(query);
	return err;
}

static struct error *save_one(struct store *store, struct query *query,
			      const struct candidate *candidate)
{
	char *line;
	struct error *err = write_line(candidate->race, &line);

	if (err)
		return err;
	query_bind(query, 1, candidate->race->id);
	query_bind(query, 2, candidate->found);
	query_bind(query, 3, candidate->fits[0]);
	query_bind(query, 4, candidate->fits[1]);
	query_bind(query, 5, candidate->ordered);
	query_bind(query, 6, candidate->left_out);
	query_bind_text(query, 7, line);
	err = query_run(query);
	free(line);
	return err ? err : save_sides(store, candidate);
}

static struct error *save(struct store *store,
			  const struct candidates *candidates)
{
	struct query *query;
	struct error *err = store_execute(store, candidate_tables);

	if (!err)
		err = store_execute(store, "DELETE FROM candidate;"
					   "DELETE FROM candidate_side");
	if (!err)
		err = query_prepare(store,
				    "INSERT INTO candidate"
				    " VALUES (?, ?, ?, ?, ?, ?, ?)",
				    &query);
	if (err)
		return err;
	for (size_t i = 0; !err && i < candidates->items.count; i++)
		err = save_one(store, query, vec_at(&candidates->items, i));
	query_free(query);
	return err;
}

struct error *kept_save(struct outcomes *outcomes,
			const struct candidates *candidates)
{
	struct store *store = outcomes_store(outcomes);
	struct error *err = store_begin_write(store);

	return err ? err : store_end(store, save(store, candidates));
}

static struct error *has_table(struct store *store, const char *name, bool *ret)
{
	struct query *query;
	struct error *err = query_prepare(
		store, "SELECT 1 FROM sqlite_master WHERE name = ?", &query);

	if (err)
		return err;
	query_bind_text(query, 1, name);
	err = query_next(query, ret);
	query_free(query);
	return err;
}

static struct error *load_sides(struct store *store,
				struct candidate *candidate)
{
	struct query *query;
	bool row = true;
	struct error *err =
		query_prepare(store,
			      "SELECT fingerprint FROM candidate_side"
			      " WHERE candidate = ? ORDER BY rowid",
			      &query);

	if (err)
		return err;
	query_bind(query, 1, candidate->race->id);
	while (!err && (err = query_next(query, &row)) == NULL && row) {
		struct candidate_side *side = vec_append(&candidate->sides);
		const char *text = query_text(query, 0);

		if (!side)
			err = error_nomem;
		else
			snprintf(side->fingerprint, sizeof(side->fingerprint),
				 "%s", text ? text : "");
	}
	query_free(query);
	return err;
}

/* Either way, the record is to be deinitialized. */
static struct error *parse_race(const char *line, struct report_record *ret)
{
	struct error *err;

	report_record_init(ret);
	err = report_record_parse(line, strlen(line), ret);
	if (!err && ret->type != REPORT_RACE)
		err = error_create(ERROR_FORMAT, "a record is no race");
	return err;
}

/*
 * Is that the line of this candidate? Another tool's report has no times: they are
 * those of its file, of which this may be a copy.
 */
static struct error *is_line_of(const char *line, const struct race *race,
				bool *ret)
{
	struct report_record record;
	char *kept = NULL, *wanted = NULL;
	struct error *err = parse_race(line, &record);

	if (!err) {
		record.race.time = race->time;
		record.race.last_time = race->last_time;
		err = write_line(&record.race, &kept);
	}
	if (!err)
		err = write_line(race, &wanted);
	*ret = !err && strcmp(kept, wanted) == 0;
	free(kept);
	free(wanted);
	report_record_deinit(&record);
	return err;
}

/* *ret_same: the row is of this candidate. */
static struct error *load_one(struct store *store, struct query *query,
			      struct candidate *candidate, bool *ret_same)
{
	const char *kept = query_text(query, 6);
	struct error *err =
		is_line_of(kept ? kept : "", candidate->race, ret_same);

	if (err)
		return err;
	*ret_same &= query_number(query, 0, INT64_MAX) == candidate->race->id;
	if (!*ret_same)
		return NULL;
	candidate->found = query_number(query, 1, 1);
	candidate->fits[0] =
		(enum claim_fit)query_number(query, 2, CLAIM_FITS - 1);
	candidate->fits[1] =
		(enum claim_fit)query_number(query, 3, CLAIM_FITS - 1);
	candidate->ordered = query_number(query, 4, 1);
	candidate->left_out = query_number(query, 5, 1);
	return load_sides(store, candidate);
}

static struct error *load(struct store *store, struct candidates *candidates,
			  bool *ret_same)
{
	struct query *query;
	bool row = true;
	size_t count = 0;
	struct error *err = query_prepare(
		store,
		"SELECT candidate, found, fit, other_fit, ordered, left_out,"
		" record FROM candidate ORDER BY candidate",
		&query);

	if (err)
		return err;
	*ret_same = true;
	while (!err && *ret_same && (err = query_next(query, &row)) == NULL &&
	       row) {
		*ret_same = count < candidates->items.count;
		if (*ret_same)
			err = load_one(store, query,
				       vec_at(&candidates->items, count),
				       ret_same);
		count++;
	}
	*ret_same &= count == candidates->items.count;
	query_free(query);
	return err;
}

static struct error *load_if_any(struct store *store,
				 struct candidates *candidates)
{
	bool any, same;
	struct error *err = has_table(store, "candidate", &any);

	if (!err && !any)
		err = error_create(ERROR_USAGE,
				   "the sides in this --store are of a hunt "
				   "without --candidates");
	if (!err)
		err = load(store, candidates, &same);
	if (!err && !same)
		err = error_create(ERROR_USAGE,
				   "the sides in this --store are those of "
				   "other --candidates");
	return err;
}

struct error *kept_load(struct outcomes *outcomes,
			struct candidates *candidates)
{
	struct store *store = outcomes_store(outcomes);
	struct error *err = store_begin_read(store);

	return err ? err : store_end(store, load_if_any(store, candidates));
}

static struct error *add_race(struct store *store, const char *key,
			      const struct race *race)
{
	struct query *query;
	char *line;
	struct error *err = store_execute(store, race_table);

	if (!err)
		err = query_prepare(
			store,
			"INSERT INTO race VALUES (?, ?, ?)"
			" ON CONFLICT (key) DO UPDATE SET"
			" verdict = excluded.verdict, record = excluded.record"
			" WHERE excluded.verdict < race.verdict",
			&query);
	if (err)
		return err;
	err = write_line(race, &line);
	if (!err) {
		query_bind_text(query, 1, key);
		query_bind(query, 2, race->verdict);
		query_bind_text(query, 3, line);
		err = query_run(query);
		free(line);
	}
	query_free(query);
	return err;
}

struct error *kept_add_race(struct outcomes *outcomes, struct race *race)
{
	struct store *store = outcomes_store(outcomes);
	uint8_t key[COMBINE_KEY_SIZE];
	char text[2 * COMBINE_KEY_SIZE + 17];
	struct error *err = race_key(race, key);

	if (err)
		return err;
	for (size_t i = 0; i < sizeof(key); i++)
		snprintf(text + 2 * i, 3, "%02x", key[i]);
	/* candidates may name one of its callers */
	snprintf(text + 2 * sizeof(key), 17, "%016" PRIx64, callers_hash(race));
	err = store_begin_write(store);
	return err ? err : store_end(store, add_race(store, text, race));
}

static struct error *read_race(const char *line, struct vec *races)
{
	struct report_record record;
	struct race *race = NULL;
	struct error *err = parse_race(line, &record);

	if (!err) {
		race = malloc(sizeof(*race));
		if (!race || !vec_push(races, &race)) {
			free(race);
			err = error_nomem;
		}
	}
	if (!err) {
		*race = record.race;
		race->id = 0;
		race_init(&record.race);
	}
	report_record_deinit(&record);
	return err;
}

struct error *kept_read_races(struct store *store, struct vec *races)
{
	struct query *query;
	bool row;
	struct error *err = has_table(store, "race", &row);

	if (err || !row)
		return err;
	err = query_prepare(store, "SELECT record FROM race ORDER BY key",
			    &query);
	if (err)
		return err;
	while (!err && (err = query_next(query, &row)) == NULL && row) {
		const char *line = query_text(query, 0);

		err = read_race(line ? line : "", races);
	}
	query_free(query);
	return err;
}

struct error *kept_races(struct outcomes *outcomes, struct vec *races)
{
	struct store *store = outcomes_store(outcomes);
	struct error *err = store_begin_read(store);

	return err ? err : store_end(store, kept_read_races(store, races));
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store of a hunt; see outcomes.h. A side is one row: the columns are for the
 * user's queries, and `record' has the whole of it as a line of a report.
 */
#include "hunt/outcomes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/map.h"
#include "report/record.h"
#include "report/render.h"
#include "store/query.h"
#include "store/shared.h"
#include "store/store.h"

#define NOW "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

/* racewatch-state(5) explains each. */
static const struct store_kind outcomes_kind = {
	.name = "the store of a hunt",
	.application = STORE_HUNT,
	.version = 1,
	.schema = SHARED_COMMAND_TABLE
	"CREATE TABLE side ("
	" side INTEGER PRIMARY KEY CHECK (side > 0),"
	" fingerprint TEXT NOT NULL UNIQUE,"
	" program TEXT,"
	" thread_path TEXT,"
	" module TEXT,"
	" offset INTEGER NOT NULL,"
	" ordinal INTEGER NOT NULL,"
	" writes INTEGER NOT NULL CHECK (writes IN (0, 1)),"
	" function TEXT,"
	" variable TEXT,"
	" code_hash TEXT,"
	" rank REAL NOT NULL,"
	" result TEXT NOT NULL DEFAULT 'pending',"
	" runs INTEGER NOT NULL DEFAULT 0,"
	" reached INTEGER NOT NULL DEFAULT 0,"
	" hold_ns INTEGER NOT NULL DEFAULT 0,"
	" ordered_by TEXT,"
	" race TEXT,"
	" time TEXT,"
	" record TEXT NOT NULL) STRICT;"
	"CREATE INDEX side_next ON side (result, runs, rank);"
	"CREATE TABLE try ("
	" id INTEGER PRIMARY KEY,"
	" side INTEGER NOT NULL REFERENCES side,"
	" worker TEXT,"
	" time TEXT NOT NULL DEFAULT (" NOW "),"
	" result TEXT NOT NULL,"
	" reached INTEGER NOT NULL,"
	" hold_ns INTEGER NOT NULL,"
	" ordered_by TEXT,"
	" race TEXT) STRICT;",
};

struct outcomes {
	struct store *store;
	int lock_fd; /* what has the locks of the claims; -1: none */
	struct map claimed; /* numbers of the sides claimed here */
	struct shared_worker worker;
};

static struct error *begin(struct store *store, const char *path,
			   char *const *command)
{
	struct error *err = store_begin_write(store);

	if (err)
		return err;
	err = store_end(store, shared_keep_command(store, command, "store"));
	return err && err->kind == ERROR_USAGE ? error_wrap(err, "%s", path)
					       : err;
}

struct error *outcomes_open(const char *path, char *const *command,
			    struct outcomes **ret)
{
	struct outcomes *outcomes = calloc(1, sizeof(*outcomes));
	struct error *err;

	if (!outcomes)
		return error_nomem;
	outcomes->lock_fd = -1;
	shared_worker_init(&outcomes->worker);
	err = store_open(path, &outcomes_kind, &outcomes->store);
	/* now, and not closed before the end: see store/store.h */
	if (!err) {
		outcomes->lock_fd = open(path, O_RDWR | O_CLOEXEC);
		if (outcomes->lock_fd < 0)
			err = error_os(errno, "%s", path);
	}
	if (!err)
		err = begin(outcomes->store, path, command);
	if (err)
		outcomes_close(outcomes);
	else
		*ret = outcomes;
	return err;
}

void outcomes_close(struct outcomes *outcomes)
{
	if (!outcomes)
		return;
	store_close(outcomes->store);
	if (outcomes->lock_fd >= 0)
		close(outcomes->lock_fd);
	map_deinit(&outcomes->claimed);
	free(outcomes);
}

struct store *outcomes_store(const struct outcomes *outcomes)
{
	return outcomes->store;
}

struct error *outcomes_has_sides(struct outcomes *outcomes, bool *ret)
{
	uint64_t any = 0;
	struct error *err = store_begin_read(outcomes->store);

	if (err)
		return err;
	err = store_end(outcomes->store,
			query_ask(outcomes->store,
				  "SELECT EXISTS (SELECT * FROM side)", 1,
				  &any));
	if (!err)
		*ret = any;
	return err;
}

/* The side as a line of a report; the caller frees it. */
static struct error *write_line(const struct hunt_side *side, char **ret)
{
	struct renderer json = { .ops = &render_json };
	struct target_record record = { .side = *side };
	size_t size = 0;
	struct error *err;

	*ret = NULL;
	json.out = open_memstream(ret, &size);
	if (!json.out)
		return error_nomem;
	err = render_json.target(&json, &record);
	if (fclose(json.out) != 0 && !err)
		err = error_nomem;
	if (err) {
		free(*ret);
		*ret = NULL;
	}
	return err;
}

static struct error *add_side(struct query *query, struct hunt_side *side)
{
	char *line, rank[32];
	bool row;
	struct error *err = write_line(side, &line);

	if (err)
		return err;
	snprintf(rank, sizeof(rank), "%.6f", side->rank);
	query_bind_text(query, 1, side->fingerprint);
	query_bind_text(query, 2, side->program);
	query_bind_text(query, 3, side->thread_path);
	query_bind_text(query, 4, side->place.module);
	query_bind(query, 5, side->place.offset);
	query_bind(query, 6, side->ordinal);
	query_bind(query, 7, side->writes);
	query_bind_text(query, 8, side->function);
	query_bind_text(query, 9, side->variable);
	query_bind_text(query, 10, side->code_hash[0] ? side->code_hash : NULL);
	query_bind_text(query, 11, rank);
	query_bind_text(query, 12, line);
	err = query_next(query, &row);
	if (!err && row) {
		side->id = query_number(query, 0, INT64_MAX);
		err = query_run(query);
	}
	free(line);
	return err;
}

static struct error *add_sides(struct store *store, struct vec *sides)
{
	struct query *query;
	struct error *err = query_prepare(
		store,
		"INSERT INTO side (fingerprint, program, thread_path, module,"
		" offset, ordinal, writes, function, variable, code_hash, rank,"
		" record)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS REAL), ?)"
		" ON CONFLICT (fingerprint) DO UPDATE SET rank = excluded.rank,"
		" code_hash = excluded.code_hash, record = excluded.record"
		" RETURNING side",
		&query);

	if (err)
		return err;
	for (size_t i = 0; !err && i < sides->count; i++)
		err = add_side(query, vec_at(sides, i));
	query_free(query);
	return err;
}

struct error *outcomes_add_sides(struct outcomes *outcomes, struct vec *sides)
{
	struct error *err = store_begin_write(outcomes->store);

	return err ? err
		   : store_end(outcomes->store,
			       add_sides(outcomes->store, sides));
}

/* race: that it has met, or NULL; *ret_side: the last of those left out. */
static struct error *forget_side(struct store *store, const char *code_hash,
				 const char *race, uint64_t *count,
				 uint64_t *ret_side)
{
	struct query *query;
	bool row = true;
	struct error *err = query_prepare(
		store,
		"UPDATE side SET result = 'unchanged', time = " NOW
		", race = ?2"
		" WHERE code_hash = ?1 AND result = 'pending' AND runs = 0"
		" RETURNING side",
		&query);

	if (err)
		return err;
	query_bind_text(query, 1, code_hash);
	query_bind_text(query, 2, race);
	while (!err && (err = query_next(query, &row)) == NULL && row) {
		*ret_side = query_number(query, 0, INT64_MAX);
		++*count;
	}
	query_free(query);
	return err;
}

static struct error *forget_sides(struct store *store, struct store *other,
				  uint64_t *count)
{
	struct query *query;
	uint64_t last;
	bool row = true;
	struct error *err =
		query_prepare(other,
			      "SELECT DISTINCT code_hash FROM side"
			      " WHERE code_hash IS NOT NULL"
			      " EXCEPT SELECT code_hash FROM side"
			      " WHERE race IS NOT NULL OR result = 'pending'",
			      &query);

	if (err)
		return err;
	while (!err && (err = query_next(query, &row)) == NULL && row)
		err = forget_side(store, query_text(query, 0), NULL, count,
				  &last);
	query_free(query);
	return err;
}

struct error *outcomes_open_old(const char *path, struct store **ret)
{
	struct store *old = NULL;
	struct error *err = store_open_existing(path, &outcomes_kind, &old);

	if (!err && !old)
		err = error_create(ERROR_USAGE,
				   "%s: there is no store of a hunt", path);
	if (!err)
		*ret = old;
	return err;
}

struct error *outcomes_since(struct outcomes *outcomes, struct store *old,
			     uint64_t *ret_count)
{
	uint64_t count = 0;
	struct error *err = store_begin_write(outcomes->store);

	if (!err)
		err = store_end(outcomes->store,
				forget_sides(outcomes->store, old, &count));
	if (!err)
		*ret_count = count;
	return err;
}

struct error *outcomes_has_pending(struct store *old, const char *code_hash,
				   bool *ret)
{
	struct query *query;
	struct error *err = query_prepare(
		old,
		"SELECT 1 FROM side"
		" WHERE code_hash = ? AND result = 'pending' LIMIT 1",
		&query);

	if (err)
		return err;
	query_bind_text(query, 1, code_hash);
	err = query_next(query, ret);
	query_free(query);
	return err;
}

struct error *outcomes_leave_out(struct outcomes *outcomes,
				 const struct target_record *record,
				 uint64_t *ret_count, uint64_t *ret_side)
{
	uint64_t count = 0, side = 0;
	struct error *err = store_begin_write(outcomes->store);

	if (!err)
		err = store_end(
			outcomes->store,
			forget_side(outcomes->store, record->side.code_hash,
				    record->outcome.race, &count, &side));
	if (err)
		return err;
	*ret_count = count;
	*ret_side = side;
	return NULL;
}

/* A row of the record, then side, result, runs, reached, hold, ... */
#define RECORD_COLUMNS \
	"record, side, result, runs, reached, hold_ns, ordered_by, race, time"

static struct error *read_row(struct query *query, struct target_record *ret)
{
	struct report_record record;
	const char *line = query_text(query, 0);
	struct target_outcome *outcome = &record.target.outcome;
	const char *text;
	struct error *err;

	report_record_init(&record);
	err = report_record_parse(line ? line : "", line ? strlen(line) : 0,
				  &record);
	if (!err && record.type != REPORT_TARGET)
		err = error_create(ERROR_FORMAT, "a record is no target");
	if (err) {
		report_record_deinit(&record);
		return error_wrap(err, "side %llu",
				  (unsigned long long)query_number(query, 1,
								   INT64_MAX));
	}
	record.target.side.id = query_number(query, 1, INT64_MAX);
	text = query_text(query, 2);
	if (!text || !target_result_parse(text, &outcome->result))
		outcome->result = TARGET_PENDING;
	outcome->runs = query_number(query, 3, INT64_MAX);
	outcome->reached = query_number(query, 4, INT64_MAX);
	outcome->hold_ns = query_number(query, 5, INT64_MAX);
	outcome->ordered_by = query_copy(query, 6);
	text = query_text(query, 7);
	snprintf(outcome->race, sizeof(outcome->race), "%s", text ? text : "");
	text = query_text(query, 8);
	if (!text || !clock_parse_rfc3339(text, &record.target.time))
		record.target.time = 0;
	*ret = record.target;
	return NULL;
}

/* Claim the side of the row, if nobody has. */
static struct error *claim_row(struct outcomes *outcomes, struct query *query,
			       struct vec *sides, bool *others)
{
	uint64_t number = query_number(query, 1, INT64_MAX);
	struct target_record record;
	struct hunt_side *side;
	bool locked = false;
	struct error *err = NULL;

	if (map_get(&outcomes->claimed, number))
		return NULL;
	err = shared_lock(outcomes->lock_fd, number, &locked);
	*others |= !err && !locked;
	if (err || !locked)
		return err;
	err = read_row(query, &record);
	if (err)
		return err;
	target_outcome_deinit(&record.outcome);
	side = vec_append(sides);
	if (!side) {
		hunt_side_deinit(&record.side);
		return error_nomem;
	}
	*side = record.side;
	return map_set(&outcomes->claimed, number, 1) ? NULL : error_nomem;
}

static struct error *claim(struct outcomes *outcomes, size_t most,
			   struct vec *sides, bool *others)
{
	struct query *query;
	size_t before = sides->count;
	bool row = true;
	struct error *err = query_prepare(outcomes->store,
					  "SELECT " RECORD_COLUMNS " FROM side"
					  " WHERE result = 'pending'"
					  " ORDER BY runs, rank DESC, side",
					  &query);

	if (err)
		return err;
	while (!err && sides->count - before < most &&
	       (err = query_next(query, &row)) == NULL && row)
		err = claim_row(outcomes, query, sides, others);
	query_free(query);
	return err;
}

/* For writing, so that two do not ask for the same lock at the same time. */
struct error *outcomes_claim(struct outcomes *outcomes, size_t most,
			     struct vec *sides, bool *ret_others)
{
	struct error *err = store_begin_write(outcomes->store);
	bool others = false;

	if (!err)
		err = store_end(outcomes->store,
				claim(outcomes, most, sides, &others));
	if (!err)
		*ret_others = others;
	return err;
}

static struct error *find_at(struct store *store,
			     const struct hunt_place *place,
			     struct target_record *ret, bool *ret_found)
{
	struct query *query;
	bool row = false;
	struct error *err = query_prepare(
		store,
		"SELECT " RECORD_COLUMNS " FROM side"
		" WHERE module = ? AND offset = ?"
		" ORDER BY result = 'provoked' DESC, rank DESC, side LIMIT 1",
		&query);

	if (err)
		return err;
	query_bind_text(query, 1, place->module);
	query_bind(query, 2, place->offset);
	err = query_next(query, &row);
	if (!err && row)
		err = read_row(query, ret);
	query_free(query);
	if (!err)
		*ret_found = row;
	return err;
}

struct error *outcomes_find_at(struct outcomes *outcomes,
			       const struct hunt_place *place,
			       struct target_record *ret, bool *ret_found)
{
	struct error *err = store_begin_read(outcomes->store);

	return err ? err
		   : store_end(outcomes->store,
			       find_at(outcomes->store, place, ret, ret_found));
}

static const char *or_null(const char *text)
{
	return text[0] ? text : NULL;
}

static struct error *write_try(const struct outcomes *outcomes, uint64_t side,
			       const struct target_outcome *outcome)
{
	struct query *query;
	struct error *err = query_prepare(
		outcomes->store,
		"INSERT INTO try (side, worker, result, reached, hold_ns,"
		" ordered_by, race) VALUES (?, ?, ?, ?, ?, ?, ?)",
		&query);

	if (err)
		return err;
	query_bind(query, 1, side);
	query_bind_text(query, 2, outcomes->worker.name);
	query_bind_text(query, 3, target_result_name(outcome->result));
	query_bind(query, 4, outcome->reached);
	query_bind(query, 5, outcome->hold_ns);
	query_bind_text(query, 6, outcome->ordered_by);
	query_bind_text(query, 7, or_null(outcome->race));
	err = query_run(query);
	query_free(query);
	return err;
}

/* The result changes once, or to provoked. */
static struct error *write_side(const struct outcomes *outcomes, uint64_t side,
				const struct target_outcome *outcome)
{
	struct query *query;
	struct error *err = query_prepare(
		outcomes->store,
		"UPDATE side SET runs = runs + ?2,"
		" reached = max(reached, ?3), hold_ns = max(hold_ns, ?4),"
		" time = CASE ?5 WHEN 'pending' THEN time ELSE " NOW " END,"
		" ordered_by = CASE result WHEN 'pending' THEN ?6"
		" ELSE ordered_by END,"
		" race = coalesce(race, ?7),"
		" result = CASE WHEN ?5 <> 'pending' AND"
		" coalesce(race, ?7) IS NOT NULL THEN 'provoked'"
		" WHEN result = 'pending' OR ?5 = 'provoked'"
		" THEN ?5 ELSE result END WHERE side = ?1",
		&query);

	if (err)
		return err;
	query_bind(query, 1, side);
	query_bind(query, 2, outcome->runs);
	query_bind(query, 3, outcome->reached);
	query_bind(query, 4, outcome->hold_ns);
	query_bind_text(query, 5, target_result_name(outcome->result));
	query_bind_text(query, 6, outcome->ordered_by);
	query_bind_text(query, 7, or_null(outcome->race));
	err = query_run(query);
	query_free(query);
	return err;
}

struct error *outcomes_save(struct outcomes *outcomes, uint64_t side,
			    const struct target_outcome *outcome)
{
	struct error *err = store_begin_write(outcomes->store);

	if (err)
		return err;
	err = write_try(outcomes, side, outcome);
	if (!err)
		err = write_side(outcomes, side, outcome);
	err = store_end(outcomes->store, err);
	if (!err && map_remove(&outcomes->claimed, side))
		err = shared_unlock(outcomes->lock_fd, side);
	return err;
}

struct error *outcomes_count(struct outcomes *outcomes,
			     struct outcomes_counts *ret)
{
	struct outcomes_counts counts = { .sides = 0 };
	struct query *query;
	bool row = true;
	struct error *err = query_prepare(
		outcomes->store,
		"SELECT result, count(*) FROM side GROUP BY result", &query);

	if (err)
		return err;
	while (!err && (err = query_next(query, &row)) == NULL && row) {
		const char *name = query_text(query, 0);
		uint64_t count = query_number(query, 1, INT64_MAX);
		unsigned int result;

		counts.sides += count;
		if (name && target_result_parse(name, &result))
			counts.results[result] = count;
	}
	query_free(query);
	if (!err)
		*ret = counts;
	return err;
}

static struct error *load(struct store *store, const char *sql,
			  struct vec *records)
{
	struct query *query;
	bool row = true;
	struct error *err = query_prepare(store, sql, &query);

	if (err)
		return err;
	while (!err && (err = query_next(query, &row)) == NULL && row) {
		struct target_record *record = vec_append(records);

		if (!record) {
			err = error_nomem;
			break;
		}
		target_record_init(record);
		err = read_row(query, record);
	}
	query_free(query);
	return err;
}

struct error *outcomes_load(struct outcomes *outcomes, struct vec *records)
{
	return load(outcomes->store,
		    "SELECT " RECORD_COLUMNS
		    " FROM side ORDER BY rank DESC, side",
		    records);
}

struct error *outcomes_load_met(struct store *store, struct vec *records)
{
	return load(store,
		    "SELECT " RECORD_COLUMNS
		    " FROM side WHERE race IS NOT NULL ORDER BY side",
		    records);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What runs have taught, in tables; see learned-rows.h. Their ids only grow, so
 * that they tell which of two rows is older.
 */
#include "report/learned-rows.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/map.h"
#include "report/learned.h"
#include "store/query.h"
#include "store/store.h"
#include "x86/access.h"

/* For the counts of a row, in SQL. */
#define COLUMN(name) " " #name " INTEGER NOT NULL CHECK (" #name " >= 0),"
#define NAME(name) ", " #name
#define PARAMETER(name) ", ?"
#define SUM(name) \
	" " #name " = min(" #name " + excluded." #name ", 4503599627370495),"

#define SITE_COLUMNS LEARNED_SITE_COUNTS(COLUMN)
#define SITE_NAMES LEARNED_SITE_COUNTS(NAME)
#define SITE_PARAMETERS LEARNED_SITE_COUNTS(PARAMETER)
#define SITE_SUMS LEARNED_SITE_COUNTS(SUM)
#define PAIR_COLUMNS LEARNED_PAIR_COUNTS(COLUMN)
#define PAIR_NAMES LEARNED_PAIR_COUNTS(NAME)
#define PAIR_PARAMETERS LEARNED_PAIR_COUNTS(PARAMETER)
#define PAIR_SUMS LEARNED_PAIR_COUNTS(SUM)

_Static_assert(LEARNED_COUNT_MAX == 4503599627370495, "the number above");

/* And for a row in memory. */
#define READ(name) \
	row->name += query_number(query, column++, LEARNED_COUNT_MAX);
#define BIND(name) query_bind(query, parameter++, row->name);
#define HAS(name) row->name ||

/* racewatch-state(5) explains each; STRICT keeps types right. */
const struct store_kind learned_kind = {
	.name = "a state of racewatch",
	.application = STORE_STATE,
	.version = 1,
	.schema =
		"CREATE TABLE state ("
		" id INTEGER PRIMARY KEY CHECK (id = 1),"
		" runs INTEGER NOT NULL CHECK (runs >= 0)) STRICT;"
		"INSERT INTO state VALUES (1, 0);"
		"CREATE TABLE module ("
		" id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT)"
		" STRICT;"
		"CREATE UNIQUE INDEX module_same ON module"
		" (coalesce(build_id, path), build_id IS NULL);"
		"CREATE TABLE site ("
		" id INTEGER PRIMARY KEY,"
		" module INTEGER NOT NULL REFERENCES module,"
		" offset INTEGER NOT NULL"
		"  CHECK (offset >= 0 AND offset < 17592186044416),"
		" reads INTEGER NOT NULL CHECK (reads IN (0, 1)),"
		" writes INTEGER NOT NULL CHECK (writes IN (0, 1))," SITE_COLUMNS
		" UNIQUE (module, offset)) STRICT;"
		"CREATE TABLE pair ("
		" id INTEGER PRIMARY KEY,"
		" site INTEGER NOT NULL REFERENCES site,"
		" other INTEGER NOT NULL REFERENCES site," PAIR_COLUMNS
		" UNIQUE (site, other), CHECK (site <= other)) STRICT;",
};

/* Where rows of the database are in memory: by id, an index. */
struct reading {
	struct learned *learned;
	struct map modules, sites;
	struct query *query;
};

/* Out of memory, or no room? Then the row is left out. */
static struct error *take(struct map *map, uint64_t id, uint32_t index,
			  bool is_full)
{
	if (index == UINT32_MAX)
		return is_full ? NULL : error_nomem;
	return !map || map_set(map, id, index) ? NULL : error_nomem;
}

static struct error *read_runs(struct reading *reading)
{
	reading->learned->runs +=
		query_number(reading->query, 0, LEARNED_COUNT_MAX);
	return NULL;
}

static struct error *read_module(struct reading *reading)
{
	struct learned *learned = reading->learned;
	const char *path = query_text(reading->query, 1);
	uint32_t index = UINT32_MAX;

	if (!path)
		return error_nomem;
	index = learned_module(learned, path, query_text(reading->query, 2));
	return take(&reading->modules, query_bits(reading->query, 0), index,
		    learned->modules.count >= LEARNED_MODULES_MAX);
}

static struct error *read_site(struct reading *reading)
{
	struct learned *learned = reading->learned;
	struct query *query = reading->query;
	const uint64_t *module =
		map_get(&reading->modules, query_bits(query, 1));
	uint64_t offset = query_number(query, 2, LEARNED_OFFSET_MAX - 1);
	uint32_t index;
	struct learned_site *row;
	int column = 5;

	if (!module)
		return NULL;
	index = learned_site(learned, (uint32_t)*module, offset);
	if (index != UINT32_MAX) {
		row = learned_site_at(learned, index);
		if (query_number(query, 3, 1))
			row->kind |= ACCESS_READ;
		if (query_number(query, 4, 1))
			row->kind |= ACCESS_WRITE;
		LEARNED_SITE_COUNTS(READ)
	}
	return take(&reading->sites, query_bits(query, 0), index,
		    learned->sites.count >= LEARNED_SITES_MAX);
}

static struct error *read_pair(struct reading *reading)
{
	struct learned *learned = reading->learned;
	struct query *query = reading->query;
	const uint64_t *one = map_get(&reading->sites, query_bits(query, 0));
	const uint64_t *two = map_get(&reading->sites, query_bits(query, 1));
	struct learned_pair *row;
	uint32_t index;
	int column = 2;

	if (!one || !two)
		return NULL;
	index = learned_pair(learned, (uint32_t)*one, (uint32_t)*two);
	if (index != UINT32_MAX) {
		row = learned_pair_at(learned, index);
		LEARNED_PAIR_COUNTS(READ)
	}
	return take(NULL, 0, index, learned->pairs.count >= LEARNED_PAIRS_MAX);
}

static struct error *read_table(struct reading *reading, struct store *store,
				const char *sql, uint64_t most,
				struct error *(*read)(struct reading *))
{
	struct error *err = query_prepare(store, sql, &reading->query);
	bool row = true;

	if (err)
		return err;
	if (most)
		query_bind(reading->query, 1, most);
	while (!err && row) {
		err = query_next(reading->query, &row);
		if (!err && row)
			err = read(reading);
	}
	query_free(reading->query);
	return err;
}

struct error *learned_read_rows(struct learned *learned, struct store *store)
{
	/* what is in a pair or shares comes first, and what is new */
	static const char sites[] =
		"SELECT id, module, offset, reads, writes" SITE_NAMES
		" FROM site ORDER BY shared = 0 AND id NOT IN"
		" (SELECT site FROM pair UNION ALL SELECT other FROM pair),"
		" id DESC LIMIT ?";
	struct reading reading = { .learned = learned };
	struct error *err = read_table(&reading, store,
				       "SELECT runs FROM state", 0, read_runs);

	if (!err)
		err = read_table(&reading, store,
				 "SELECT id, path, build_id FROM module", 0,
				 read_module);
	if (!err)
		err = read_table(&reading, store, sites,
				 LEARNED_SITES_MAX - LEARNED_ROOM, read_site);
	if (!err)
		err = read_table(&reading, store,
				 "SELECT site, other" PAIR_NAMES
				 " FROM pair ORDER BY id",
				 0, read_pair);
	map_deinit(&reading.modules);
	map_deinit(&reading.sites);
	return err;
}

/* What is being added, and which ids its modules and sites have; 0: not yet. */
struct adding {
	const struct learned *learned;
	uint64_t *modules, *sites;
	struct query *new_module, *find_module, *site, *pair;
};

/* Run a query that returns one row, of one number. */
static struct error *ask(struct query *query, uint64_t *ret)
{
	bool row = false;
	struct error *err = query_next(query, &row);

	if (err)
		return err;
	*ret = row ? query_bits(query, 0) : 0;
	return row ? query_run(query) : NULL;
}

static struct error *add_module(struct adding *adding, uint32_t index)
{
	const struct learned_module *module =
		learned_module_at(adding->learned, index);
	struct query *queries[] = { adding->new_module, adding->find_module };
	struct error *err;

	for (int i = 0; i < 2; i++) {
		query_bind_text(queries[i], 1, module->path);
		query_bind_text(queries[i], 2, module->build_id);
	}
	err = query_run(adding->new_module);
	return err ? err : ask(adding->find_module, &adding->modules[index]);
}

static struct error *add_site(struct adding *adding, uint32_t index)
{
	const struct learned_site *row =
		learned_site_at(adding->learned, index);
	struct query *query = adding->site;
	struct error *err = NULL;
	int parameter = 5;

	if (adding->sites[index])
		return NULL;
	if (!adding->modules[row->module])
		err = add_module(adding, row->module);
	if (err)
		return err;
	query_bind(query, 1, adding->modules[row->module]);
	query_bind(query, 2, row->offset);
	query_bind(query, 3, (row->kind & ACCESS_READ) != 0);
	query_bind(query, 4, (row->kind & ACCESS_WRITE) != 0);
	LEARNED_SITE_COUNTS(BIND)
	return ask(query, &adding->sites[index]);
}

/* The ids need not be in the order of the indices. */
static struct error *add_pair(struct adding *adding,
			      const struct learned_pair *row)
{
	uint64_t one, two;
	struct query *query = adding->pair;
	int parameter = 3;
	struct error *err = add_site(adding, row->sites[0]);

	if (!err)
		err = add_site(adding, row->sites[1]);
	if (err)
		return err;
	one = adding->sites[row->sites[0]];
	two = adding->sites[row->sites[1]];
	query_bind(query, 1, one < two ? one : two);
	query_bind(query, 2, one < two ? two : one);
	LEARNED_PAIR_COUNTS(BIND)
	return query_run(query);
}

/* What has no counts was there before. */
static struct error *add_counted(struct adding *adding)
{
	const struct learned *learned = adding->learned;
	struct error *err = NULL;

	for (uint32_t i = 0; !err && i < learned->sites.count; i++) {
		const struct learned_site *row = learned_site_at(learned, i);

		if (LEARNED_SITE_COUNTS(HAS) 0)
			err = add_site(adding, i);
	}
	for (size_t i = 0; !err && i < learned->pairs.count; i++) {
		const struct learned_pair *row = learned_pair_at(learned, i);

		if (LEARNED_PAIR_COUNTS(HAS) 0)
			err = add_pair(adding, row);
	}
	return err;
}

static struct error *prepare_adding(struct adding *adding, struct store *store)
{
	const struct {
		const char *sql;
		struct query **query;
	} queries[] = {
		{ "INSERT OR IGNORE INTO module (path, build_id) VALUES (?, ?)",
		  &adding->new_module },
		{ "SELECT id FROM module WHERE"
		  " coalesce(build_id, path) = coalesce(?2, ?1) AND"
		  " (build_id IS NULL) = (?2 IS NULL)",
		  &adding->find_module },
		{ "INSERT INTO site (module, offset, reads, writes" SITE_NAMES
		  ") VALUES (?, ?, ?, ?" SITE_PARAMETERS ")"
		  " ON CONFLICT (module, offset) DO UPDATE SET" SITE_SUMS
		  " reads = max(reads, excluded.reads),"
		  " writes = max(writes, excluded.writes)"
		  " RETURNING id",
		  &adding->site },
		{ "INSERT INTO pair (site, other" PAIR_NAMES ")"
		  " VALUES (?, ?" PAIR_PARAMETERS ")"
		  " ON CONFLICT (site, other) DO UPDATE SET" PAIR_SUMS
		  " site = site",
		  &adding->pair },
	};
	struct error *err = NULL;

	for (size_t i = 0; !err && i < sizeof(queries) / sizeof(queries[0]);
	     i++)
		err = query_prepare(store, queries[i].sql, queries[i].query);
	return err;
}

static struct error *add_all(struct adding *adding, struct store *store)
{
	const struct learned *learned = adding->learned;
	struct error *err;

	adding->modules =
		calloc(learned->modules.count + 1, sizeof(*adding->modules));
	adding->sites =
		calloc(learned->sites.count + 1, sizeof(*adding->sites));
	if (!adding->modules || !adding->sites)
		return error_nomem;
	err = prepare_adding(adding, store);
	return err ? err : add_counted(adding);
}

static struct error *add_runs(const struct learned *learned,
			      struct store *store)
{
	struct query *query;
	struct error *err = query_prepare(
		store,
		"UPDATE state SET runs = min(runs + ?, 4503599627370495)",
		&query);

	if (err)
		return err;
	query_bind(query, 1, learned->runs);
	err = query_run(query);
	query_free(query);
	return err;
}

/*
 * Keep within the limits: the oldest sites go that share nothing and are in no
 * pair. Of others, those that came last find no room.
 */
static struct error *forget(struct store *store)
{
	_Static_assert(LEARNED_SITES_MAX == 131072 &&
			       LEARNED_PAIRS_MAX == 65536,
		       "the numbers below");
	return store_execute(
		store,
		"DELETE FROM site WHERE id IN (SELECT id FROM site"
		" WHERE shared = 0 AND id NOT IN"
		" (SELECT site FROM pair UNION ALL SELECT other FROM pair)"
		" ORDER BY id LIMIT"
		" max(0, (SELECT count(*) FROM site) - 131072));"
		"CREATE TEMP TABLE IF NOT EXISTS late (id INTEGER PRIMARY KEY);"
		"DELETE FROM late;"
		"INSERT INTO late SELECT id FROM site ORDER BY id"
		" LIMIT -1 OFFSET 131072;"
		"DELETE FROM pair WHERE site IN late OR other IN late;"
		"DELETE FROM site WHERE id IN late;"
		"DELETE FROM pair WHERE id IN"
		" (SELECT id FROM pair ORDER BY id LIMIT -1 OFFSET 65536);"
		"DELETE FROM module WHERE id NOT IN (SELECT module FROM site)");
}

struct error *learned_add_rows(const struct learned *learned,
			       struct store *store)
{
	struct adding adding = { .learned = learned };
	struct error *err = add_runs(learned, store);

	if (!err)
		err = add_all(&adding, store);
	query_free(adding.new_module);
	query_free(adding.find_module);
	query_free(adding.site);
	query_free(adding.pair);
	free(adding.modules);
	free(adding.sites);
	return err ? err : forget(store);
}

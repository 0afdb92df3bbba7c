/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One race of each kind; see kinds.h.
 */
#include "report/kinds.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "report/combine.h"
#include "report/race.h"
#include "report/read.h"
#include "report/recordsort.h"
#include "report/related.h"
#include "report/sorter.h"

struct kinds_entry {
	struct race race;
	size_t memory;
	size_t next; /* with the same hash; SIZE_MAX: none */
};

void kinds_init(struct kinds *kinds, size_t limit)
{
	*kinds = (struct kinds){
		.limit = limit,
		.table = VEC_INIT(struct kinds_entry),
	};
}

static void kinds_clear(struct kinds *kinds)
{
	for (size_t i = 0; i < kinds->table.count; i++) {
		struct kinds_entry *entry = vec_at(&kinds->table, i);

		race_deinit(&entry->race);
	}
	vec_clear(&kinds->table);
	map_deinit(&kinds->by_hash);
	kinds->memory = 0;
}

void kinds_deinit(struct kinds *kinds)
{
	kinds_clear(kinds);
	vec_deinit(&kinds->table);
	sorter_destroy(kinds->groups);
	kinds->groups = NULL;
}

static struct kinds_entry *find_entry(struct kinds *kinds, uint64_t hash,
				      const uint8_t key[COMBINE_KEY_SIZE])
{
	const uint64_t *first = map_get(&kinds->by_hash, hash);
	size_t i = first ? (size_t)*first : SIZE_MAX;

	while (i != SIZE_MAX) {
		struct kinds_entry *entry = vec_at(&kinds->table, i);
		uint8_t other[COMBINE_KEY_SIZE];

		/* it has its fingerprints: this cannot fail */
		error_free(race_key(&entry->race, other));
		if (memcmp(key, other, sizeof(other)) == 0)
			return entry;
		i = entry->next;
	}
	return NULL;
}

/* Move the whole table to the groups. */
static struct error *kinds_spill(struct kinds *kinds)
{
	struct error *err = NULL;

	if (!kinds->groups)
		err = sorter_create(kinds->limit, &kinds->groups);
	for (size_t i = 0; !err && i < kinds->table.count; i++) {
		struct kinds_entry *entry = vec_at(&kinds->table, i);
		uint8_t key[COMBINE_KEY_SIZE];
		struct strbuf text = { 0 };

		err = race_key(&entry->race, key);
		strbuf_add_bytes(&text, key, sizeof(key));
		if (!err)
			err = recordsort_add_race(kinds->groups, &text,
						  &entry->race);
	}
	kinds_clear(kinds);
	return err;
}

struct error *kinds_add(struct kinds *kinds, struct race *race)
{
	uint8_t key[COMBINE_KEY_SIZE];
	struct error *err = race_key(race, key);
	struct kinds_entry *entry;
	const uint64_t *first;
	uint64_t hash;

	if (err)
		return err;
	hash = hash_bytes(key, sizeof(key));
	entry = find_entry(kinds, hash, key);
	if (entry) {
		err = race_combine(&entry->race, race);
	} else {
		first = map_get(&kinds->by_hash, hash);
		entry = vec_append(&kinds->table);
		if (!entry)
			return error_nomem;
		entry->race = *race;
		entry->next = first ? (size_t)*first : SIZE_MAX;
		race_init(race);
		if (!map_set(&kinds->by_hash, hash, kinds->table.count - 1))
			return error_nomem;
	}
	kinds->memory -= entry->memory;
	entry->memory = race_memory(&entry->race);
	kinds->memory += entry->memory;
	if (!err && kinds->memory > kinds->limit)
		err = kinds_spill(kinds);
	return err;
}

/* Combine what is adjacent and of the same kind. */
static struct error *kinds_combine(struct kinds *kinds,
				   const struct race_output *output)
{
	uint8_t kind[COMBINE_KEY_SIZE];
	struct error *err = kinds_spill(kinds);
	bool more = true, have = false;
	struct report_record record;
	struct race sum;

	report_record_init(&record);
	race_init(&sum);
	if (!err)
		err = sorter_sort(kinds->groups);
	while (!err && more) {
		struct race *race = &record.race;
		struct sorter_item item;

		err = recordsort_next(kinds->groups, &record, &item, &more);
		if (err)
			break;
		if (have && more && memcmp(item.key, kind, sizeof(kind)) == 0) {
			err = race_combine(&sum, race);
			continue;
		}
		if (have)
			err = output->put(output->context, &sum);
		race_deinit(&sum);
		have = more;
		if (more) {
			memcpy(kind, item.key, sizeof(kind));
			sum = *race;
			race_init(race);
		}
	}
	race_deinit(&sum);
	report_record_deinit(&record);
	sorter_destroy(kinds->groups);
	kinds->groups = NULL;
	return err;
}

/* What the replays of others on its bytes say, of each race. */
static struct error *kinds_relate(struct kinds *kinds)
{
	struct vec races = VEC_INIT(struct race *);
	bool good = true;

	for (size_t i = 0; i < kinds->table.count && good; i++) {
		struct kinds_entry *entry = vec_at(&kinds->table, i);
		struct race *race = &entry->race;

		good = vec_push(&races, &race);
	}
	for (size_t i = 0; i < races.count && good; i++)
		related_sum_replays(*(struct race **)vec_at(&races, i), &races);
	vec_deinit(&races);
	return good ? NULL : error_nomem;
}

struct error *kinds_finish(struct kinds *kinds,
			   const struct race_output *output)
{
	struct error *err = NULL;

	if (kinds->groups)
		return kinds_combine(kinds, output);
	if (kinds->table.count <= KINDS_RELATED_MAX)
		err = kinds_relate(kinds);
	for (size_t i = 0; !err && i < kinds->table.count; i++) {
		struct kinds_entry *entry = vec_at(&kinds->table, i);

		err = output->put(output->context, &entry->race);
	}
	kinds_clear(kinds);
	return err;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Merging reports; see merge.h. The way of a race:
 *
 *   pending   the races of the run that is being read, the last of each id;
 *             what is more than memory holds goes to `spilled', by id
 *   table     one of each kind, of the runs that have been read; when memory is
 *             full all go to `groups', by kind
 *   output    ranked, when all has been read; with it the other records
 *
 * The table is combined with itself through `groups', which is right because
 * combining is associative. With a single run, pending goes to the output.
 */
#include "report/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "report/combine.h"
#include "report/read.h"
#include "report/render.h"
#include "report/sorter.h"
#include "report/totals.h"

/* What the keys of the output begin with. */
enum rank { RANK_RUN, RANK_PROGRESS, RANK_RACE, RANK_CRASH, RANK_SUMMARY };

/* One of a kind. */
struct entry {
	struct race race;
	size_t memory;
	size_t next; /* with the same hash; SIZE_MAX: none */
};

struct merge {
	size_t memory;
	uint64_t order; /* of records */
	/* the run that is being read, and all of them */
	bool in_run, run_summed;
	uint64_t runs, cut_runs;
	char *host;
	struct vec pending; /* of struct race */
	struct map by_id; /* place in pending */
	size_t pending_memory;
	struct sorter *spilled; /* NULL: all is in pending */
	struct totals totals;
	struct vec table; /* of struct entry */
	struct map by_hash;
	size_t table_memory;
	struct sorter *groups; /* NULL: all are in the table */
	struct sorter *crashes;
	struct map wanted; /* fingerprints that crashes name, to new ids */
	struct sorter *output;
	bool finished;
	uint64_t last_id; /* given to a race that came out */
	struct report_record scratch;
};

struct error *merge_create(uint64_t memory, struct merge **ret)
{
	struct merge *merge = calloc(1, sizeof(*merge));
	struct error *err;

	if (!merge)
		return error_nomem;
	merge->memory = (size_t)memory;
	merge->pending = (struct vec)VEC_INIT(struct race);
	merge->table = (struct vec)VEC_INIT(struct entry);
	totals_init(&merge->totals);
	report_record_init(&merge->scratch);
	err = sorter_create(merge->memory, &merge->output);
	if (!err)
		err = sorter_create(merge->memory, &merge->crashes);
	if (err)
		merge_destroy(merge);
	else
		*ret = merge;
	return err;
}

static void clear_pending(struct merge *merge)
{
	for (size_t i = 0; i < merge->pending.count; i++)
		race_deinit(vec_at(&merge->pending, i));
	vec_clear(&merge->pending);
	map_deinit(&merge->by_id);
	merge->pending_memory = 0;
}

static void clear_table(struct merge *merge)
{
	for (size_t i = 0; i < merge->table.count; i++) {
		struct entry *entry = vec_at(&merge->table, i);

		race_deinit(&entry->race);
	}
	vec_clear(&merge->table);
	map_deinit(&merge->by_hash);
	merge->table_memory = 0;
}

void merge_destroy(struct merge *merge)
{
	if (!merge)
		return;
	clear_pending(merge);
	clear_table(merge);
	vec_deinit(&merge->pending);
	vec_deinit(&merge->table);
	map_deinit(&merge->wanted);
	totals_deinit(&merge->totals);
	report_record_deinit(&merge->scratch);
	sorter_destroy(merge->spilled);
	sorter_destroy(merge->groups);
	sorter_destroy(merge->crashes);
	sorter_destroy(merge->output);
	free(merge->host);
	free(merge);
}

uint64_t merge_runs(const struct merge *merge)
{
	return merge->runs;
}

uint64_t merge_cut_runs(const struct merge *merge)
{
	return merge->cut_runs;
}

static void add_number(struct strbuf *key, uint64_t n)
{
	unsigned char bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(n >> (56 - 8 * i));
	strbuf_add_bytes(key, bytes, sizeof(bytes));
}

/* The record as a line, which the caller frees. */
static struct error *line_of(const struct report_record *record, char **ret,
			     size_t *ret_size)
{
	struct renderer json = { .ops = &render_json };
	struct error *err;

	*ret = NULL;
	json.out = open_memstream(ret, ret_size);
	if (!json.out)
		return error_nomem;
	err = render_record(&json, record);
	if (fclose(json.out) != 0 && !err)
		err = error_nomem;
	if (err) {
		free(*ret);
		*ret = NULL;
	}
	return err;
}

/* Add the record's line under the key, which is emptied. */
static struct error *sort_record(struct sorter *sorter, struct strbuf *key,
				 const struct report_record *record)
{
	struct sorter_item item = { .size = 0 };
	struct error *err = key->failed ? error_nomem : NULL;
	char *line = NULL;

	if (!err)
		err = line_of(record, &line, &item.size);
	if (!err) {
		item.key = (const uint8_t *)key->text;
		item.key_size = key->length;
		item.data = line;
		err = sorter_add(sorter, &item);
	}
	free(line);
	strbuf_deinit(key);
	return err;
}

/* The same of a race, which stays the caller's. */
static struct error *sort_race(struct sorter *sorter, struct strbuf *key,
			       const struct race *race)
{
	struct report_record record = { .type = REPORT_RACE, .race = *race };

	return sort_record(sorter, key, &record);
}

static struct error *next_race(struct merge *merge, struct sorter *sorter,
			       struct sorter_item *ret_item, bool *ret_more)
{
	struct error *err = sorter_next(sorter, ret_item, ret_more);

	if (err || !*ret_more)
		return err;
	return report_record_parse(ret_item->data, ret_item->size,
				   &merge->scratch);
}

static struct error *output_race(struct merge *merge, struct race *race)
{
	struct run_summary *sum = &merge->totals.summary;
	struct strbuf key = { 0 };
	struct error *err;

	strbuf_add_bytes(&key, &(char){ RANK_RACE }, 1);
	err = race_rank(race, &key);
	if (err) {
		strbuf_deinit(&key);
		return err;
	}
	if (race->verdict != VERDICT_SYNC && race->suppressed.rule) {
		sum->suppressed++;
	} else if (race->verdict != VERDICT_SYNC) {
		sum->races++;
		sum->known += race->status == STATUS_KNOWN;
		sum->races_new += race->status != STATUS_KNOWN;
	}
	race->id = 0;
	return sort_race(merge->output, &key, race);
}

/* As it was written, in the order of ids. */
static struct error *keep_race(struct merge *merge, const struct race *race)
{
	struct strbuf key = { 0 };

	strbuf_add_bytes(&key, &(char){ RANK_RACE }, 1);
	add_number(&key, race->id);
	add_number(&key, merge->order++);
	return sort_race(merge->output, &key, race);
}

static uint64_t hash_key(const uint8_t key[COMBINE_KEY_SIZE])
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < COMBINE_KEY_SIZE; i++)
		hash = (hash ^ key[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static struct entry *find_entry(struct merge *merge, uint64_t hash,
				const uint8_t key[COMBINE_KEY_SIZE])
{
	const uint64_t *first = map_get(&merge->by_hash, hash);
	size_t i = first ? (size_t)*first : SIZE_MAX;

	while (i != SIZE_MAX) {
		struct entry *entry = vec_at(&merge->table, i);
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
static struct error *spill_table(struct merge *merge)
{
	struct error *err = NULL;

	if (!merge->groups)
		err = sorter_create(merge->memory, &merge->groups);
	for (size_t i = 0; !err && i < merge->table.count; i++) {
		struct entry *entry = vec_at(&merge->table, i);
		uint8_t key[COMBINE_KEY_SIZE];
		struct strbuf text = { 0 };

		err = race_key(&entry->race, key);
		strbuf_add_bytes(&text, key, sizeof(key));
		if (!err)
			err = sort_race(merge->groups, &text, &entry->race);
	}
	clear_table(merge);
	return err;
}

/* Into the table; the race is then empty. */
static struct error *take_race(struct merge *merge, struct race *race)
{
	uint8_t key[COMBINE_KEY_SIZE];
	struct error *err = race_normalize(race);
	struct entry *entry;
	const uint64_t *first;
	uint64_t hash;

	if (!err && race->hosts.count == 0)
		err = race_add_host(race, merge->host);
	if (!err)
		err = race_key(race, key);
	if (err)
		return err;
	hash = hash_key(key);
	entry = find_entry(merge, hash, key);
	if (entry) {
		err = race_combine(&entry->race, race);
	} else {
		first = map_get(&merge->by_hash, hash);
		entry = vec_append(&merge->table);
		if (!entry)
			return error_nomem;
		entry->race = *race;
		entry->next = first ? (size_t)*first : SIZE_MAX;
		race_init(race);
		if (!map_set(&merge->by_hash, hash, merge->table.count - 1))
			return error_nomem;
	}
	merge->table_memory -= entry->memory;
	entry->memory = race_memory(&entry->race);
	merge->table_memory += entry->memory;
	if (!err && merge->table_memory > merge->memory)
		err = spill_table(merge);
	return err;
}

static struct error *spill_pending(struct merge *merge)
{
	struct error *err = NULL;

	if (!merge->spilled)
		err = sorter_create(merge->memory, &merge->spilled);
	for (size_t i = 0; !err && i < merge->pending.count; i++) {
		const struct race *race = vec_at(&merge->pending, i);
		struct strbuf key = { 0 };

		add_number(&key, race->id);
		add_number(&key, merge->order++);
		err = sort_race(merge->spilled, &key, race);
	}
	clear_pending(merge);
	return err;
}

/* Where a race of the run goes: the table, or as it is to the output. */
static struct error *settle_race(struct merge *merge, struct race *race,
				 bool merged)
{
	return merged ? take_race(merge, race) : keep_race(merge, race);
}

/* Of those with the same id the last; those without an id are all others. */
static struct error *settle_spilled(struct merge *merge, bool merged)
{
	struct error *err = spill_pending(merge);
	struct race last;
	bool more = true, have = false;

	race_init(&last);
	if (!err)
		err = sorter_sort(merge->spilled);
	while (!err && more) {
		struct sorter_item item;

		err = next_race(merge, merge->spilled, &item, &more);
		if (err)
			break;
		if (have && (!more || last.id == 0 ||
			     last.id != merge->scratch.race.id))
			err = settle_race(merge, &last, merged);
		race_deinit(&last);
		have = more;
		if (more) {
			last = merge->scratch.race;
			race_init(&merge->scratch.race);
		}
	}
	race_deinit(&last);
	sorter_destroy(merge->spilled);
	merge->spilled = NULL;
	return err;
}

/* The races of a run that was read. */
static struct error *settle_run(struct merge *merge, bool merged)
{
	struct error *err = NULL;

	if (merge->spilled)
		return settle_spilled(merge, merged);
	for (size_t i = 0; !err && i < merge->pending.count; i++)
		err = settle_race(merge, vec_at(&merge->pending, i), merged);
	clear_pending(merge);
	return err;
}

void merge_end_file(struct merge *merge)
{
	if (merge->in_run && !merge->run_summed)
		merge->cut_runs++;
	merge->in_run = false;
}

/* A new run: those before it are settled, and nothing comes out as it is. */
static struct error *begin_run(struct merge *merge)
{
	struct error *err = NULL;

	merge_end_file(merge);
	if (merge->runs > 0)
		err = settle_run(merge, true);
	if (!err && merge->runs == 1) {
		sorter_destroy(merge->output);
		merge->output = NULL;
		err = sorter_create(merge->memory, &merge->output);
	}
	merge->runs++;
	merge->in_run = true;
	merge->run_summed = false;
	free(merge->host);
	merge->host = NULL;
	return err;
}

/* As it was written, while it is of the only run. */
static struct error *keep_record(struct merge *merge, enum rank rank,
				 const struct report_record *record)
{
	struct strbuf key = { 0 };

	if (merge->runs > 1)
		return NULL;
	strbuf_add_bytes(&key, &(char){ (char)rank }, 1);
	add_number(&key, merge->order++);
	return sort_record(merge->output, &key, record);
}

static struct error *add_run(struct merge *merge,
			     const struct report_record *record)
{
	struct error *err;

	if (record->run.host) {
		merge->host = strdup(record->run.host);
		if (!merge->host)
			return error_nomem;
	}
	err = totals_add_run(&merge->totals, &record->run);
	return err ? err : keep_record(merge, RANK_RUN, record);
}

/* The race replaces the one before it with its id. */
static struct error *add_race(struct merge *merge, struct race *race)
{
	const uint64_t *place = race->id ? map_get(&merge->by_id, race->id)
					 : NULL;

	merge->pending_memory += race_memory(race);
	if (place) {
		struct race *before = vec_at(&merge->pending, *place);

		merge->pending_memory -= race_memory(before);
		race_deinit(before);
		*before = *race;
	} else if (!vec_push(&merge->pending, race)) {
		return error_nomem;
	}
	race_init(race);
	if (!place) {
		size_t last = merge->pending.count - 1;
		const struct race *kept = vec_at(&merge->pending, last);

		if (kept->id && !map_set(&merge->by_id, kept->id, last))
			return error_nomem;
	}
	if (merge->pending_memory > merge->memory)
		return spill_pending(merge);
	return NULL;
}

/* A number for the fingerprint of a race that a crash names. */
static uint64_t crash_key(const char *fingerprint)
{
	char digits[17];

	snprintf(digits, sizeof(digits), "%.16s", fingerprint);
	return strtoull(digits, NULL, 16);
}

static struct error *add_crash(struct merge *merge,
			       struct report_record *record)
{
	struct strbuf key = { 0 };
	struct vec *races = &record->crash.races;

	for (size_t i = 0; i < races->count; i++) {
		const struct crash_race *race = vec_at(races, i);

		if (race->fingerprint[0] &&
		    !map_set(&merge->wanted, crash_key(race->fingerprint), 0))
			return error_nomem;
	}
	strbuf_add_bytes(&key, &(char){ RANK_CRASH }, 1);
	add_number(&key, record->crash.time);
	return sort_record(merge->crashes, &key, record);
}

struct error *merge_add(struct merge *merge, struct report_record *record)
{
	struct error *err = NULL;

	if (record->type == REPORT_OTHER)
		return NULL;
	if (record->type == REPORT_RUN || !merge->in_run)
		err = begin_run(merge);
	if (err)
		return err;
	switch (record->type) {
	case REPORT_RUN:
		return add_run(merge, record);
	case REPORT_RACE:
		return add_race(merge, &record->race);
	case REPORT_CRASH:
		return add_crash(merge, record);
	case REPORT_PROGRESS:
		return keep_record(merge, RANK_PROGRESS, record);
	case REPORT_SUMMARY:
		merge->run_summed = true;
		err = totals_add_summary(&merge->totals, &record->summary);
		return err ? err : keep_record(merge, RANK_SUMMARY, record);
	case REPORT_OTHER:
		break;
	}
	return NULL;
}

struct error *merge_add_all(struct merge *merge, struct reader *reader)
{
	struct report_record record;
	struct error *err;
	bool more = true;

	report_record_init(&record);
	do {
		err = reader_next(reader, &record, &more);
		if (!err && more)
			err = merge_add(merge, &record);
	} while (!err && more);
	report_record_deinit(&record);
	merge_end_file(merge);
	return err;
}

/* Combine what is adjacent and of the same kind. */
static struct error *finish_groups(struct merge *merge)
{
	uint8_t kind[COMBINE_KEY_SIZE];
	struct error *err = spill_table(merge);
	bool more = true, have = false;
	struct race sum;

	race_init(&sum);
	if (!err)
		err = sorter_sort(merge->groups);
	while (!err && more) {
		struct race *race = &merge->scratch.race;
		struct sorter_item item;

		err = next_race(merge, merge->groups, &item, &more);
		if (err)
			break;
		if (have && more && memcmp(item.key, kind, sizeof(kind)) == 0) {
			err = race_combine(&sum, race);
			continue;
		}
		if (have)
			err = output_race(merge, &sum);
		race_deinit(&sum);
		have = more;
		if (more) {
			memcpy(kind, item.key, sizeof(kind));
			sum = *race;
			race_init(race);
		}
	}
	race_deinit(&sum);
	sorter_destroy(merge->groups);
	merge->groups = NULL;
	return err;
}

static struct error *finish_table(struct merge *merge)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < merge->table.count; i++) {
		struct entry *entry = vec_at(&merge->table, i);

		err = output_race(merge, &entry->race);
	}
	clear_table(merge);
	return err;
}

/* The sums of all runs. */
static struct error *finish_totals(struct merge *merge)
{
	struct report_record record = { .type = REPORT_RUN };
	struct strbuf key = { 0 };
	struct error *err = NULL;

	if (merge->totals.has_run) {
		totals_run(&merge->totals, &record.run);
		strbuf_add_bytes(&key, &(char){ RANK_RUN }, 1);
		err = sort_record(merge->output, &key, &record);
	}
	if (err || !merge->totals.has_summary)
		return err;
	record.type = REPORT_SUMMARY;
	totals_summary(&merge->totals, &record.summary);
	strbuf_add_bytes(&key, &(char){ RANK_SUMMARY }, 1);
	return sort_record(merge->output, &key, &record);
}

static struct error *finish_merged(struct merge *merge)
{
	struct run_summary *sum = &merge->totals.summary;
	struct error *err = settle_run(merge, true);

	/* distinct ones are counted anew */
	sum->races = sum->races_new = sum->suppressed = sum->known = 0;
	if (!err)
		err = merge->groups ? finish_groups(merge)
				    : finish_table(merge);
	return err ? err : finish_totals(merge);
}

/* The key is all of the record; its races will get the new ids. */
static struct error *output_crash(struct merge *merge)
{
	struct vec *races = &merge->scratch.crash.races;
	struct strbuf key = { 0 };
	struct error *err;
	char *line = NULL;
	size_t size;

	for (size_t i = 0; i < races->count; i++)
		((struct crash_race *)vec_at(races, i))->id = 0;
	err = line_of(&merge->scratch, &line, &size);
	if (err)
		return err;
	strbuf_add_bytes(&key, &(char){ RANK_CRASH }, 1);
	add_number(&key, merge->scratch.crash.time);
	strbuf_add_bytes(&key, line, size);
	free(line);
	return sort_record(merge->output, &key, &merge->scratch);
}

static struct error *finish_crashes(struct merge *merge)
{
	struct error *err = sorter_sort(merge->crashes);
	struct sorter_item item;
	bool more = true;

	while (!err && more) {
		err = sorter_next(merge->crashes, &item, &more);
		if (err || !more)
			break;
		if (merge->runs < 2) {
			err = sorter_add(merge->output, &item);
			continue;
		}
		err = report_record_parse(item.data, item.size,
					  &merge->scratch);
		if (!err)
			err = output_crash(merge);
	}
	return err;
}

static struct error *finish(struct merge *merge)
{
	struct error *err;

	merge_end_file(merge);
	err = merge->runs > 1 ? finish_merged(merge) : settle_run(merge, false);
	return err ? err : finish_crashes(merge);
}

static void forget_ids(struct merge *merge)
{
	uint64_t key, id;
	size_t cursor = 0;

	while (map_next(&merge->wanted, &cursor, &key, &id))
		*map_get(&merge->wanted, key) = 0;
}

struct error *merge_rewind(struct merge *merge)
{
	struct error *err = merge->finished ? NULL : finish(merge);

	merge->finished = true;
	merge->last_id = 0;
	forget_ids(merge);
	return err ? err : sorter_sort(merge->output);
}

/* Ids of a merged report, where the crashes find them. */
static void give_id(struct merge *merge, struct race *race)
{
	uint64_t *wanted =
		map_get(&merge->wanted, crash_key(race->fingerprint));

	race->id = ++merge->last_id;
	/* those that are suppressed come after others */
	if (wanted && *wanted == 0 && race->verdict != VERDICT_SYNC)
		*wanted = race->id;
}

/* Name the races by their new ids; one that is not found has none. */
static void give_crash_ids(struct merge *merge, struct crash *crash)
{
	for (size_t i = 0; i < crash->races.count; i++) {
		struct crash_race *race = vec_at(&crash->races, i);
		const uint64_t *id =
			map_get(&merge->wanted, crash_key(race->fingerprint));

		race->id = id && race->fingerprint[0] ? *id : 0;
	}
}

struct error *merge_next(struct merge *merge, struct report_record *record,
			 bool *ret_more)
{
	struct sorter_item item;
	struct error *err = sorter_next(merge->output, &item, ret_more);

	if (err || !*ret_more)
		return err;
	err = report_record_parse(item.data, item.size, record);
	if (err || merge->runs < 2)
		return err;
	if (record->type == REPORT_RACE)
		give_id(merge, &record->race);
	else if (record->type == REPORT_CRASH)
		give_crash_ids(merge, &record->crash);
	return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Merging reports; see merge.h. The way of a race:
 *
 *   pending   of the run that is being read, the last of each id
 *   kinds     one of each kind, of the runs that have been read
 *   output    ranked, when all has been read; with it the other records
 *
 * With a single run, pending goes to the output. Crashes and targets are kept
 * apart until it is known whether there are several runs.
 */
#include "report/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "report/combine.h"
#include "report/kinds.h"
#include "report/pending.h"
#include "report/race.h"
#include "report/read.h"
#include "report/recordsort.h"
#include "report/sorter.h"
#include "report/totals.h"

/* What the keys of the output begin with. */
enum rank {
	RANK_RUN,
	RANK_PROGRESS,
	RANK_RACE,
	RANK_CRASH,
	RANK_TARGET,
	RANK_CANDIDATE,
	RANK_SUMMARY
};

struct merge {
	size_t memory;
	uint64_t order; /* of records */
	/* the run that is being read, and all of them */
	bool in_run, run_summed;
	uint64_t runs, cut_runs;
	char *host;
	struct pending pending;
	struct kinds kinds;
	struct totals totals;
	struct sorter *kept; /* crashes, targets and candidates */
	struct map wanted; /* fingerprints that crashes name, to new ids */
	struct sorter *output;
	bool finished;
	uint64_t last_id, last_target_id; /* given to what came out */
	char last_target[33]; /* fingerprint of the one before */
	struct error *(*judge)(struct race *race); /* NULL: nobody does */
	struct report_record scratch;
};

struct error *merge_create(uint64_t memory, struct merge **ret)
{
	struct merge *merge = calloc(1, sizeof(*merge));
	struct error *err;

	if (!merge)
		return error_nomem;
	merge->memory = (size_t)memory;
	pending_init(&merge->pending, merge->memory);
	kinds_init(&merge->kinds, merge->memory);
	totals_init(&merge->totals);
	report_record_init(&merge->scratch);
	err = sorter_create(merge->memory, &merge->output);
	if (!err)
		err = sorter_create(merge->memory, &merge->kept);
	if (err)
		merge_destroy(merge);
	else
		*ret = merge;
	return err;
}

void merge_destroy(struct merge *merge)
{
	if (!merge)
		return;
	pending_deinit(&merge->pending);
	kinds_deinit(&merge->kinds);
	map_deinit(&merge->wanted);
	totals_deinit(&merge->totals);
	report_record_deinit(&merge->scratch);
	sorter_destroy(merge->kept);
	sorter_destroy(merge->output);
	free(merge->host);
	free(merge);
}

void merge_judge(struct merge *merge, struct error *(*judge)(struct race *race))
{
	merge->judge = judge;
}

uint64_t merge_runs(const struct merge *merge)
{
	return merge->runs;
}

uint64_t merge_cut_runs(const struct merge *merge)
{
	return merge->cut_runs;
}

static struct error *output_race(void *context, struct race *race)
{
	struct merge *merge = context;
	struct run_summary *sum = &merge->totals.summary;
	struct strbuf key = { 0 };
	struct error *err = merge->judge ? merge->judge(race) : NULL;

	if (err)
		return err;
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
		sum->unlikely += race->verdict == VERDICT_UNLIKELY;
	}
	race->id = 0;
	return recordsort_add_race(merge->output, &key, race);
}

/*
 * As it was written, in the order of ids, but those with the verdict unlikely
 * last, and of these last those in which replays had no effect.
 */
static struct error *keep_race(void *context, struct race *race)
{
	struct merge *merge = context;
	struct strbuf key = { 0 };

	strbuf_add_bytes(&key, &(char){ RANK_RACE }, 1);
	recordsort_number(&key, (race->verdict == VERDICT_UNLIKELY) +
					race_replay_settles(race));
	recordsort_number(&key, race->id);
	recordsort_number(&key, merge->order++);
	return recordsort_add_race(merge->output, &key, race);
}

static struct error *take_race(void *context, struct race *race)
{
	struct merge *merge = context;
	struct error *err = race_normalize(race);

	if (!err && race->hosts.count == 0)
		err = race_add_host(race, merge->host);
	return err ? err : kinds_add(&merge->kinds, race);
}

/* The races of the run go to the others, or as they are to the output. */
static struct error *settle_run(struct merge *merge, bool merged)
{
	const struct race_output output = {
		.put = merged ? take_race : keep_race,
		.context = merge,
	};

	return pending_finish(&merge->pending, &output);
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
	recordsort_number(&key, merge->order++);
	return recordsort_add(merge->output, &key, record);
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
	recordsort_number(&key, record->crash.time);
	return recordsort_add(merge->kept, &key, record);
}

/* Keep the record; the whole of it goes to the end of the key, which is consumed. */
static struct error *keep_with_line(struct merge *merge, struct strbuf *key,
				    const struct report_record *record)
{
	char *line = NULL;
	size_t size;
	struct error *err = recordsort_line(record, &line, &size);

	if (err) {
		strbuf_deinit(key);
		return err;
	}
	strbuf_add_bytes(key, line, size);
	free(line);
	return recordsort_add(merge->kept, key, record);
}

/*
 * A side that was tried in several runs is one target: the first in this order,
 * in which what was provoked comes before what was not. The whole record is part
 * of the key, so that the order of the runs does not matter.
 */
static struct error *add_target(struct merge *merge,
				const struct report_record *record)
{
	const struct target_record *target = &record->target;
	struct strbuf key = { 0 };

	strbuf_add_bytes(&key, &(char){ RANK_TARGET }, 1);
	strbuf_add_bytes(&key, target->side.fingerprint,
			 sizeof(target->side.fingerprint));
	recordsort_number(&key, target->outcome.result == TARGET_PENDING
					? TARGET_RESULTS
					: target->outcome.result);
	return keep_with_line(merge, &key, record);
}

/* In the order of their numbers; of several runs, of what came of them. */
static struct error *add_candidate(struct merge *merge,
				   const struct report_record *record)
{
	struct strbuf key = { 0 };

	strbuf_add_bytes(&key, &(char){ RANK_CANDIDATE }, 1);
	return keep_with_line(merge, &key, record);
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
		return pending_add(&merge->pending, &record->race);
	case REPORT_CRASH:
		return add_crash(merge, record);
	case REPORT_TARGET:
		return add_target(merge, record);
	case REPORT_CANDIDATE:
		return add_candidate(merge, record);
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

/* The sums of all runs. */
static struct error *finish_totals(struct merge *merge)
{
	struct report_record record = { .type = REPORT_RUN };
	struct strbuf key = { 0 };
	struct error *err = NULL;

	if (merge->totals.has_run) {
		record.run = merge->totals.run;
		strbuf_add_bytes(&key, &(char){ RANK_RUN }, 1);
		err = recordsort_add(merge->output, &key, &record);
	}
	if (err || !merge->totals.has_summary)
		return err;
	record.type = REPORT_SUMMARY;
	totals_summary(&merge->totals, &record.summary);
	strbuf_add_bytes(&key, &(char){ RANK_SUMMARY }, 1);
	return recordsort_add(merge->output, &key, &record);
}

static struct error *finish_merged(struct merge *merge)
{
	const struct race_output output = { output_race, merge };
	struct run_summary *sum = &merge->totals.summary;
	struct error *err = settle_run(merge, true);

	/* distinct ones are counted anew */
	sum->races = sum->races_new = sum->suppressed = sum->known = 0;
	sum->unlikely = 0;
	if (!err)
		err = kinds_finish(&merge->kinds, &output);
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
	err = recordsort_line(&merge->scratch, &line, &size);
	if (err)
		return err;
	strbuf_add_bytes(&key, &(char){ RANK_CRASH }, 1);
	recordsort_number(&key, merge->scratch.crash.time);
	strbuf_add_bytes(&key, line, size);
	free(line);
	return recordsort_add(merge->output, &key, &merge->scratch);
}

/*
 * A side once, in a single run too: the first of those with its fingerprint. By
 * id if it was one run, else by what came of them.
 */
static struct error *output_target(struct merge *merge)
{
	struct target_record *target = &merge->scratch.target;
	const char *fingerprint = target->side.fingerprint;
	struct strbuf key = { 0 };

	if (fingerprint[0] && strcmp(fingerprint, merge->last_target) == 0)
		return NULL;
	memcpy(merge->last_target, fingerprint, sizeof(merge->last_target));
	strbuf_add_bytes(&key, &(char){ RANK_TARGET }, 1);
	if (merge->runs < 2) {
		recordsort_number(&key, target->side.id);
	} else {
		recordsort_number(&key, target->outcome.result);
		strbuf_add(&key, fingerprint);
		target->side.id = 0;
	}
	return recordsort_add(merge->output, &key, &merge->scratch);
}

/* A merged report has other races, with other numbers. */
static struct error *output_candidate(struct merge *merge)
{
	struct candidate_record *candidate = &merge->scratch.candidate;
	struct strbuf key = { 0 };

	strbuf_add_bytes(&key, &(char){ RANK_CANDIDATE }, 1);
	if (merge->runs > 1) {
		recordsort_number(&key, candidate->result);
		strbuf_add(&key, candidate->race.fingerprint);
		candidate->race_id = 0;
		candidate->target_count = 0;
	}
	recordsort_number(&key, candidate->id);
	return recordsort_add(merge->output, &key, &merge->scratch);
}

static struct error *output_kept(struct merge *merge,
				 const struct sorter_item *item)
{
	struct error *err;

	if (merge->runs < 2 && item->key[0] == RANK_CRASH)
		return sorter_add(merge->output, item);
	err = report_record_parse(item->data, item->size, &merge->scratch);
	if (err)
		return err;
	switch (item->key[0]) {
	case RANK_CRASH:
		return output_crash(merge);
	case RANK_CANDIDATE:
		return output_candidate(merge);
	default:
		return output_target(merge);
	}
}

static struct error *finish_kept(struct merge *merge)
{
	struct error *err = sorter_sort(merge->kept);
	struct sorter_item item;
	bool more = true;

	while (!err && more) {
		err = sorter_next(merge->kept, &item, &more);
		if (!err && more)
			err = output_kept(merge, &item);
	}
	return err;
}

static struct error *finish(struct merge *merge)
{
	struct error *err;

	merge_end_file(merge);
	err = merge->runs > 1 ? finish_merged(merge) : settle_run(merge, false);
	return err ? err : finish_kept(merge);
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
	merge->last_id = merge->last_target_id = 0;
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
	else if (record->type == REPORT_TARGET)
		record->target.side.id = ++merge->last_target_id;
	return NULL;
}

struct error *merge_each(struct merge *merge,
			 struct error *(*take)(void *context,
					       struct report_record *record),
			 void *context)
{
	struct error *err = merge_rewind(merge);
	struct report_record record;
	bool more = true;

	report_record_init(&record);
	while (!err && more) {
		err = merge_next(merge, &record, &more);
		if (!err && more)
			err = take(context, &record);
	}
	report_record_deinit(&record);
	return err;
}

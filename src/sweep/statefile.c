/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state file; see statefile.h.
 */
#include "sweep/statefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "store/query.h"
#include "store/shared.h"
#include "store/store.h"
#include "sweep/journal.h"
#include "sweep/plan.h"
#include "sweep/results.h"

/* More than the end of a run takes, but for very many races. */
enum { STATE_RESERVE_PAGES = 64 };

struct statefile {
	struct store *store;
	char *path;
	struct results *results;
	uint64_t seed;
	struct journal_place place; /* read so far */
	/* from this limit on, all runs below `unclaimed' are claimed */
	uint64_t first_run, unclaimed;
	struct shared_worker worker;
};

static struct error *take(void *context, struct journal_record *record)
{
	const struct statefile *state = context;

	return results_take(state->results, record);
}

/* Read what has come, in a transaction of the caller. */
static struct error *read_on(struct statefile *state)
{
	return journal_read(state->store, &state->place, take, state);
}

struct error *statefile_refresh(struct statefile *state)
{
	struct error *err = store_begin_read(state->store);

	return err ? err : store_end(state->store, read_on(state));
}

static struct error *begin(struct statefile *state, char *const *command)
{
	struct error *err = store_begin_write(state->store);

	if (err)
		return err;
	err = store_end(state->store,
			journal_begin(state->store, command, state->seed));
	if (err && err->kind == ERROR_USAGE)
		err = error_wrap(err, "%s", state->path);
	return err ? err : statefile_refresh(state);
}

struct error *statefile_open(const char *path, char *const *command,
			     uint64_t seed, struct results *results,
			     struct statefile **ret)
{
	struct statefile *state = calloc(1, sizeof(*state));
	struct error *err = NULL;

	if (!state)
		return error_nomem;
	state->results = results;
	state->seed = seed;
	shared_worker_init(&state->worker);
	state->path = strdup(path);
	if (!state->path)
		err = error_nomem;
	if (!err)
		err = store_open(path, &journal_kind, &state->store);
	if (!err)
		err = begin(state, command);
	if (err)
		statefile_close(state);
	else
		*ret = state;
	return err;
}

void statefile_close(struct statefile *state)
{
	if (!state)
		return;
	store_close(state->store);
	free(state->path);
	free(state);
}

bool statefile_within(const struct statefile_limits *limits, uint64_t run)
{
	return run >= limits->first_run &&
	       (limits->runs == 0 || run - limits->first_run < limits->runs);
}

/* Lock a run that was claimed and not done, if nobody works on it. */
static struct error *find_given_up(const struct statefile *state,
				   const struct statefile_limits *limits,
				   int lock_fd, uint64_t *ret_run,
				   bool *ret_any)
{
	const struct vec *runs = &state->results->runs;

	for (size_t i = 0; i < runs->count; i++) {
		const struct results_run *run = vec_at(runs, i);
		struct error *err;

		if (run->finished || !statefile_within(limits, run->number))
			continue;
		err = shared_lock(lock_fd, run->number, ret_any);
		*ret_run = run->number;
		if (err || *ret_any)
			return err;
	}
	*ret_any = false;
	return NULL;
}

/*
 * The lowest number within the limits that nobody has claimed. Others may have
 * begun with another number, so that what is claimed may have gaps.
 */
static struct error *find_new(struct statefile *state,
			      const struct statefile_limits *limits,
			      int lock_fd, uint64_t *ret_run, bool *ret_any)
{
	if (state->first_run != limits->first_run)
		state->unclaimed = state->first_run = limits->first_run;
	while (results_run(state->results, state->unclaimed))
		state->unclaimed++;
	*ret_any = false;
	for (uint64_t run = state->unclaimed;
	     statefile_within(limits, run) && !*ret_any; run++) {
		struct error *err;

		if (results_run(state->results, run))
			continue;
		*ret_run = run;
		err = shared_lock(lock_fd, run, ret_any);
		if (err)
			return err;
	}
	return NULL;
}

static struct error *write_alone(struct store *store, const char *sql)
{
	struct error *err = store_begin_write(store);

	return err ? err : store_end(store, store_execute(store, sql));
}

/*
 * So that the end of the run can be written even if the disk is full then: the
 * file has pages that are written and not used, and the journal keeps the space
 * of the claim (struct store_kind). Pages that were never committed would not
 * be written.
 */
static struct error *reserve(const struct statefile *state)
{
	uint64_t pages = 0;
	/* pages that are in the file and that nothing uses */
	struct error *err = query_ask(state->store, "PRAGMA freelist_count",
				      UINT32_MAX, &pages);

	if (!err && pages < STATE_RESERVE_PAGES)
		err = write_alone(state->store,
				  "CREATE TABLE IF NOT EXISTS reserve AS"
				  " SELECT zeroblob(4096 * 2 * 64) AS bytes");
	if (!err && pages < STATE_RESERVE_PAGES)
		err = write_alone(state->store, "DROP TABLE reserve");
	return err;
}

/* A run that is done again is done as it was begun, if the plan has that. */
static const struct plan_entry *
choose_entry(const struct statefile *state, const struct statefile_claim *claim)
{
	struct plan *plan = state->results->plan;
	const struct results_run *before =
		results_run(state->results, claim->run);
	const struct plan_entry *entry = NULL;

	if (before)
		entry = plan_find(plan, before->plan);
	return entry ? entry : &plan->entries[plan_choose(plan, claim->run)];
}

static struct error *write_claim(struct statefile *state,
				 struct statefile_claim *claim)
{
	const struct plan_entry *entry = choose_entry(state, claim);
	struct journal_record record;
	struct error *err;

	claim->seed = state->seed + claim->run;
	claim->entry = entry;
	journal_record_init(&record);
	record.type = JOURNAL_CLAIM;
	record.run = claim->run;
	record.seed = claim->seed;
	memcpy(record.plan, entry->name, sizeof(record.plan));
	err = journal_write(state->store, &record, state->worker.name);
	journal_record_deinit(&record);
	return err;
}

static struct error *claim_locked(struct statefile *state,
				  const struct statefile_limits *limits,
				  struct statefile_claim *claim, bool *ret_any)
{
	struct error *err = read_on(state);

	if (!err)
		err = find_given_up(state, limits, claim->lock_fd, &claim->run,
				    ret_any);
	claim->again = !err && *ret_any;
	if (!err && !*ret_any)
		err = find_new(state, limits, claim->lock_fd, &claim->run,
			       ret_any);
	if (!err && *ret_any)
		err = write_claim(state, claim);
	return err;
}

struct error *statefile_claim(struct statefile *state,
			      const struct statefile_limits *limits,
			      struct statefile_claim *ret, bool *ret_any)
{
	struct statefile_claim claim = { .run = 0 };
	bool any = false;
	struct error *err = reserve(state);

	if (err)
		return err;
	claim.lock_fd = open(state->path, O_RDWR | O_CLOEXEC);
	if (claim.lock_fd < 0)
		return error_os(errno, "%s", state->path);
	err = store_begin_write(state->store);
	if (!err)
		err = store_end(state->store,
				claim_locked(state, limits, &claim, &any));
	/* after the commit, so that the results have what the file has */
	if (!err)
		err = statefile_refresh(state);
	if (err || !any)
		close(claim.lock_fd);
	if (!err && any)
		*ret = claim;
	if (!err)
		*ret_any = any;
	return err;
}

struct error *statefile_finish(struct statefile *state,
			       const struct journal_record *record)
{
	struct error *err = store_begin_write(state->store);

	if (!err)
		err = store_end(state->store,
				journal_write(state->store, record,
					      state->worker.name));
	return err ? err : statefile_refresh(state);
}

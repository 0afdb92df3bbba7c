/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hunt; see hunt.h.
 */
#include "hunt/hunt.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/same-text.h"
#include "base/signalpipe.h"
#include "conflict/symbolize.h"
#include "hunt/attach.h"
#include "hunt/kept.h"
#include "hunt/notes.h"
#include "hunt/ordered.h"
#include "hunt/planned.h"
#include "hunt/tries.h"
#include "hunt/worker.h"
#include "report/field.h"
#include "report/race.h"
#include "report/record.h"
#include "sys/procfs.h"

enum { HUNT_TICK_MS = 1000 };

struct hunting {
	const struct hunt_config *config;
	const struct hunt_sink *sink;
	struct outcomes *outcomes;
	struct hunt_result *result;
	struct tries tries;
	struct planned planned;
	struct notes notes; /* of its runs */
	struct worker *workers; /* config->jobs */
	struct vec claimed; /* of struct hunt_side: ours, not given out yet */
	struct vec out; /* of struct hunt_side: with a worker */
	struct vec met; /* of struct race *, of the batch that is read */
	bool alone; /* that batch is one side, tried alone */
	struct symbolizer *symbolizer;
	bool shares; /* others have claimed sides, or may do so now */
	uint64_t longest_ns; /* the longest hold that was asked for */
	uint64_t begun_ns;
	uint64_t
		at_once; /* runs that the processors have room for; 0: not known */
	int signals; /* descriptor */
};

static struct hunt_side *side_at(const struct vec *sides, size_t i)
{
	return vec_at(sides, i);
}

static void sides_deinit(struct vec *sides)
{
	for (size_t i = 0; i < sides->count; i++)
		hunt_side_deinit(side_at(sides, i));
	vec_deinit(sides);
}

/*
 * Claim sides until there is a batch for each worker, so that it can be chosen. The
 * first time others may be about to claim some.
 */
static struct error *hunting_claim(struct hunting *hunting)
{
	struct outcomes_counts counts;
	struct error *err = outcomes_count(hunting->outcomes, &counts);
	bool more = true;
	size_t wanted;

	if (err)
		return err;
	wanted = (size_t)tries_to_claim(counts.results[TARGET_PENDING],
					hunting->config->jobs, hunting->shares);
	while (!err && more && hunting->claimed.count < wanted) {
		size_t before = hunting->claimed.count;

		err = outcomes_claim(hunting->outcomes, wanted - before,
				     &hunting->claimed, &hunting->shares);
		more = hunting->claimed.count > before;
	}
	return err;
}

/* Move a claimed side to those that are out, and into the batch. */
static bool hunting_give(struct hunting *hunting, size_t i, struct vec *batch,
			 uint64_t *holds)
{
	struct hunt_side side = *side_at(&hunting->claimed, i);
	uint64_t id = side.id;

	holds[batch->count] = tries_hold_ns(&hunting->tries, &side);
	if (holds[batch->count] > hunting->longest_ns)
		hunting->longest_ns = holds[batch->count];
	if (!vec_push(&hunting->out, &side))
		return false;
	vec_remove(&hunting->claimed, i);
	return vec_push(batch, &id);
}

/*
 * Do they wait for one thread? While it is held, others pass by the sides that are
 * theirs.
 */
static bool hunting_goes_with(const struct hunt_side *side,
			      const struct hunt_side *first)
{
	return same_text(side->program, first->program) &&
	       same_text(side->thread_path, first->thread_path);
}

/*
 * How many runs to make at a time. More than the processors have room for would
 * only take each other's time, and be more in number. The first run is made alone,
 * and shows how many processors a run takes.
 */
static uint64_t hunting_at_once(const struct hunting *hunting)
{
	return hunting->at_once ? hunting->at_once : 1;
}

static void hunting_measure(struct hunting *hunting,
			    const struct run_summary *run)
{
	int processors = 1;
	uint64_t busy, idle;

	procfs_processors(&processors, &busy, &idle);
	hunting->at_once = tries_at_once(hunting->config->jobs, processors,
					 run->cpu_ns, run->elapsed_ns);
	log_debug(LOG_DETECT, "%llu runs at a time",
		  (unsigned long long)hunting->at_once);
}

/*
 * How many sides a run gets: as many as the others have. Of the first, nothing is
 * known yet.
 */
static size_t hunting_share(const struct hunting *hunting)
{
	size_t jobs = hunting->at_once ? (size_t)hunting->at_once
				       : (size_t)hunting->config->jobs;
	size_t left = hunting->claimed.count + hunting->out.count;
	size_t share = (left + jobs - 1) / jobs;

	if (share < TRIES_MIXED)
		return TRIES_MIXED;
	return share < TRIES_TOGETHER ? share : TRIES_TOGETHER;
}

/* The best of those that are tried with others, or alone; count: none. */
static size_t hunting_first(const struct hunting *hunting, bool alone)
{
	const struct vec *claimed = &hunting->claimed;
	size_t i = 0;

	while (i < claimed->count &&
	       tries_is_alone(&hunting->tries, side_at(claimed, i)) != alone)
		i++;
	return i;
}

/*
 * The side at `best', and others for the same thread; few others, if these are few. A
 * side that is tried again alone is not among them.
 */
static bool hunting_gather(struct hunting *hunting, size_t best,
			   struct vec *batch, uint64_t *holds)
{
	struct vec *claimed = &hunting->claimed;
	const struct tries *tries = &hunting->tries;
	size_t share = hunting_share(hunting), counted = 0;
	bool by_ptrace = tries_by_ptrace(tries, side_at(claimed, best));

	for (int pass = 0; pass < 2 && best < claimed->count; pass++) {
		size_t most = pass == 0 ? share : TRIES_MIXED;
		struct hunt_side first = *side_at(claimed, best);

		for (size_t i = best;
		     i < claimed->count && batch->count < most;) {
			const struct hunt_side *side = side_at(claimed, i);
			bool counts = tries_is_counted(side);

			if ((counts && counted == TRIES_COUNTED) ||
			    tries_is_alone(tries, side) ||
			    tries_by_ptrace(tries, side) != by_ptrace ||
			    (pass == 0 && !hunting_goes_with(side, &first))) {
				i++;
				continue;
			}
			counted += counts;
			if (!hunting_give(hunting, i, batch, holds))
				return false;
		}
	}
	return true;
}

/*
 * As ids: the sides themselves move while it is filled. All are tried once, many in
 * a run, before any is tried again alone.
 */
static bool hunting_fill(struct hunting *hunting, struct vec *batch,
			 uint64_t *holds)
{
	size_t fresh = hunting_first(hunting, false);
	size_t again = hunting_first(hunting, true);

	if (fresh < hunting->claimed.count)
		return hunting_gather(hunting, fresh, batch, holds);
	return again >= hunting->claimed.count ||
	       hunting_give(hunting, again, batch, holds);
}

static struct hunt_side *hunting_out(const struct hunting *hunting, uint64_t id)
{
	for (size_t i = 0; i < hunting->out.count; i++) {
		if (side_at(&hunting->out, i)->id == id)
			return side_at(&hunting->out, i);
	}
	return NULL;
}

/* Of a batch; the user's choice stands. */
static const char *hunting_backend(const struct hunting *hunting,
				   const struct vec *sides)
{
	const struct hunt_side *first =
		*(const struct hunt_side **)vec_at(sides, 0);
	const char *wanted = hunting->config->run.backend;

	return strcmp(wanted, "auto") == 0 &&
			       tries_by_ptrace(&hunting->tries, first)
		       ? "ptrace"
		       : wanted;
}

/* Of the time that the hunt may take; UINT64_MAX: it may take any. */
static uint64_t hunting_rest_ns(const struct hunting *hunting)
{
	const struct hunt_config *config = hunting->config;
	uint64_t used = clock_now_ns() - config->asked_ns;

	if (config->budget_ns == 0)
		return UINT64_MAX;
	return config->budget_ns > used ? config->budget_ns - used : 0;
}

/* After which a run is ended: a hold that has begun may come to its end. */
static uint64_t hunting_limit_ns(const struct hunting *hunting)
{
	uint64_t rest = hunting_rest_ns(hunting);

	return rest == UINT64_MAX ? 0 : rest + hunting->longest_ns;
}

static struct error *hunting_feed(struct hunting *hunting,
				  struct worker *worker)
{
	struct vec ids = VEC_INIT(uint64_t);
	struct vec sides = VEC_INIT(const struct hunt_side *);
	uint64_t holds[TRIES_TOGETHER];
	struct error *err = hunting_claim(hunting);

	if (!err && !hunting_fill(hunting, &ids, holds))
		err = error_nomem;
	for (size_t i = 0; !err && i < ids.count; i++) {
		const struct hunt_side *side =
			hunting_out(hunting, *(uint64_t *)vec_at(&ids, i));

		if (!vec_push(&sides, &side))
			err = error_nomem;
	}
	if (!err && sides.count > 0)
		err = worker_send(worker, &sides, holds,
				  hunting_backend(hunting, &sides),
				  hunting_limit_ns(hunting));
	vec_deinit(&sides);
	vec_deinit(&ids);
	return err;
}

/* Before the outcome of its side, which is final: the race would be lost. */
static struct error *hunting_keep(struct hunting *hunting, struct race *race)
{
	return hunting->config->keeps_races
		       ? kept_add_race(hunting->outcomes, race)
		       : NULL;
}

/* The races of a run come before its sides. */
static struct error *hunting_attach(struct hunting *hunting,
				    const struct hunt_side *side,
				    const struct target_outcome *outcome)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < hunting->met.count; i++) {
		struct race *race = *(struct race **)vec_at(&hunting->met, i);

		if (race->target != side->id &&
		    (race->target != 0 ||
		     !attach_fits(race, side, outcome->race)))
			continue;
		if (race->recorded.address == 0)
			err = attach_recorded(hunting->symbolizer, side, race);
		if (!err)
			err = hunting_keep(hunting, race);
	}
	return err;
}

/* A lock says more than where the run has seen others wait, if all partners have it. */
static void hunting_name_order(const struct hunt_side *side,
			       struct target_outcome *outcome)
{
	char *lock;

	if (!side->locked ||
	    (outcome->ordered_by &&
	     strcmp(outcome->ordered_by, ORDERED_BY_ITSELF) == 0))
		return;
	lock = ordered_by_lock(side);
	if (!lock)
		return;
	free(outcome->ordered_by);
	outcome->ordered_by = lock;
}

static struct error *hunting_target(struct hunting *hunting,
				    struct target_record *record)
{
	struct hunt_side *side = hunting_out(hunting, record->side.id);
	struct target_outcome *outcome = &record->outcome;
	uint64_t id = record->side.id;
	bool over = hunting_rest_ns(hunting) == 0;
	struct error *err;

	if (!side)
		return NULL;
	hunting->alone = tries_is_alone(&hunting->tries, side);
	/* of a run that was cut, only what came counts */
	if (over && outcome->result == TARGET_UNREACHED)
		outcome->result = TARGET_PENDING;
	if (!(over && outcome->result == TARGET_PENDING) &&
	    !tries_ended(&hunting->tries, side, outcome))
		return error_nomem;
	planned_tried(&hunting->planned, hunting->alone,
		      outcome->result != TARGET_PENDING,
		      tries_is_alone(&hunting->tries, side));
	if (outcome->result == TARGET_ORDERED)
		hunting_name_order(side, outcome);
	err = hunting_attach(hunting, side, outcome);
	if (!err)
		err = outcomes_save(hunting->outcomes, id, outcome);
	for (size_t i = 0; i < hunting->out.count; i++) {
		if (side_at(&hunting->out, i)->id != id)
			continue;
		hunt_side_deinit(side_at(&hunting->out, i));
		vec_remove_swap(&hunting->out, i);
	}
	return err;
}

static struct error *hunting_race(struct hunting *hunting,
				  struct report_record *record)
{
	struct race *race = malloc(sizeof(*race));

	if (!race)
		return error_nomem;
	*race = record->race;
	race_init(&record->race);
	if (vec_push(&hunting->met, &race))
		return NULL;
	race_free(race);
	return error_nomem;
}

/* A side's threads may meet once more when the side is over. */
static struct error *hunting_adopt(struct hunting *hunting, struct race *race)
{
	for (size_t i = 0; race->target == 0 && i < hunting->met.count; i++) {
		const struct race *other =
			*(struct race **)vec_at(&hunting->met, i);

		if (other->target == 0 ||
		    strcmp(other->fingerprint, race->fingerprint) != 0 ||
		    strcmp(other->fingerprint_code, race->fingerprint_code) !=
			    0)
			continue;
		race->target = other->target;
		if (!fields_copy(&recorded_fields, &race->recorded,
				 &other->recorded))
			return error_nomem;
	}
	return NULL;
}

/* Of the race's side: it is provoked, in one of its other executions maybe. */
static struct error *hunting_credit_side(struct hunting *hunting,
					 struct race *race, int i)
{
	const struct vec *frames = &race->sides[i].frames;
	struct target_outcome outcome = { .result = TARGET_PROVOKED };
	const struct race_frame *frame;
	struct target_record record;
	struct hunt_place place;
	bool found = false;
	struct error *err;

	if (frames->count == 0)
		return NULL;
	frame = vec_at(frames, 0);
	place = (struct hunt_place){ .module = frame->module,
				     .offset = frame->offset };
	if (!place.module)
		return NULL;
	err = outcomes_find_at(hunting->outcomes, &place, &record, &found);
	if (err || !found)
		return err;
	race->target = record.side.id;
	memcpy(outcome.race, race->fingerprint, sizeof(outcome.race));
	if (race->recorded.address == 0)
		err = attach_recorded(hunting->symbolizer, &record.side, race);
	if (!err)
		err = hunting_keep(hunting, race);
	if (!err)
		err = outcomes_save(hunting->outcomes, record.side.id,
				    &outcome);
	target_record_deinit(&record);
	return err;
}

/*
 * A thread was held at a partner of some side, and not that side came there but
 * another access: the race is that of the sides at these two.
 */
static struct error *hunting_credit(struct hunting *hunting, struct race *race)
{
	struct error *err = NULL;

	for (int i = 0; !err && i < 2 && race->target == 0 &&
			race->verdict != VERDICT_SYNC;
	     i++)
		err = hunting_credit_side(hunting, race, i);
	return err;
}

/* They are told when their sides are known; after an error they are freed. */
static struct error *hunting_tell(struct hunting *hunting, struct error *err)
{
	for (size_t i = 0; i < hunting->met.count; i++) {
		struct race *race = *(struct race **)vec_at(&hunting->met, i);

		if (!err)
			err = hunting_adopt(hunting, race);
		if (!err)
			err = hunting_credit(hunting, race);
		if (!err)
			err = hunting_keep(hunting, race);
		if (err)
			race_free(race);
		else
			err = hunting->sink->race(hunting->sink->context, race);
	}
	vec_clear(&hunting->met);
	return err;
}

static struct error *hunting_record(struct hunting *hunting,
				    struct report_record *record)
{
	switch (record->type) {
	case REPORT_TARGET:
		return hunting_target(hunting, &record->target);
	case REPORT_RACE:
		return hunting_race(hunting, record);
	case REPORT_CRASH:
		return hunting->sink->crash(hunting->sink->context,
					    &record->crash);
	case REPORT_OTHER:
	case REPORT_CANDIDATE:
	case REPORT_RUN:
	case REPORT_PROGRESS:
	case REPORT_SUMMARY:
		break;
	}
	return NULL;
}

static void hunting_ran(struct hunting *hunting, const struct run_summary *run)
{
	struct hunt_result *result = hunting->result;
	int status = run->exit_status;

	if (result->runs++ == 0)
		hunting_measure(hunting, run);
	planned_ran(&hunting->planned, hunting->alone, run->elapsed_ns);
	if (status == 0 || hunting_rest_ns(hunting) == 0)
		return;
	if (result->failed++ == 0)
		result->status = status;
}

static struct error *hunting_receive(struct hunting *hunting,
				     struct worker *worker)
{
	struct report_record record;
	struct error *err = NULL;
	bool more = true;

	report_record_init(&record);
	while (!err && more) {
		err = worker_receive(worker, &hunting->notes, &record, &more);
		if (!err && more)
			err = hunting_record(hunting, &record);
		else if (!err)
			hunting_ran(hunting, &record.summary);
	}
	report_record_deinit(&record);
	return hunting_tell(hunting, err);
}

static uint64_t hunting_busy(const struct hunting *hunting)
{
	uint64_t busy = 0;

	for (uint64_t i = 0; i < hunting->config->jobs; i++)
		busy += hunting->workers[i].busy;
	return busy;
}

static struct planned_sides hunting_sides(const struct hunting *hunting,
					  const struct outcomes_counts *counts)
{
	struct planned_sides sides = {
		.pending = counts->results[TARGET_PENDING],
		.busy = hunting->out.count,
		.batch = hunting_share(hunting),
		.running = hunting_busy(hunting),
	};

	for (size_t i = 0; i < hunting->claimed.count; i++)
		sides.alone += tries_is_alone(&hunting->tries,
					      side_at(&hunting->claimed, i));
	return sides;
}

/* As struct hunt_progress has it. */
static uint64_t hunting_left_ns(const struct hunting *hunting, double rest_ns)
{
	const struct hunt_config *config = hunting->config;
	uint64_t used = clock_now_ns() - config->asked_ns;
	double left = rest_ns / (double)hunting_at_once(hunting);

	if (rest_ns < 0)
		return UINT64_MAX;
	if (config->budget_ns == 0 ||
	    left < (double)config->budget_ns - (double)used)
		return (uint64_t)left;
	return config->budget_ns > used ? config->budget_ns - used : 0;
}

static struct error *hunting_progress(struct hunting *hunting)
{
	struct hunt_progress progress = {
		.elapsed_ns = clock_now_ns() - hunting->begun_ns,
		.runs = hunting->result->runs,
		.busy = hunting_busy(hunting),
	};
	struct error *err = outcomes_count(hunting->outcomes, &progress.counts);
	struct planned_sides sides;
	struct planned_rest rest;

	if (err)
		return err;
	sides = hunting_sides(hunting, &progress.counts);
	rest = planned_rest(&hunting->planned, &sides);
	progress.planned =
		progress.runs + progress.busy + (uint64_t)ceil(rest.runs);
	progress.left_ns = hunting_left_ns(hunting, rest.ns);
	if (hunting->sink->progress)
		hunting->sink->progress(hunting->sink->context, &progress);
	return NULL;
}

static bool hunting_is_over(struct hunting *hunting)
{
	const struct hunt_config *config = hunting->config;

	return hunting->result->end != HUNT_DONE ||
	       (config->budget_ns > 0 &&
		clock_now_ns() - config->asked_ns >= config->budget_ns);
}

static void hunting_signals(struct hunting *hunting)
{
	struct signal_news news;

	while (signalpipe_read(hunting->signals, &news)) {
		hunting->result->end = HUNT_INTERRUPTED;
		hunting->result->interrupted = news.number;
	}
}

/* Wait for a run to end, a signal, or a second. */
static struct error *hunting_wait(struct hunting *hunting)
{
	size_t jobs = (size_t)hunting->config->jobs;
	struct pollfd *fds = calloc(jobs + 1, sizeof(*fds));
	struct error *err = fds ? NULL : error_nomem;

	for (size_t i = 0; !err && i < jobs; i++) {
		fds[i].fd = hunting->workers[i].busy
				    ? fileno(hunting->workers[i].from)
				    : -1;
		fds[i].events = POLLIN;
	}
	if (!err) {
		fds[jobs] = (struct pollfd){ .fd = hunting->signals,
					     .events = POLLIN };
		if (poll(fds, jobs + 1, HUNT_TICK_MS) < 0 && errno != EINTR)
			err = error_os(errno, "poll");
		hunting_signals(hunting);
	}
	for (size_t i = 0;
	     !err && i < jobs && hunting->result->end != HUNT_INTERRUPTED;
	     i++) {
		if (fds[i].revents)
			err = hunting_receive(hunting, &hunting->workers[i]);
	}
	free(fds);
	return err;
}

/* *ret_more: runs were going on; else nothing is left to be done. */
static struct error *hunting_turn(struct hunting *hunting, bool *ret_more)
{
	struct error *err = NULL;

	for (uint64_t i = 0; !err && i < hunting->config->jobs &&
			     hunting_busy(hunting) < hunting_at_once(hunting) &&
			     !hunting_is_over(hunting);
	     i++) {
		if (!hunting->workers[i].busy)
			err = hunting_feed(hunting, &hunting->workers[i]);
	}
	*ret_more = hunting_busy(hunting) > 0;
	if (!err && *ret_more)
		err = hunting_wait(hunting);
	return err || !*ret_more ? err : hunting_progress(hunting);
}

static struct error *hunting_loop(struct hunting *hunting)
{
	struct error *err = NULL;
	bool more = true;

	while (!err && more && hunting->result->end != HUNT_INTERRUPTED)
		err = hunting_turn(hunting, &more);
	if (!err && hunting->result->end == HUNT_DONE &&
	    hunting_is_over(hunting))
		hunting->result->end = HUNT_BUDGET;
	return err;
}

/* Before the signals are ours: the workers get them as they were. */
static struct error *hunting_start(struct hunting *hunting)
{
	const struct hunt_config *config = hunting->config;
	struct error *err = NULL;

	hunting->workers =
		calloc((size_t)config->jobs, sizeof(*hunting->workers));
	if (!hunting->workers)
		return error_nomem;
	for (uint64_t i = 0; i < config->jobs; i++)
		hunting->workers[i].pid = -1;
	for (uint64_t i = 0; !err && i < config->jobs; i++)
		err = worker_start(&config->run, i + 1, &hunting->workers[i]);
	return err;
}

static struct error *hunting_with_signals(struct hunting *hunting)
{
	struct error *err;
	sigset_t signals, mask;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	err = signalpipe_open(&signals, &hunting->signals);
	if (err)
		return err;
	err = hunting_loop(hunting);
	signalpipe_close(hunting->signals, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return err;
}

struct error *hunt_run(const struct hunt_config *config,
		       struct outcomes *outcomes, const struct hunt_sink *sink,
		       struct hunt_result *ret)
{
	struct hunting hunting = {
		.config = config,
		.sink = sink,
		.outcomes = outcomes,
		.result = ret,
		.claimed = VEC_INIT(struct hunt_side),
		.out = VEC_INIT(struct hunt_side),
		.met = VEC_INIT(struct race *),
		.shares = config->shared,
		.begun_ns = clock_now_ns(),
	};
	struct error *err;

	*ret = (struct hunt_result){ .end = HUNT_DONE };
	tries_init(&hunting.tries, config->hold_ns);
	notes_init(&hunting.notes);
	/* the end of its pipe says that a worker has ended */
	signal(SIGPIPE, SIG_IGN);
	err = symbolizer_create(NULL, &hunting.symbolizer);
	if (!err)
		err = hunting_start(&hunting);
	if (!err)
		err = hunting_with_signals(&hunting);
	/* the last first: it has the pipes of those before it open too */
	for (uint64_t i = config->jobs; hunting.workers && i-- > 0;)
		worker_end(&hunting.workers[i],
			   err || ret->end == HUNT_INTERRUPTED);
	ret->elapsed_ns = clock_now_ns() - hunting.begun_ns;
	if (err && ret->end == HUNT_DONE)
		ret->end = HUNT_FAILED;
	free(hunting.workers);
	sides_deinit(&hunting.claimed);
	sides_deinit(&hunting.out);
	vec_deinit(&hunting.met);
	symbolizer_destroy(hunting.symbolizer);
	notes_deinit(&hunting.notes);
	tries_deinit(&hunting.tries);
	return err;
}

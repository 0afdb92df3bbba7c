/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs of one order; see provoker.h.
 */
#include "provoke/provoker.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exitstatus.h"
#include "base/log.h"
#include "provoke/attempts.h"
#include "provoke/scenario.h"
#include "report/field.h"
#include "report/provocation.h"
#include "report/run.h"
#include "sampling/rules.h"
#include "session/companion.h"
#include "session/session.h"
#include "sys/pidref.h"

/* After this number of runs it is known whether the instructions are there. */
enum { PROVOKER_SEARCHES = 3 };

/* One run. */
struct provoker_run {
	struct provoker *provoker;
	struct companion client;
	struct error *failed; /* to start it */
	int status; /* of both, as of a shell */
	struct wire_provoked news;
	uint64_t sites[WIRE_PROVOKE_SIDES]; /* instructions found */
	char *problems[WIRE_PROVOKE_SIDES]; /* why there are none; or NULL */
};

/* A program that was attached to is looked at for so long after the race. */
static const uint64_t PROVOKER_LOOK_NS = CLOCK_NS_PER_S;

static void provoker_provoked(void *context, const struct wire_provoked *news)
{
	struct provoker_run *run = context;

	run->news = *news;
}

static void provoker_note(void *context, const char *text)
{
	(void)context;
	log_note("%s", text);
}

static void provoker_started(void *context, const struct session_counts *counts,
			     const struct image *image)
{
	struct provoker_run *run = context;
	const struct companion_config client = {
		.command = run->provoker->until_exit_of,
	};

	(void)image;
	if (!client.command || run->failed)
		return;
	run->failed = companion_start(&client, counts->pid, &run->client);
	if (run->failed)
		kill(counts->pid, SIGTERM);
}

/* How the client or the server has ended. */
static void provoker_client_note(void *context, const char *text)
{
	struct provoker *provoker = context;

	if (!provoker->told)
		log_warn("%s", text);
	provoker->told = true;
}

/* The places of --at are side a and side b. */
static void provoker_ended(void *context, const struct session_counts *counts)
{
	struct provoker_run *run = context;
	struct run_summary sum = counts->sum;

	for (size_t i = 0; i < sum.at_count && i < WIRE_PROVOKE_SIDES; i++) {
		const char *problem = sum.at[i].problem;

		run->sites[i] = sum.at[i].sites;
		run->problems[i] = problem ? strdup(problem) : NULL;
	}
	fields_deinit(&summary_fields, &sum);
}

static void provoker_run_deinit(struct provoker_run *run)
{
	for (int i = 0; i < WIRE_PROVOKE_SIDES; i++)
		free(run->problems[i]);
}

static struct wire_provoke provoker_params(const struct provoker *provoker,
					   enum wire_order order,
					   const struct attempts *attempts)
{
	struct wire_provoke params = {
		.order = order,
		.hold_ns = attempts->hold_ns,
		.by_watch = attempts_by_watch(attempts),
	};

	for (int i = 0; i < WIRE_PROVOKE_SIDES; i++) {
		const struct race_side *side =
			&provoker->scenario->race.sides[i];
		size_t length = side->thread_path_length;

		if (length == 0 || length > WIRE_PATH_MAX)
			continue;
		params.sides[i].path_length = (uint32_t)length;
		memcpy(params.sides[i].path, side->thread_path,
		       length * sizeof(*side->thread_path));
	}
	return params;
}

static struct error *provoker_session(const struct provoker *provoker,
				      const struct wire_provoke *params,
				      struct provoker_run *run,
				      struct session_result *result)
{
	const struct session_sink sink = {
		.context = run,
		.started = provoker_started,
		.note = provoker_note,
		.provoked = provoker_provoked,
		.ended = provoker_ended,
	};
	const int pid = provoker->process ? provoker->process->pid : 0;
	struct rules rules = { .include_stack = true };
	struct session_config config = {
		.argv = provoker->argv,
		.pids = &pid,
		.pid_count = provoker->process ? 1 : 0,
		.held = provoker->process,
		.tracing = { .backend = "auto",
			     .follow = provoker->argv ? WIRE_FOLLOW_ALL
						      : WIRE_FOLLOW_NONE,
			     .no_aslr = true },
		.rest_ns = 2 * CLOCK_NS_PER_S,
		.seed = 1,
		/* of this, only that there is any is used */
		.effort = { .params = { .rate = 1 } },
		.duration_ns = provoker->argv ? 0 : provoker->timeout_ns,
		.timeout_ns = provoker->argv ? provoker->timeout_ns : 0,
		.rules = &rules,
		.at = &provoker->scenario->places,
		.provoke = params,
	};
	struct error *err;

	globs_init(&rules.globs);
	err = session_run(&config, &sink, result);
	globs_deinit(&rules.globs);
	return err;
}

static int provoker_status(const struct session_result *result)
{
	return exit_status_of(result->status);
}

/* The client's end belongs to the run. */
static struct error *provoker_with_client(struct provoker *provoker,
					  const struct wire_provoke *params,
					  struct provoker_run *run,
					  struct session_result *result)
{
	struct error *err = provoker_session(provoker, params, run, result);
	bool cut = err || result->timed_out || result->interrupted ||
		   result->asked;

	run->status = companion_end(&run->client, provoker_status(result),
				    cut ? NULL : provoker_client_note,
				    provoker);
	if (err)
		error_free(run->failed);
	return err ? err : run->failed;
}

/* Has it ended within a moment after the race? */
static bool provoker_has_died(const struct pidref *process)
{
	const struct timespec ms = { .tv_nsec = 1000 * 1000 };
	uint64_t until = clock_now_ns() + PROVOKER_LOOK_NS;

	while (pidref_valid(process) && clock_now_ns() < until)
		nanosleep(&ms, NULL);
	return !pidref_valid(process);
}

static struct provocation_end provoker_end(const struct provoker *provoker,
					   const struct provoker_run *run,
					   const struct session_result *result)
{
	struct provocation_end end = { .timed_out = result->timed_out };

	if (result->timed_out)
		return end;
	if (!provoker->argv)
		end.running = !provoker_has_died(provoker->process);
	else if (run->client.decided)
		end.status = run->status;
	else if (WIFSIGNALED(result->status))
		end.signal = WTERMSIG(result->status);
	else
		end.status = WEXITSTATUS(result->status);
	return end;
}

/*
 * Does the program have the two instructions at all? A short run may be over
 * before all libraries have been searched.
 */
static struct error *provoker_check(const struct provoker *provoker,
				    const struct provoker_run *run)
{
	for (int i = 0; i < WIRE_PROVOKE_SIDES; i++) {
		if (run->sites[i] > 0)
			continue;
		return error_create(ERROR_OTHER,
				    "the instruction of side %c of race #%llu "
				    "was not found: %s",
				    'a' + i,
				    (unsigned long long)provoker->scenario->id,
				    run->problems[i] ? run->problems[i]
						     : "nothing was watched");
	}
	return NULL;
}

static struct error *provoker_once(struct provoker *provoker,
				   enum wire_order order,
				   struct attempts *attempts,
				   struct provocation *ret)
{
	struct wire_provoke params = provoker_params(provoker, order, attempts);
	struct provoker_run run = { .provoker = provoker };
	struct session_result result = { .status = 0 };
	struct provocation_end end;
	struct error *err =
		provoker_with_client(provoker, &params, &run, &result);

	provoker->interrupted = result.interrupted ? result.interrupted
						   : result.asked;
	if (!err && ret->met == 0 && !run.news.met && !provoker->interrupted &&
	    (ret->times + 1 == provoker->times ||
	     ret->times + 1 >= PROVOKER_SEARCHES))
		err = provoker_check(provoker, &run);
	if (!err) {
		ret->times++;
		ret->reached_a += run.news.reached[0] > 0;
		ret->reached_b += run.news.reached[1] > 0;
		ret->hold_ns = params.hold_ns;
		attempts_ran(attempts, run.news.met);
	}
	if (!err && run.news.met) {
		ret->met++;
		ret->met_other += run.news.by_watch;
		end = provoker_end(provoker, &run, &result);
		if (!provocation_add_end(ret, &end))
			err = error_nomem;
	}
	provoker_run_deinit(&run);
	return err;
}

struct error *provoker_run(struct provoker *provoker, enum wire_order order,
			   struct provocation *ret)
{
	const struct race *race = &provoker->scenario->race;
	struct attempts attempts;
	struct error *err = NULL;

	ret->order = order;
	ret->id = provoker->scenario->id;
	ret->report = strdup(provoker->scenario->path);
	memcpy(ret->fingerprint, race->fingerprint, sizeof(ret->fingerprint));
	if (!ret->report)
		return error_nomem;
	attempts_begin(&attempts, race->elapsed_ns);
	for (uint64_t i = 0;
	     !err && !provoker->interrupted && i < provoker->times; i++)
		err = provoker_once(provoker, order, &attempts, ret);
	ret->time = clock_wall_ns();
	return err;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loop of a sweep; see sweep.h. One thread: it claims runs, has a
 * supervisor for each, and sleeps until one is over, a signal comes or time is
 * up.
 */
#include "sweep/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/signals.h"
#include "sweep/descendants.h"
#include "sweep/job.h"
#include "sweep/journal.h"
#include "sweep/outcome.h"
#include "sweep/statefile.h"
#include "sweep/supervisor.h"

/* Runs in a row that could not be watched at all: so will be the next. */
enum { SWEEP_HOPELESS = 5 };

static const uint64_t PROGRESS_NS = CLOCK_NS_PER_S;

struct sweep {
	const struct sweep_config *config;
	const struct sweep_sink *sink;
	struct results *results;
	struct statefile *state;
	struct vec jobs; /* of struct job * */
	struct sweep_result result;
	struct error *err; /* the first; no more runs are begun */
	struct supervisor_inherit inherit;
	struct vec strangers; /* of pid_t: children that are not ours */
	int signal_fd;
	uint64_t start_ns, progress_ns, refresh_ns;
	bool ending; /* no more runs are begun */
	bool exhausted; /* all runs are claimed, by us or others */
	/* runs of this sweep that were not started or broken, the last ones */
	uint64_t bad_in_a_row;
};

static void sweep_fail(struct sweep *sweep, struct error *err)
{
	if (!err)
		return;
	sweep->ending = true;
	if (sweep->result.end != SWEEP_INTERRUPTED)
		sweep->result.end = SWEEP_FAILED;
	if (sweep->err)
		error_free(err);
	else
		sweep->err = err;
}

static void sweep_end(struct sweep *sweep, enum sweep_end end)
{
	if (sweep->ending)
		return;
	sweep->ending = true;
	sweep->result.end = end;
}

static void stop_jobs(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->jobs.count; i++)
		job_stop(*(struct job **)vec_at(&sweep->jobs, i));
}

static uint64_t mean_length(const struct results *results)
{
	return results->finished ? results->elapsed_ns / results->finished : 0;
}

static uint64_t age(const struct sweep *sweep)
{
	return clock_now_ns() - sweep->start_ns;
}

/* Within the budget, and so that one more run is likely to be. */
static bool has_time(const struct sweep *sweep)
{
	uint64_t budget = sweep->config->budget_ns;

	return !budget || age(sweep) + mean_length(sweep->results) < budget;
}

static void look_at_goals(struct sweep *sweep)
{
	const struct sweep_config *config = sweep->config;
	const struct results *results = sweep->results;

	if (config->quiet && results->quiet >= config->quiet)
		sweep_end(sweep, SWEEP_QUIET);
	if (sweep->bad_in_a_row >= SWEEP_HOPELESS)
		sweep_end(sweep, SWEEP_GAVE_UP);
	if (config->budget_ns && age(sweep) >= config->budget_ns) {
		sweep_end(sweep, SWEEP_BUDGET);
		stop_jobs(sweep);
	}
	if (!has_time(sweep))
		sweep_end(sweep, SWEEP_BUDGET);
}

/*
 * The run was begun before, and the sweep killed. If it has shown a race by
 * then, that counts; otherwise it is done again.
 */
static struct error *take_over(struct sweep *sweep, struct job *job,
			       bool *ret_settled)
{
	struct journal_record record;
	struct error *err;

	journal_record_init(&record);
	err = job_left_over(job, &record, ret_settled);
	if (!err && *ret_settled)
		err = statefile_finish(sweep->state, &record);
	if (!err && *ret_settled)
		sweep->sink->finished(sweep->sink->context, sweep->results,
				      results_run(sweep->results, record.run));
	journal_record_deinit(&record);
	return err;
}

static struct error *begin_job(struct sweep *sweep,
			       const struct statefile_claim *claim)
{
	struct job *job;
	bool settled = false;
	struct error *err = job_create(sweep->config, claim, &job);

	if (err) {
		close(claim->lock_fd);
		return err;
	}
	if (claim->again)
		err = take_over(sweep, job, &settled);
	if (!err && !settled)
		err = job_start(job, &sweep->inherit);
	if (!err && !settled && !vec_push(&sweep->jobs, &job)) {
		job_stop(job);
		err = error_nomem;
	}
	if (err || settled)
		job_destroy(job);
	return err;
}

static struct statefile_limits limits_of(const struct sweep_config *config)
{
	return (struct statefile_limits){ config->first_run, config->runs };
}

static void begin_jobs(struct sweep *sweep)
{
	const struct sweep_config *config = sweep->config;
	const struct statefile_limits limits = limits_of(config);

	sweep->exhausted = false;
	while (sweep->jobs.count < config->jobs) {
		struct statefile_claim claim;
		struct error *err;
		bool any;

		look_at_goals(sweep);
		if (sweep->ending)
			return;
		err = statefile_claim(sweep->state, &limits, &claim, &any);
		if (!err && !any) {
			sweep->exhausted = true;
			return;
		}
		if (!err)
			err = begin_job(sweep, &claim);
		sweep_fail(sweep, err);
	}
}

/*
 * A run that was cut short without a race is no run: it is done again. But where
 * the time is up and no run has ended, it is all that the sweep has to show.
 */
static bool counts(const struct sweep *sweep,
		   const struct journal_record *record)
{
	return record->outcome.kind != OUTCOME_CUT ||
	       record->findings.races.count > 0 ||
	       (sweep->result.end == SWEEP_BUDGET &&
		sweep->results->finished == 0);
}

/*
 * Only our own: what others, or we in another time, could not watch says
 * nothing of the next run here.
 */
static void count_bad(struct sweep *sweep, enum outcome_kind kind)
{
	if (kind == OUTCOME_NOT_STARTED || kind == OUTCOME_BROKEN)
		sweep->bad_in_a_row++;
	else
		sweep->bad_in_a_row = 0;
}

/* Does it show anything that may be looked for once more? */
static bool is_shown(const struct sweep *sweep, uint64_t number)
{
	const struct results_run *run = results_run(sweep->results, number);

	return !run || run->races_new > 0 || !outcome_is_plain(&run->outcome);
}

static void finish_job(struct sweep *sweep, struct job *job)
{
	struct journal_record record;
	struct error *err;

	journal_record_init(&record);
	err = job_finish(job, &record);
	if (!err && counts(sweep, &record)) {
		count_bad(sweep, record.outcome.kind);
		err = statefile_finish(sweep->state, &record);
		if (err)
			sweep->result.lost++;
		else
			sweep->sink->finished(
				sweep->sink->context, sweep->results,
				results_run(sweep->results, record.run));
		if (!is_shown(sweep, record.run))
			job_forget_again(job);
	}
	journal_record_deinit(&record);
	job_destroy(job);
	sweep_fail(sweep, err);
}

static void finish_jobs(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->jobs.count;) {
		struct job *job = *(struct job **)vec_at(&sweep->jobs, i);
		struct pollfd fd = { .fd = job_fd(job), .events = POLLIN };

		if (poll(&fd, 1, 0) <= 0) {
			i++;
			continue;
		}
		vec_remove(&sweep->jobs, i);
		finish_job(sweep, job);
	}
}

static uint64_t done_within(const struct sweep *sweep)
{
	const struct statefile_limits limits = limits_of(sweep->config);
	const struct vec *runs = &sweep->results->runs;
	uint64_t done = 0;

	for (size_t i = 0; i < runs->count; i++) {
		const struct results_run *run = vec_at(runs, i);

		done += run->finished && statefile_within(&limits, run->number);
	}
	return done;
}

/* In the limits of this sweep: are all done? */
static bool all_done(const struct sweep *sweep)
{
	uint64_t runs = sweep->config->runs;

	return runs > 0 && done_within(sweep) >= runs;
}

/* The first of the limits that will be met. */
static uint64_t time_left(const struct sweep *sweep, uint64_t done)
{
	const struct sweep_config *config = sweep->config;
	uint64_t length = mean_length(sweep->results);
	uint64_t left = UINT64_MAX, turns;

	if (config->runs && length) {
		turns = config->runs -
			(done < config->runs ? done : config->runs);
		left = (turns * length + config->jobs - 1) / config->jobs;
	}
	if (config->budget_ns) {
		uint64_t now = age(sweep);
		uint64_t rest =
			now < config->budget_ns ? config->budget_ns - now : 0;

		left = rest < left ? rest : left;
	}
	return left;
}

static void tell_progress(struct sweep *sweep)
{
	const struct results *results = sweep->results;
	struct sweep_progress progress;

	if (clock_now_ns() < sweep->progress_ns)
		return;
	sweep->progress_ns = clock_now_ns() + PROGRESS_NS;
	progress = (struct sweep_progress){
		.elapsed_ns = age(sweep),
		.finished = done_within(sweep),
		.runs = sweep->config->runs,
		.running = sweep->jobs.count,
		.races = results_races(results),
		.quiet = results->quiet,
		.other_than_passed =
			results->finished - results->kinds[OUTCOME_PASSED],
		.waits = sweep->exhausted && sweep->jobs.count == 0,
	};
	progress.left_ns = time_left(sweep, progress.finished);
	sweep->sink->progress(sweep->sink->context, &progress);
}

static void take_signals(struct sweep *sweep)
{
	struct signalfd_siginfo info;

	while (read(sweep->signal_fd, &info, sizeof(info)) ==
	       (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		if (sweep->result.end != SWEEP_INTERRUPTED)
			sweep->result.interrupted = (int)info.ssi_signo;
		sweep->ending = true;
		sweep->result.end = SWEEP_INTERRUPTED;
		stop_jobs(sweep);
	}
}

static void sleep_on(struct sweep *sweep)
{
	struct pollfd *fds = calloc(sweep->jobs.count + 1, sizeof(*fds));

	if (!fds) {
		sweep_fail(sweep, error_nomem);
		stop_jobs(sweep);
		return;
	}
	for (size_t i = 0; i < sweep->jobs.count; i++) {
		fds[i].fd = job_fd(*(struct job **)vec_at(&sweep->jobs, i));
		fds[i].events = POLLIN;
	}
	fds[sweep->jobs.count].fd = sweep->signal_fd;
	fds[sweep->jobs.count].events = POLLIN;
	poll(fds, sweep->jobs.count + 1, 250);
	free(fds);
	take_signals(sweep);
}

/* Others may be at it still, or be killed and leave us their runs. */
static void look_at_others(struct sweep *sweep)
{
	if (clock_now_ns() < sweep->refresh_ns)
		return;
	sweep->refresh_ns = clock_now_ns() + PROGRESS_NS;
	sweep_fail(sweep, statefile_refresh(sweep->state));
}

static void sweep_loop(struct sweep *sweep)
{
	for (;;) {
		finish_jobs(sweep);
		if (!sweep->ending)
			begin_jobs(sweep);
		look_at_goals(sweep);
		if (sweep->jobs.count == 0 &&
		    (sweep->ending || all_done(sweep)))
			return;
		tell_progress(sweep);
		sleep_on(sweep);
		look_at_others(sweep);
	}
}

static struct error *catch_signals(struct sweep *sweep)
{
	/* ignored, it would take the ends of children from wait(2) */
	const struct sigaction child_action = { .sa_handler = SIG_DFL };
	sigset_t signals;

	sigaction(SIGCHLD, &child_action, &sweep->inherit.child_action);
	signals_terminating(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGPIPE);
	sigprocmask(SIG_BLOCK, &signals, &sweep->inherit.mask);
	/* nobody to read what we say: that is no reason to end a sweep */
	sigdelset(&signals, SIGPIPE);
	sweep->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (sweep->signal_fd >= 0)
		return NULL;
	return error_os(errno, "signalfd");
}

/* Each job needs some. */
static void raise_files(struct sweep *sweep)
{
	struct rlimit *before = &sweep->inherit.files;
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, before) < 0)
		return;
	most = *before;
	most.rlim_cur = most.rlim_max;
	setrlimit(RLIMIT_NOFILE, &most);
}

struct error *sweep_run(const struct sweep_config *config,
			const struct sweep_sink *sink, struct results *results,
			struct sweep_result *ret)
{
	struct sweep sweep = {
		.config = config,
		.sink = sink,
		.results = results,
		.jobs = VEC_INIT(struct job *),
		.strangers = VEC_INIT(pid_t),
		.signal_fd = -1,
		.start_ns = clock_now_ns(),
	};
	struct error *err;

	err = statefile_open(config->state_path, config->command, config->seed,
			     sweep.results, &sweep.state);
	if (err)
		return err;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	raise_files(&sweep);
	err = catch_signals(&sweep);
	if (!err)
		err = descendants_children(&sweep.strangers);
	sweep_fail(&sweep, err);
	if (!err)
		sweep_loop(&sweep);
	/* what a supervisor that was killed has left behind */
	descendants_end(0, &sweep.strangers);
	if (sweep.signal_fd >= 0)
		close(sweep.signal_fd);
	/* write the results, even if nobody reads our messages */
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_SETMASK, &sweep.inherit.mask, NULL);
	statefile_close(sweep.state);
	vec_deinit(&sweep.jobs);
	vec_deinit(&sweep.strangers);
	sweep.result.elapsed_ns = clock_now_ns() - sweep.start_ns;
	*ret = sweep.result;
	return sweep.err;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The session's start, loop and end; see session.h. One thread, one ppoll(2):
 * the tracer's channel, the signals, and the nearest of a few deadlines.
 */
#include "session/session-state.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/opener.h"
#include "image/image.h"
#include "report/source.h"
#include "sampling/coverage.h"

static const uint64_t STATUS_PERIOD_NS = 2 * CLOCK_BEAT_NS;
/* what may be computed for the first breakpoint before being nice */
static const uint64_t HURRY_NS = 500 * CLOCK_NS_PER_MS;

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return b && b < a ? b : a;
}

/* What is due later than now may wait for the tracer's next word. */
static uint64_t session_late(const struct session *session, uint64_t due,
			     uint64_t now)
{
	return due > now && due != UINT64_MAX ? due + session_lateness(session)
					      : due;
}

/* When the loop must turn again if nothing happens. */
static uint64_t session_deadline(const struct session *session, uint64_t now)
{
	const struct session_config *config = session->config;
	uint64_t at = session_late(session, session->status_ns, now);
	uint64_t due;

	at = earlier(at, session->kill_ns);
	at = earlier(at, session->signals.abandon_ns);
	if (!session->started_ns)
		return at;
	if (config->timeout_ns && !session->result.timed_out)
		at = earlier(at, session->started_ns + config->timeout_ns);
	if (!session_watches(session))
		return at;
	if (config->duration_ns)
		at = earlier(at, session->started_ns + config->duration_ns);
	due = session_late(session, session_feed_due(session), now);
	return due < at ? due : at;
}

static struct error *session_wait(struct session *session)
{
	struct pollfd fds[2] = {
		{ .fd = session->channel.fd, .events = POLLIN },
		{ .fd = session->signals.fd, .events = POLLIN },
	};
	uint64_t now = clock_now_ns();
	uint64_t at = session_deadline(session, now);
	uint64_t left = at > now ? at - now : 0;
	struct timespec timeout = {
		.tv_sec = (time_t)(left / CLOCK_NS_PER_S),
		.tv_nsec = (long)(left % CLOCK_NS_PER_S),
	};

	if (channel_pending(&session->channel))
		fds[0].events |= POLLOUT;
	if (ppoll(fds, 2, &timeout, NULL) < 0 && errno != EINTR)
		return error_os(errno, "ppoll");
	if (fds[1].revents)
		session_signals(session);
	return NULL;
}

/*
 * Be nice, as config.effort says, but not before the first breakpoint is armed:
 * beside busy processors it would come several times later. A security module
 * may refuse it: watching goes on then.
 */
static void session_be_nice(struct session *session)
{
	int more = session->config->effort.nice;

	if (more <= 0 || session->nice ||
	    (!session->armed_told && clock_cpu_ns() < HURRY_NS))
		return;
	session->nice = true;
	errno = 0;
	if (nice(more) == -1 && errno != 0)
		log_debug(LOG_DETECT, "nice(%d): %s", more, strerror(errno));
	else
		log_debug(LOG_DETECT, "nice(%d) after %.1f ms on a CPU", more,
			  (double)clock_cpu_ns() / CLOCK_NS_PER_MS);
}

static void session_timers(struct session *session)
{
	const struct session_config *config = session->config;
	uint64_t now = clock_now_ns();
	uint64_t age = session->started_ns ? now - session->started_ns : 0;

	if (config->duration_ns && age >= config->duration_ns)
		session_stop(session);
	if (config->timeout_ns && age >= config->timeout_ns &&
	    !session->result.timed_out) {
		session->result.timed_out = true;
		session_end_program(session);
	}
	session_kill(session, now);
	session_check_tracer(session, now);
	session_be_nice(session);
	if (now < session->status_ns)
		return;
	session->status_ns =
		clock_align(now + STATUS_PERIOD_NS, STATUS_PERIOD_NS);
	if (session_watches(session) && config->effort.params.rate > 0 &&
	    !config->provoke && !session_is_planned(config)) {
		generated_look(&session->generated, &session->watched);
		/* without memory nothing is learned */
		error_free(session_look_at_stacks(session, now));
	}
	session_update_counts(session);
	if (session->started_ns && !session->done && session->sink->status)
		session->sink->status(session->sink->context, &session->counts);
}

static struct error *session_turn(struct session *session)
{
	struct error *err;

	channel_fill(&session->channel);
	err = session_messages(session);
	if (err || session->done)
		return err;
	/* it would never be read, and the wait for more would end at once */
	if (session->channel.starved)
		return error_nomem;
	if (session->channel.closed)
		return session_tracer_died(session);
	session_timers(session);
	err = session_feed(session);
	channel_flush(&session->channel);
	return err;
}

static struct error *session_loop(struct session *session)
{
	struct error *err = NULL;

	while (!err && !session->done && !session_is_abandoned(session)) {
		err = session_turn(session);
		if (!err && !session->done)
			err = session_wait(session);
	}
	if (!err && !session->done)
		err = error_create(
			ERROR_OTHER,
			"interrupted before the program was restored");
	return err;
}

/*
 * Close the channel, upon which the tracer restores the target and ends, and
 * wait for that. One that does not end is left alone: killing it would kill
 * the target.
 */
static void session_close(struct session *session)
{
	uint64_t give_up = clock_now_ns() + SESSION_GIVE_UP_NS;

	channel_flush(&session->channel);
	channel_deinit(&session->channel);
	/* a program that is ours has no guardian: it is looked after to the end */
	while (!session->tracer.reaped && clock_now_ns() < give_up &&
	       (session->config->argv || !session_is_abandoned(session))) {
		struct pollfd fd = { .fd = session->signals.fd,
				     .events = POLLIN };

		session_check_tracer(session, clock_now_ns());
		session_reap(session);
		if (!session->tracer.reaped && poll(&fd, 1, 50) > 0)
			session_signals(session);
	}
	if (!session->tracer.reaped)
		log_warn("the tracer process %d has not ended%s",
			 (int)session->tracer.pid,
			 session->config->argv
				 ? ""
				 : "; its guardian restores the program");
}

static void session_deinit(struct session *session)
{
	session_replay_deinit(session);
	session_races_deinit(session);
	session_tire_deinit(session);
	session_learn_deinit(session);
	session_aim_deinit(session);
	session_hunt_deinit(session);
	session_record_deinit(session);
	generated_deinit(&session->generated);
	watched_deinit(&session->watched);
	opener_destroy(session->opener);
	if (session->config->sources)
		session->config->sources->opener = NULL;
	heartbeat_destroy(session->tracer.heartbeat);
}

/* The last counts, with lists, which the sink takes over. */
static struct error *session_tell_end(struct session *session)
{
	struct vec coverage = VEC_INIT(struct run_coverage);
	struct vec *tallies = &session->watched.tallies;
	struct run_summary *sum = &session->counts.sum;
	struct error *err = NULL;

	if (!session->started_ns || !session->sink->ended)
		return NULL;
	watched_add_up(&session->watched);
	if (!watched_coverage(&session->watched, &coverage) ||
	    !session_list_aims(session, sum))
		err = error_nomem;
	sum->coverage = coverage.items;
	sum->coverage_count = coverage.count;
	sum->programs = tallies->items;
	sum->program_count = tallies->count;
	*tallies = (struct vec)VEC_INIT(struct run_program);
	session->sink->ended(session->sink->context, &session->counts);
	return err;
}

static struct error *session_watch(struct session *session)
{
	struct error *err = session_begin_signals(session), *end;

	if (err)
		return err;
	err = session_loop(session);
	session_close(session);
	session_update_counts(session);
	session_count_own_sites(session);
	dedupe_number_all(&session->races.all);
	end = session_tell_end(session);
	session_end_signals(session);
	if (err)
		error_free(end);
	return err ? err : end;
}

struct error *session_run(const struct session_config *config,
			  const struct session_sink *sink,
			  struct session_result *ret)
{
	struct session session = { .config = config,
				   .sink = sink,
				   .begun_ns = clock_now_ns(),
				   .signals = { .fd = -1 } };
	struct error *err = session_spawn(&session);

	if (err)
		return err;
	/* a copy of us, so better now that we are small */
	err = opener_create(0, &session.opener);
	session.status_ns = clock_now_ns() + STATUS_PERIOD_NS;
	session_races_init(&session);
	session_replay_init(&session);
	generated_init(&session.generated);
	stacks_init(&session.stacks);
	watched_init(&session.watched, config->rules, config->seed);
	session.watched.debuginfod = config->debuginfod;
	session.watched.opener = session.opener;
	session_hunt_init(&session);
	session_record_init(&session);
	if ((!session_learn_init(&session) || !session_aim_init(&session)) &&
	    !err)
		err = error_nomem;
	if (!err)
		err = session_watch(&session);
	if (!err)
		*ret = session.result;
	session_deinit(&session);
	return err;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The session's start, loop and end; see session.h. One thread, one ppoll(2):
 * the tracer's channel, the signals, and the nearest of a few deadlines.
 */
#include "detect/session-state.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/opener.h"
#include "base/signalpipe.h"
#include "base/signals.h"
#include "detect/coverage.h"
#include "image/image.h"
#include "report/source.h"
#include "target/tracer.h"

static const uint64_t STATUS_PERIOD_NS = 200 * CLOCK_NS_PER_MS;
/* what may be computed for the first breakpoint before being nice */
static const uint64_t HURRY_NS = 500 * CLOCK_NS_PER_MS;
/* between SIGTERM and SIGKILL */
static const uint64_t KILL_DELAY_NS = 2 * CLOCK_NS_PER_S;
/* the tracer may take so long to restore the target when all else failed */
static const uint64_t GIVE_UP_NS = 5 * CLOCK_NS_PER_S;

/* and so long at most when racewatch was asked a second time to end */
static const uint64_t ABANDON_NS = 2 * CLOCK_NS_PER_S;

enum { SESSION_OUT_LIMIT = 8 << 20 };

void session_stop(struct session *session)
{
	if (session->stopping || session->done)
		return;
	session->stopping = true;
	channel_send(&session->channel, WIRE_STOP, NULL, 0);
}

static void session_signal(struct session *session, int number)
{
	struct wire_signal signal = { .signal = number };

	channel_send(&session->channel, WIRE_SIGNAL, &signal, sizeof(signal));
}

/* One that is stopped at a race gets no other signal but SIGKILL. */
static void session_continue(struct session *session)
{
	if (session->result.stopped)
		session_signal(session, SIGCONT);
}

void session_end_program(struct session *session)
{
	if (session->kill_ns)
		return;
	/* first, since what is not watched any more is not signalled */
	session_signal(session, SIGTERM);
	session_stop(session);
	session_continue(session);
	session->kill_ns = clock_now_ns() + KILL_DELAY_NS;
}

static void session_sigset(sigset_t *ret)
{
	signals_terminating(ret);
	sigaddset(ret, SIGCHLD);
	sigaddset(ret, SIGPIPE);
}

static void session_reap(struct session *session)
{
	if (!session->tracer_reaped &&
	    waitpid(session->tracer_pid, &session->tracer_status, WNOHANG) ==
		    session->tracer_pid)
		session->tracer_reaped = true;
}

/* Asked to end, and asked again: the tracer gets a little time still. */
static void session_abandon(struct session *session)
{
	if (session->abandon_ns == 0)
		session->abandon_ns = clock_now_ns() + ABANDON_NS;
}

static bool session_is_abandoned(const struct session *session)
{
	return session->abandon_ns && clock_now_ns() >= session->abandon_ns;
}

/*
 * Has the kernel sent it to the program as well? What is typed goes to all of
 * the foreground. That the terminal has gone, its session leader is told alone
 * (tmux(1), ssh(1) with a command): the program, which would be it without us,
 * has to be told by us. Others go with the foreground. Timers outlive an exec:
 * what they send was to be the program's.
 */
static bool session_is_told(const struct signal_news *news)
{
	if (news->code != SI_KERNEL)
		return false;
	switch (news->number) {
	case SIGINT:
	case SIGQUIT:
		return true;
	case SIGHUP:
		return getsid(0) != getpid();
	default:
		return false;
	}
}

static void session_interrupt(struct session *session, int number)
{
	session->result.interrupted = number;
	session_stop(session);
}

/* Sent twice at once, as timeout(1) does, it is one. */
static bool session_counts(struct session *session)
{
	uint64_t now = clock_now_ns();

	if (session->interrupts > 0 &&
	    now - session->interrupt_ns < SIGNALPIPE_SAME_MS * CLOCK_NS_PER_MS)
		return false;
	session->interrupt_ns = now;
	session->interrupts++;
	return true;
}

/*
 * SIGINT or SIGTERM. A program of ours gets the first, and the second ends the
 * watching; where the program is not ours, the first does that.
 * One more ends racewatch when the tracer has had a little time, and another
 * one at once; the tracer sees that and restores the program.
 */
static void session_insisted(struct session *session, int number)
{
	unsigned int enough = session->config->argv ? 2 : 1;

	if (!session_counts(session))
		return;
	if (session->interrupts > enough + 1)
		signalpipe_end(number);
	if (session->interrupts > enough)
		session_abandon(session);
	if (session->interrupts >= enough)
		session_interrupt(session, number);
}

/*
 * A signal to racewatch is meant for the program, unless the terminal sent it
 * to both.
 */
static void session_asked(struct session *session,
			  const struct signal_news *news)
{
	int number = news->number;

	/* once it is known, whatever else is said would be another one */
	if (number == SIGPIPE && session->result.interrupted == SIGPIPE)
		return;
	log_debug(LOG_DETECT, "signal %d, code %d", number, news->code);
	/*
	 * whoever read what we say has gone: there is nobody to watch for; or
	 * our own time is up, the program's is counted apart
	 */
	if (!session->config->argv || number == SIGPIPE ||
	    (number == SIGXCPU && news->code == SI_KERNEL)) {
		session_interrupt(session, number);
	} else {
		if (!session_is_told(news))
			session_signal(session, number);
		session_continue(session);
	}
	if (number == SIGINT || number == SIGTERM)
		session_insisted(session, number);
}

static void session_signals(struct session *session)
{
	struct signal_news news;

	while (signalpipe_read(session->signal_fd, &news)) {
		if (news.number == SIGCHLD)
			session_reap(session);
		else
			session_asked(session, &news);
	}
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return b && b < a ? b : a;
}

/* When the loop must turn again if nothing happens. */
static uint64_t session_deadline(const struct session *session)
{
	const struct session_config *config = session->config;
	uint64_t at = session->status_ns;
	uint64_t due;

	at = earlier(at, session->kill_ns);
	at = earlier(at, session->abandon_ns);
	if (!session->started_ns)
		return at;
	if (config->timeout_ns && !session->result.timed_out)
		at = earlier(at, session->started_ns + config->timeout_ns);
	if (!session_watches(session))
		return at;
	if (config->duration_ns)
		at = earlier(at, session->started_ns + config->duration_ns);
	due = session_feed_due(session);
	return due < at ? due : at;
}

static struct error *session_wait(struct session *session)
{
	struct pollfd fds[2] = {
		{ .fd = session->channel.fd, .events = POLLIN },
		{ .fd = session->signal_fd, .events = POLLIN },
	};
	uint64_t now = clock_now_ns();
	uint64_t at = session_deadline(session);
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
 * A stuck tracer (heartbeat.h) of a program that was attached to is the
 * guardian's affair. There is none where the program is ours: it ends with the
 * tracer.
 */
static void session_check_tracer(struct session *session, uint64_t now)
{
	if (session->tracer_reaped || !session->config->argv)
		return;
	switch (heartbeat_look(&session->heartbeat_watch, session->heartbeat,
			       session->tracer_pid, now)) {
	case HEARTBEAT_CONTINUE:
		kill(session->tracer_pid, SIGCONT);
		break;
	case HEARTBEAT_STUCK:
		session->heartbeat->killed = 1;
		kill(session->tracer_pid, SIGKILL);
		break;
	case HEARTBEAT_WELL:
	default:
		break;
	}
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
	if (session->kill_ns && now >= session->kill_ns) {
		session->kill_ns = now + KILL_DELAY_NS;
		session_signal(session, SIGKILL);
	}
	session_check_tracer(session, now);
	session_be_nice(session);
	if (now < session->status_ns)
		return;
	session->status_ns = now + STATUS_PERIOD_NS;
	if (session_watches(session) && config->effort.params.rate > 0) {
		generated_look(&session->generated, &session->watched);
		/* without memory nothing is learned */
		error_free(session_look_at_stacks(session, now));
	}
	session_update_counts(session);
	if (session->started_ns && !session->done && session->sink->status)
		session->sink->status(session->sink->context, &session->counts);
}

/* It was found stuck, and ended for that. */
static struct error *session_tracer_stuck(const struct session *session)
{
	return error_create(
		ERROR_OTHER,
		session->config->argv
			? "the tracer process hung and was killed, and the "
			  "program with it"
			: "the tracer process hung and was killed; the "
			  "program was restored and runs on");
}

static struct error *session_tracer_died(struct session *session)
{
	uint64_t give_up = clock_now_ns() + GIVE_UP_NS;
	int status;

	/* its end of the channel is closed some time before it has ended */
	while (!session->tracer_reaped && clock_now_ns() < give_up) {
		struct timespec ms = { .tv_nsec = 1000000 };

		nanosleep(&ms, NULL);
		session_reap(session);
	}
	status = session->tracer_status;
	if (__atomic_load_n(&session->heartbeat->killed, __ATOMIC_ACQUIRE))
		return session_tracer_stuck(session);
	if (session->tracer_reaped && WIFSIGNALED(status))
		return error_create(
			ERROR_OTHER,
			"the tracer process was killed by signal %d (%s)",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	return error_create(ERROR_OTHER,
			    "the tracer process ended unexpectedly");
}

static struct error *session_turn(struct session *session)
{
	struct error *err;

	channel_fill(&session->channel);
	err = session_messages(session);
	if (err || session->done)
		return err;
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
	uint64_t give_up = clock_now_ns() + GIVE_UP_NS;

	channel_flush(&session->channel);
	channel_deinit(&session->channel);
	/* a program that is ours has no guardian: it is looked after to the end */
	while (!session->tracer_reaped && clock_now_ns() < give_up &&
	       (session->config->argv || !session_is_abandoned(session))) {
		struct pollfd fd = { .fd = session->signal_fd,
				     .events = POLLIN };

		session_check_tracer(session, clock_now_ns());
		session_reap(session);
		if (!session->tracer_reaped && poll(&fd, 1, 50) > 0)
			session_signals(session);
	}
	if (!session->tracer_reaped)
		log_warn("the tracer process %d has not ended%s",
			 (int)session->tracer_pid,
			 session->config->argv
				 ? ""
				 : "; its guardian restores the program");
}

static void session_deinit(struct session *session)
{
	dedupe_deinit(&session->races);
	map_deinit(&session->seen);
	map_deinit(&session->places);
	map_deinit(&session->owners);
	map_deinit(&session->settled);
	map_deinit(&session->tired);
	map_deinit(&session->synchronizing);
	learn_deinit(&session->learn);
	learned_deinit(&session->learned);
	vec_deinit(&session->guides);
	session_aim_deinit(session);
	generated_deinit(&session->generated);
	watched_deinit(&session->watched);
	opener_destroy(session->opener);
	if (session->config->sources)
		session->config->sources->opener = NULL;
	heartbeat_destroy(session->heartbeat);
}

static struct error *session_spawn(struct session *session)
{
	const struct session_config *config = session->config;
	struct tracer_config tracer_config = {
		.argv = config->argv,
		.pids = config->pids,
		.pid_count = config->pid_count,
		.held = config->held,
		.tracing = config->tracing,
		.rest_ns = config->rest_ns,
		.hold_conflicts = config->stop_at_race,
		.seed = config->seed,
		.params = session_params(config),
	};
	struct tracer tracer;
	struct error *err = tracer_spawn(&tracer_config, &tracer);

	if (err)
		return err;
	session->tracer_pid = tracer.pid;
	session->heartbeat = tracer.heartbeat;
	return channel_init(&session->channel, tracer.fd, SESSION_OUT_LIMIT);
}

static void session_tell_coverage(struct session *session)
{
	struct vec coverage = VEC_INIT(struct coverage);
	bool complete = watched_coverage(&session->watched, &coverage);

	for (size_t i = 0; complete && i < coverage.count; i++) {
		const struct coverage *entry = vec_at(&coverage, i);

		session->sink->covered(session->sink->context, entry->path,
				       entry->known, entry->sampled);
	}
	coverage_deinit(&coverage);
}

static void session_tell_programs(struct session *session)
{
	const struct vec *tallies = &session->watched.tallies;

	watched_add_up(&session->watched);
	for (size_t i = 0; session->sink->program && i < tallies->count; i++)
		session->sink->program(session->sink->context,
				       vec_at(tallies, i));
}

static void session_forgiven(int number)
{
	(void)number;
}

/*
 * The end that a signal may ask for has come, and what was found is still to be
 * written: that is spared once, unless racewatch was asked to end before. What
 * is ignored stays ignored.
 */
static void session_forgive(const struct session *session)
{
	const struct sigaction once = {
		.sa_handler = session_forgiven,
		.sa_flags = (int)(SA_RESTART | SA_RESETHAND),
	};
	sigset_t numbers;

	signals_terminating(&numbers);
	if (session->interrupts) {
		sigdelset(&numbers, SIGINT);
		sigdelset(&numbers, SIGTERM);
	}
	for (int number = 1; number <= SIGRTMAX; number++) {
		struct sigaction before;

		if (sigismember(&numbers, number) == 1 &&
		    sigaction(number, NULL, &before) == 0 &&
		    before.sa_handler == SIG_DFL)
			sigaction(number, &once, NULL);
	}
}

/* From the loop's way with signals to that of the rest, which has no loop. */
static void session_end_signals(const struct session *session,
				const sigset_t *signals)
{
	sigset_t before;

	sigprocmask(SIG_BLOCK, signals, NULL);
	signalpipe_close(session->signal_fd, &before);
	/* the summary goes to those who still read: not one dies of another */
	signal(SIGPIPE, SIG_IGN);
	session_forgive(session);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static struct error *session_watch(struct session *session)
{
	sigset_t signals;
	struct error *err;

	/* only now: the program inherits what it was given */
	session_sigset(&signals);
	/* ignored, it would take the ends of children from wait(2) */
	signal(SIGCHLD, SIG_DFL);
	/* a report that grows too long shall be an error of writing */
	signal(SIGXFSZ, SIG_IGN);
	err = signalpipe_open(&signals, &session->signal_fd);
	if (err)
		return err;
	err = session_loop(session);
	session_close(session);
	session_update_counts(session);
	session_count_own_sites(session);
	if (session->started_ns && session->sink->covered)
		session_tell_coverage(session);
	if (session->started_ns && session->sink->aimed)
		session_tell_aims(session);
	dedupe_number_all(&session->races);
	session_tell_programs(session);
	if (session->started_ns && session->sink->ended)
		session->sink->ended(session->sink->context, &session->counts);
	session_end_signals(session, &signals);
	return err;
}

struct error *session_run(const struct session_config *config,
			  const struct session_sink *sink,
			  struct session_result *ret)
{
	struct session session = { .config = config,
				   .sink = sink,
				   .guides = VEC_INIT(struct session_guide),
				   .begun_ns = clock_now_ns(),
				   .signal_fd = -1 };
	struct error *err = session_spawn(&session);

	if (err)
		return err;
	/* a copy of us, so better now that we are small */
	err = opener_create(0, &session.opener);
	session.status_ns = clock_now_ns() + STATUS_PERIOD_NS;
	dedupe_init(&session.races);
	generated_init(&session.generated);
	stacks_init(&session.stacks);
	watched_init(&session.watched, config->rules, config->seed);
	session.watched.debuginfod = config->debuginfod;
	session.watched.opener = session.opener;
	learned_init(&session.learned);
	if (!err &&
	    (!session_aim_init(&session) ||
	     !learn_init(&session.learn,
			 config->learned ? config->learned : &session.learned,
			 config->seed)))
		err = error_nomem;
	if (!err)
		err = session_watch(&session);
	if (!err)
		*ret = session.result;
	session_deinit(&session);
	return err;
}

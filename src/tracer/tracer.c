/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer process: its loop and its messages; see tracer.h.
 */
#include "tracer/tracer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/signals.h"
#include "guardian/fortify.h"
#include "guardian/guardian.h"
#include "guardian/heartbeat.h"
#include "sys/perfwatch.h"
#include "sys/pidref.h"
#include "sys/wait.h"
#include "tracee/backend.h"
#include "tracee/breakpoint.h"
#include "tracee/selftest.h"
#include "tracee/sigstate.h"
#include "tracee/watch-update.h"
#include "tracer/announce.h"
#include "tracer/arm.h"
#include "tracer/engine.h"
#include "tracer/freeze.h"
#include "tracer/govern.h"
#include "tracer/launch.h"
#include "tracer/release.h"
#include "tracer/replays.h"
#include "tracer/startup.h"
#include "tracer/underway.h"
#include "wire/sound.h"

/* A hunt waits so long for others to give a debug register back. */
static const uint64_t TRACER_REGISTERS_NS = 10 * CLOCK_NS_PER_S;

enum {
	TRACER_TICK_NS = 20 * 1000 * 1000,
	/* each takes some 65 us, and wakes the front end for its figures */
	TRACER_FEW_TICK_NS = CLOCK_BEAT_NS,
	TRACER_LOW_TICK_NS = 2 * CLOCK_BEAT_NS,
	TRACER_BEGINS_NS = 1000 * 1000 * 1000,
	TRACER_RELEASE_TICK_NS = 1000 * 1000,
	/* events handled before messages and timers get a turn */
	TRACER_EVENTS = 256,
	RETURNED_PER_MESSAGE = 4096,
	TRACER_SIGNALS = 8,
};

static void tracer_on_sites(struct engine *engine, const void *payload,
			    size_t size)
{
	size_t count = size / sizeof(struct wire_site);

	if (engine->provoke.state != PROVOKE_OFF)
		provoke_take(&engine->provoke, payload, count);
	else
		arm_queue(engine, payload, count);
}

static void tracer_on_forget(struct engine *engine, const void *payload,
			     size_t size)
{
	const struct wire_range *range = payload;

	if (size != sizeof(*range))
		return;
	provoke_forget(&engine->provoke, range);
	stalls_forget(engine, range);
	hunt_unmapped(engine, range);
	arm_forget(engine, range);
}

/* What is left of the program when its first process has ended. */
static void tracer_signal_rest(const struct engine *engine, int signal)
{
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (process->role == PROCESS_WATCHED &&
		    process->threads.count > 0)
			kill(process->pid, signal);
	}
}

/*
 * The id of a child, or of a process that is traced, is ours until it was
 * waited for; another's is not.
 */
static void tracer_signal(const struct engine *engine, int signal)
{
	if (engine->attached)
		error_free(pidref_signal(engine->attached, signal));
	else if (!engine->first_ended)
		kill(engine->pid, signal);
	else if (engine->core.phase == PHASE_WATCHING)
		tracer_signal_rest(engine, signal);
}

static void tracer_on_signal(struct engine *engine, const void *payload,
			     size_t size)
{
	const struct wire_signal *message = payload;

	if (size == sizeof(*message) && engine->core.phase != PHASE_DONE)
		tracer_signal(engine, message->signal);
}

static void tracer_on_stop(struct engine *engine, const void *payload,
			   size_t size)
{
	(void)payload;
	(void)size;
	engine_release(engine);
}

static void tracer_on_supply(struct engine *engine, const void *payload,
			     size_t size)
{
	govern_supplied(&engine->govern, payload, size);
}

static void tracer_on_shared(struct engine *engine, const void *payload,
			     size_t size)
{
	tracees_told_shared(&engine->core.tracees, payload, size);
}

static void tracer_on_judged(struct engine *engine, const void *payload,
			     size_t size)
{
	freeze_judged(&engine->freeze, payload, size);
}

static void tracer_on_replay(struct engine *engine, const void *payload,
			     size_t size)
{
	replays_answered(&engine->replays, payload, size);
}

static void tracer_on_startup_sent(struct engine *engine, const void *payload,
				   size_t size)
{
	startup_sent(&engine->startups, payload, size);
}

typedef void tracer_handler(struct engine *engine, const void *payload,
			    size_t size);

static tracer_handler *const tracer_handlers[] = {
	[WIRE_SITES] = tracer_on_sites,
	[WIRE_SUPPLY] = tracer_on_supply,
	[WIRE_FORGET] = tracer_on_forget,
	[WIRE_SIGNAL] = tracer_on_signal,
	[WIRE_STOP] = tracer_on_stop,
	[WIRE_SHARED] = tracer_on_shared,
	[WIRE_JUDGED] = tracer_on_judged,
	[WIRE_STARTUP_SENT] = tracer_on_startup_sent,
	[WIRE_REPLAY] = tracer_on_replay,
	[WIRE_HUNT] = hunt_take,
	[WIRE_RECORD] = record_take,
};

enum {
	TRACER_HANDLERS = sizeof(tracer_handlers) / sizeof(tracer_handlers[0]),
};

/* Said once: there may be a million. */
static void tracer_disbelieve(struct engine *engine, enum wire_type type)
{
	if (engine->disbelieved)
		return;
	engine->disbelieved = true;
	core_note(&engine->core,
		  error_create(ERROR_OTHER,
			       "the tracer process was sent a message (type "
			       "%d) that makes no sense, and has dropped it",
			       (int)type));
}

static void tracer_messages(struct engine *engine)
{
	const void *payload;
	enum wire_type type;
	size_t size;

	channel_fill(&engine->core.channel);
	while (channel_next(&engine->core.channel, &type, &payload, &size)) {
		if (!wire_is_sound(type, payload, size))
			tracer_disbelieve(engine, type);
		else if ((size_t)type < TRACER_HANDLERS &&
			 tracer_handlers[type])
			tracer_handlers[type](engine, payload, size);
	}
	if (engine->core.channel.starved &&
	    engine->core.phase < PHASE_RELEASING)
		core_note(&engine->core, error_nomem);
	/* what cannot be read is never done: the program goes on without us */
	if (engine->core.channel.closed || engine->core.channel.starved)
		engine_release(engine);
}

static struct error *tracer_guardian_lost(const struct stop_reason *stop)
{
	return error_create(ERROR_OTHER,
			    "the guardian process has ended (signal %d); if "
			    "the tracer process is killed now, the program "
			    "may die",
			    stop->signal);
}

/* False: there may be more. */
static bool tracer_events(struct engine *engine)
{
	struct stop_reason stop;

	engine_early_events(engine);
	for (int i = 0; i < TRACER_EVENTS; i++) {
		if (!wait_came(&stop))
			return true;
		if (guardian_ended(engine->core.tracees.guardian, stop.tid))
			core_note(&engine->core, tracer_guardian_lost(&stop));
		else
			engine_event(engine, &stop);
	}
	return false;
}

/*
 * Does the front end wait for sites that come back? For those of --at, of which
 * most of the samples are to be, and where nothing else is left to be sampled.
 */
static bool tracer_return_is_awaited(const struct engine *engine)
{
	const struct vec *returned = &engine->core.returned;

	if (returned->count > 0 && !pool_has_sites(&engine->pool))
		return true;
	for (size_t i = 0; i < returned->count; i++) {
		const struct wire_returned *site = vec_at(returned, i);

		if (site->id & WIRE_AIMED)
			return true;
	}
	return false;
}

/*
 * What the channel has no room for is sent another time: a site that never comes
 * back is never drawn again. There are no more of them than sites were sent.
 */
static void tracer_send_returned(struct engine *engine)
{
	struct vec *returned = &engine->core.returned;
	bool awaited = tracer_return_is_awaited(engine);
	size_t sent = 0, n;

	for (; sent < returned->count; sent += n) {
		n = returned->count - sent;
		if (n > RETURNED_PER_MESSAGE)
			n = RETURNED_PER_MESSAGE;
		if (!channel_send(&engine->core.channel, WIRE_RETURNED,
				  vec_at(returned, sent), n * returned->size))
			break;
	}
	vec_remove_first(returned, sent);
	if (awaited)
		channel_hurry(&engine->core.channel);
}

/*
 * Where a thread comes or goes, modules may have. Processes with one thread
 * come and go for other reasons.
 */
static uint32_t tracer_threads(const struct engine *engine)
{
	size_t count = 0;

	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (process->role == PROCESS_WATCHED &&
		    (process->parent == 0 || process->threads_most > 1))
			count += process->threads.count;
	}
	return (uint32_t)count;
}

static void tracer_send_threads(struct engine *engine)
{
	struct wire_threads message = { .count = tracer_threads(engine) };

	if (message.count == engine->thread_count_sent)
		return;
	engine->thread_count_sent = message.count;
	channel_send(&engine->core.channel, WIRE_THREADS, &message,
		     sizeof(message));
}

/* In the first second the pool finds its size. */
static bool tracer_begins(const struct engine *engine, uint64_t now)
{
	uint64_t armed = engine->core.stats.first_armed_ns;

	return armed == 0 || now < armed + TRACER_BEGINS_NS;
}

/*
 * Where little time may be lost, breakpoints come slowly, or never: so may all
 * else, but at the beginning.
 */
static bool tracer_provokes(const struct engine *engine)
{
	return engine->provoke.state != PROVOKE_OFF || engine->hunt.on;
}

static uint64_t tracer_tick_ns(const struct engine *engine, uint64_t now)
{
	const struct wire_params *params = &engine->pool.params;
	bool few = params->arm_rate > 0 ||
		   (params->rate == 0 && !tracer_provokes(engine));

	if (engine->core.phase == PHASE_RELEASING)
		return TRACER_RELEASE_TICK_NS;
	if (!tracer_provokes(engine) && !tracer_begins(engine, now) &&
	    budget_is_small(&engine->load.budget))
		return TRACER_LOW_TICK_NS;
	return few ? TRACER_FEW_TICK_NS : TRACER_TICK_NS;
}

static struct error *tracer_rest_left(size_t count)
{
	return error_create(ERROR_OTHER,
			    "the command has ended, and %zu process%s that it "
			    "left behind run%s on unwatched: --follow all "
			    "watches %s to the end",
			    count, count == 1 ? "" : "es",
			    count == 1 ? "s" : "", count == 1 ? "it" : "them");
}

/* Rare ones come when the front end has its own things to do (clock_align()). */
static uint64_t tracer_next_tick_ns(const struct engine *engine, uint64_t now)
{
	uint64_t tick = tracer_tick_ns(engine, now);

	return tick < TRACER_FEW_TICK_NS ? now + tick
					 : clock_align(now + tick, tick);
}

/* The command's end is the end, whatever runs on in the background. */
static void tracer_check_rest(struct engine *engine, uint64_t now)
{
	if (engine->rest_until_ns == 0 || now < engine->rest_until_ns ||
	    engine->core.phase != PHASE_WATCHING || engine->ended)
		return;
	core_note(&engine->core, tracer_rest_left(tracees_watched_count(
					 &engine->core.tracees)));
	engine_release(engine);
}

/*
 * Are the messages in the channel to be sent now? Each wakes the front end, which
 * costs CPU time: where little time may be lost, what can wait goes with the tick.
 */
static bool tracer_sends(const struct engine *engine, uint64_t now)
{
	return engine->core.phase != PHASE_WATCHING ||
	       !budget_is_small(&engine->load.budget) ||
	       tracer_begins(engine, now) ||
	       channel_is_urgent(&engine->core.channel);
}

/* Between stalls. Threads that run free watch nothing. */
static void tracer_suit_watch(struct engine *engine, uint64_t now)
{
	if (engine->core.phase == PHASE_WATCHING &&
	    engine->stalls.list.count == 0 &&
	    watch_suit(&engine->core.tracees,
		       budget_is_small(&engine->load.budget), now))
		engine_send_stats(engine);
}

static void tracer_tick(struct engine *engine)
{
	uint64_t now = clock_now_ns();
	bool ticked = now >= engine->next_tick_ns;

	if (engine->core.tracees.stuck)
		engine_release(engine);
	stalls_take_samples(engine);
	watch_tick(&engine->core.tracees, now);
	stalls_tick(engine, now);
	if (freeze_tick(&engine->freeze, now))
		engine_release(engine);
	if (now >= engine->core.tracees.signals_due_ns)
		sigstate_tick(&engine->core.tracees, arm_may_trap(engine),
			      engine->stalls.list.count > 0, now);
	underway_tick(engine, now);
	arm_refill(engine, now);
	provoke_tick(engine, now);
	hunt_tick(engine);
	record_tick(engine);
	startup_tick(&engine->startups, now);
	tracer_suit_watch(engine, now);
	if (ticked || now >= profile_next_ns(&engine->profile))
		profile_tick(&engine->profile, now);
	if (ticked) {
		engine->next_tick_ns = tracer_next_tick_ns(engine, now);
		tracer_check_rest(engine, now);
		load_tick(&engine->load, now);
		priority_tick(&engine->priority, now);
		if (engine->core.phase == PHASE_WATCHING) {
			release_copies(engine);
			announce_tick(&engine->core, &engine->govern);
			govern_tick(&engine->govern, now);
			arm_shrink(engine);
			engine_send_stats(engine);
		}
		if (engine->core.phase == PHASE_RELEASING)
			release_tick(engine, now);
	}
	tracer_send_threads(engine);
	/*
	 * What the front end would send for them is not armed while a stall
	 * runs; they go with what comes of the stall.
	 */
	if (ticked || engine->stalls.list.count == 0)
		tracer_send_returned(engine);
	core_send_notes(&engine->core);
	if (ticked || tracer_sends(engine, now))
		channel_flush(&engine->core.channel);
}

static uint64_t tracer_next_ns(struct engine *engine)
{
	uint64_t next = stalls_next_ns(engine);
	uint64_t refill = arm_next_ns(engine);

	if (engine->core.tracees.early.count > 0)
		return 0;
	if (refill < next)
		next = refill;
	if (underway_next_ns(&engine->underway) < next)
		next = underway_next_ns(&engine->underway);
	if (freeze_next_ns(&engine->freeze) < next)
		next = freeze_next_ns(&engine->freeze);
	if (provoke_next_ns(engine) < next)
		next = provoke_next_ns(engine);
	if (startup_next_ns(&engine->startups) < next)
		next = startup_next_ns(&engine->startups);
	if (profile_next_ns(&engine->profile) < next)
		next = profile_next_ns(&engine->profile);
	if (engine->core.tracees.signals_due_ns < next)
		next = engine->core.tracees.signals_due_ns;
	if (engine->next_tick_ns < next)
		next = engine->next_tick_ns;
	if (engine->core.tracees.watch.clean_at_ns != 0 &&
	    engine->core.tracees.watch.clean_at_ns < next)
		next = engine->core.tracees.watch.clean_at_ns;
	return next;
}

/* What there may be more of. */
struct tracer_news {
	bool children, messages;
};

/* Sleep until something happens or is due; says what has happened. */
static struct tracer_news tracer_sleep(struct engine *engine, int signals)
{
	bool out = channel_pending(&engine->core.channel) &&
		   tracer_sends(engine, clock_now_ns());
	/* what is not read would end each sleep at once; ticks try again */
	bool silent = engine->core.channel.closed ||
		      engine->core.channel.starved;
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = silent ? -1 : engine->core.channel.fd,
		  .events = (short)(POLLIN | (out ? POLLOUT : 0)) },
	};
	uint64_t now = clock_now_ns();
	uint64_t next = tracer_next_ns(engine);
	uint64_t wait = next > now ? next - now : 0;
	struct timespec timeout = {
		.tv_sec = (time_t)(wait / CLOCK_NS_PER_S),
		.tv_nsec = (long)(wait % CLOCK_NS_PER_S),
	};
	struct signalfd_siginfo infos[TRACER_SIGNALS];
	struct tracer_news news = { .children = false };

	if (ppoll(fds, 2, &timeout, NULL) <= 0)
		return news;
	news.children = fds[0].revents & POLLIN;
	news.messages = fds[1].revents;
	/* one word for any number of children; emptied before waiting */
	while (news.children &&
	       read(signals, infos, sizeof(infos)) == sizeof(infos))
		;
	return news;
}

static void tracer_loop(struct engine *engine, int signals)
{
	struct tracer_news news = { true, true };

	while (engine->core.phase != PHASE_DONE) {
		bool tick = clock_now_ns() >= engine->next_tick_ns;
		bool idle = true;

		/* released and nobody to tell of the child's end */
		if (engine->core.phase == PHASE_RELEASED &&
		    (engine->core.channel.closed || !engine->child ||
		     engine->ended))
			break;
		/*
		 * The end of a process need not be told by SIGCHLD (clone(2)):
		 * each tick looks for it.
		 */
		heartbeat_beat(engine->heartbeat);
		if (news.children || tick ||
		    engine->core.tracees.early.count > 0)
			idle = tracer_events(engine);
		if (news.messages || tick)
			tracer_messages(engine);
		tracer_tick(engine);
		news = (struct tracer_news){ true, true };
		if (engine->core.phase != PHASE_DONE && idle)
			news = tracer_sleep(engine, signals);
	}
}

/* What is still to be sent is worth a little waiting. */
static void tracer_drain(struct engine *engine)
{
	tracer_send_returned(engine);
	core_send_notes(&engine->core);
	channel_flush(&engine->core.channel);
	for (int i = 0; i < 50 && channel_pending(&engine->core.channel); i++) {
		struct pollfd fd = { .fd = engine->core.channel.fd,
				     .events = POLLOUT };

		poll(&fd, 1, 100);
		channel_flush(&engine->core.channel);
	}
}

static void tracer_fail(struct engine *engine, struct error *err)
{
	struct wire_failed message = { .kind = (int32_t)err->kind,
				       .code = err->code };

	snprintf(message.message, sizeof(message.message), "%s",
		 error_message(err));
	error_free(err);
	core_send_notes(&engine->core);
	channel_send(&engine->core.channel, WIRE_FAILED, &message,
		     sizeof(message));
}

/* What the tracer changes for itself, as it was. */
struct tracer_signals {
	sigset_t mask;
	struct sigaction child_action;
};

/* Of several, those that end before they are seized are left out. */
static struct error *tracer_attach(struct engine *engine,
				   const struct tracer_config *config)
{
	for (size_t i = 0; i < config->pid_count; i++) {
		pid_t pid = config->pids[i];
		struct error *err = launch_attach(
			engine, pid, config->held ? &config->held[i] : NULL);

		if (err && (err != error_gone ||
			    tracees_process(&engine->core.tracees, pid)))
			return err;
		if (err && config->pid_count > 1)
			core_note(
				&engine->core,
				error_create(
					ERROR_OTHER,
					"process %d has ended; it is left out",
					(int)pid));
	}
	underway_begin(engine, clock_now_ns());
	return engine->core.tracees.processes.count > 0 ? NULL : error_gone;
}

/* Others may have some of the registers: a hunt goes on with the rest. */
static struct error *tracer_count_registers(struct engine *engine,
					    const struct tracer_config *config)
{
	int count = DREGS_SLOTS;
	struct error *err;

	if (!config->hunts && config->record_executions == 0)
		return NULL;
	err = selftest_await_registers(TRACER_REGISTERS_NS, &count);
	if (err && selftest_is_busy(err))
		return error_wrap(err, "a hunt takes one at least");
	/* whether they work is not known by that */
	error_free(err);
	engine->core.tracees.watch.dregs.taken = (uint8_t)(DREGS_SLOTS - count);
	return NULL;
}

/* The back-end, and how breakpoints are set. */
static struct error *tracer_choose(struct engine *engine,
				   const struct tracer_config *config,
				   struct wire_started *started)
{
	const char *backend = config->tracing.backend;
	struct error *err;

	if (config->tracing.text_untouched && strcmp(backend, "auto") == 0)
		backend = watch_by_perf.name;
	err = tracer_count_registers(engine, config);
	if (!err)
		err = backend_choose(backend, &engine->core.tracees.watch,
				     started->reason, sizeof(started->reason));
	/* without it a stall takes longer */
	if (!err && engine->core.tracees.watch.ops == &watch_by_perf)
		core_note(&engine->core,
			  perfwatch_keep_ready(&engine->core.perf_ready));
	if (strcmp(config->tracing.backend, "auto") == 0 &&
	    !config->tracing.text_untouched && !config->hold_conflicts &&
	    !config->provoke && !config->hunts &&
	    config->record_executions == 0)
		engine->core.tracees.watch.many = WATCH_MANY;
	if (!err && (config->hunts || config->record_executions > 0) &&
	    engine->core.tracees.watch.ops->blind)
		err = error_create(ERROR_UNSUPPORTED,
				   "a hunt takes debug registers (racewatch "
				   "doctor): %s",
				   started->reason);
	if (!config->tracing.text_untouched)
		return err;
	if (!err && engine->core.tracees.watch.ops != &watch_by_perf)
		err = error_create(ERROR_USAGE, "it takes the back-end perf");
	if (!err)
		err = selftest_execution();
	if (!err)
		execpoints_begin(&engine->core.tracees.execpoints,
				 &engine->core.tracees.watch);
	return error_wrap(err, "--text-untouched");
}

static struct error *tracer_begin(struct engine *engine,
				  const struct tracer_config *config,
				  const struct tracer_signals *before)
{
	struct wire_started started = { 0 };
	struct launch launch = { .argv = config->argv,
				 .no_aslr = config->tracing.no_aslr,
				 .silent = config->silent,
				 .mask = &before->mask,
				 .child_action = &before->child_action };
	struct error *err;
	uint64_t begun;

	govern_begin(&engine->govern, &config->params);
	engine->follow = (enum wire_follow)config->tracing.follow;
	engine->rest_ns = config->argv ? config->rest_ns : 0;
	engine->freeze.wanted = config->hold_conflicts;
	if (config->provoke)
		provoke_begin(&engine->provoke, config->provoke);
	engine->hunt.on = config->hunts || config->record_executions > 0;
	engine->record.executions = config->record_executions;
	engine->core.tracees.watch.exact = config->hunts;
	if (!config->argv) {
		/* what is sent to the front end's whole group spares us */
		setpgid(0, 0);
		err = guardian_start(engine->heartbeat,
				     &engine->core.tracees.guardian);
		if (err)
			return err;
	}
	err = tracer_choose(engine, config, &started);
	if (err)
		return err;
	begun = clock_now_ns();
	err = config->argv ? launch_command(engine, &launch)
			   : tracer_attach(engine, config);
	if (err)
		return err;
	started.pid = engine->pid;
	started.begun_ns = begun;
	started.kernel_accesses = engine->core.tracees.watch.kernel;
	snprintf(started.backend, sizeof(started.backend), "%s",
		 engine->core.tracees.watch.ops->name);
	channel_send(&engine->core.channel, WIRE_STARTED, &started,
		     sizeof(started));
	/* what attaching took is no time without hits */
	govern_restart(&engine->govern);
	/* the front end learns from them how many sites to send */
	engine_send_stats(engine);
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (process->role == PROCESS_WATCHED)
			announce_begin(&engine->core, &engine->govern, process);
	}
	return NULL;
}

/*
 * The tracer outlives what a terminal sends to its whole group: it leaves
 * when the channel closes.
 */
static int tracer_take_signals(struct tracer_signals *before)
{
	struct sigaction child_action = { .sa_handler = SIG_DFL };
	sigset_t child;

	signals_block_all(&before->mask);
	/* ignored, it would take the ends of children from wait(2) */
	sigaction(SIGCHLD, &child_action, &before->child_action);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The command runs already: it inherits nothing of this. */
static void tracer_prepare(struct engine *engine, bool guarded)
{
	struct rlimit files;

	/* stall ends are timed to the microsecond */
	prctl(PR_SET_TIMERSLACK, 1UL);
	/* perf needs a file per thread and slot */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	fortify_memory();
	if (guarded)
		priority_guard(&engine->priority);
}

static void tracer_main(const struct tracer_config *config, int fd,
			struct heartbeat *heartbeat)
{
	struct engine engine;
	struct error *err;
	struct tracer_signals before;
	int signals;

	prctl(PR_SET_NAME, "racewatch-trace");
	signals = tracer_take_signals(&before);
	err = engine_init(&engine, fd, config->seed);
	engine.load.front = getppid();
	if (!err && signals < 0)
		err = error_os(errno, "make a signal file");
	engine.heartbeat = heartbeat;
	if (!err)
		err = tracer_begin(&engine, config, &before);
	if (!err)
		err = guardian_deputize(engine.core.tracees.guardian);
	tracer_prepare(&engine, engine.core.tracees.guardian);
	if (err) {
		tracer_fail(&engine, err);
		engine_release(&engine);
		engine.child = false;
	}
	tracer_loop(&engine, signals);
	heartbeat_end(heartbeat);
	/* children whose creator died at their birth */
	tracer_events(&engine);
	watch_shut(&engine.core.tracees);
	tracer_drain(&engine);
	/* the guardian takes it for our death, and restores what it can */
	if (engine.unrestored)
		return;
	engine_deinit(&engine);
	guardian_stop(engine.core.tracees.guardian);
}

struct error *tracer_spawn(const struct tracer_config *config,
			   struct tracer *ret)
{
	struct heartbeat *heartbeat;
	struct error *err;
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return error_os(errno, "make a channel");
	err = heartbeat_create(&heartbeat);
	pid = err ? -1 : fork();
	if (pid < 0) {
		if (!err) {
			err = error_os(errno, "fork the tracer");
			heartbeat_destroy(heartbeat);
		}
		close(fds[0]);
		close(fds[1]);
		return err;
	}
	if (pid == 0) {
		close(fds[0]);
		tracer_main(config, fds[1], heartbeat);
		_exit(0); /* exit-allowed: the tracer process ends here */
	}
	close(fds[1]);
	ret->pid = pid;
	ret->heartbeat = heartbeat;
	ret->fd = fds[0];
	return NULL;
}

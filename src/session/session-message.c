/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tracer says, and what the session does about it; see
 * session-state.h.
 */
#include "session/session-state.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/opener.h"
#include "image/image.h"
#include "sampling/sampler-runs.h"
#include "sys/sandbox.h"
#include "wire/running.h"

/* A program that nobody races with gets no sites for so long. */
static const uint64_t PROGRAM_IDLE_NS = 50 * CLOCK_NS_PER_MS;

/* The payload as the structure its type promises; false if it is too short. */
static bool message_read(const void *payload, size_t size, void *ret,
			 size_t wanted)
{
	if (size < wanted)
		return false;
	memcpy(ret, payload, wanted);
	return true;
}

/*
 * Not before: what explains a start that failed takes hold of processes. The program is
 * watched all the same where the kernel refuses the sandbox.
 */
static void message_confine(struct session *session)
{
	struct sandbox sandbox;
	struct error *err;

	if (!session->config->sandbox)
		return;
	sandbox = *session->config->sandbox;
	sandbox.pids[0] = session->tracer.pid;
	sandbox.pids[1] = opener_pid(session->opener);
	err = sandbox_enter(&sandbox);
	session->counts.sandboxed = !err;
	if (err && session->sink->note)
		session->sink->note(session->sink->context, error_message(err));
	error_free(err);
}

static struct error *message_started(struct session *session,
				     const void *payload, size_t size)
{
	struct wire_started started;

	if (!message_read(payload, size, &started, sizeof(started)))
		return NULL;
	started.backend[WIRE_NAME - 1] = '\0';
	started.reason[sizeof(started.reason) - 1] = '\0';
	memcpy(session->counts.backend, started.backend, WIRE_NAME);
	session->counts.pid = started.pid;
	message_confine(session);
	session->counts.kernel_accesses = started.kernel_accesses;
	/* by the tracer's clock, which is ours: we may come to it late */
	session->started_ns = started.begun_ns;
	log_debug(LOG_DETECT, "watching %d with %s %s", started.pid,
		  started.backend, started.reason);
	if (started.reason[0] && session->sink->note)
		session->sink->note(session->sink->context, started.reason);
	return NULL;
}

/* The tracer's error, as if it were ours. */
static struct error *message_error(const struct wire_failed *failed)
{
	struct error *err;

	if (failed->kind == ERROR_NOMEM)
		return error_nomem;
	if (failed->kind == ERROR_GONE)
		return error_gone;
	err = error_create((enum error_kind)failed->kind, "%s",
			   failed->message);
	if (err != error_nomem)
		err->code = failed->code;
	return err;
}

static struct error *message_failed(const void *payload, size_t size)
{
	struct wire_failed failed;

	if (!message_read(payload, size, &failed, sizeof(failed)))
		return NULL;
	failed.message[sizeof(failed.message) - 1] = '\0';
	return message_error(&failed);
}

/* The first program to be watched is that of the whole session. */
static void session_begin(struct session *session,
			  const struct watched_program *program)
{
	if (session->sink->started)
		session->sink->started(session->sink->context, &session->counts,
				       program->image);
}

static struct error *message_process(struct session *session,
				     const void *payload, size_t size)
{
	struct wire_process message;
	struct watched_program *program;
	struct error *err;
	bool first, added;

	if (!session->started_ns ||
	    !message_read(payload, size, &message, sizeof(message)))
		return NULL;
	log_debug(LOG_DETECT, "process %d of %d runs program %u", message.pid,
		  message.parent, message.program);
	first = session->watched.programs.count == 0;
	err = watched_began(&session->watched, &message, &program, &added);
	if (err)
		return err;
	if (added && program->key != program->id)
		session_taken_over(session, program);
	program->asked |= message.parent == 0;
	if (message.threads > 1 || (program->asked && !session->config->argv))
		watched_wake(&session->watched, program);
	/* before the session begins; of others, when they are fed */
	if (added && program->asked)
		err = session_refresh(session, program);
	if (err)
		return err;
	if (program->asked || program->awake)
		session_tell_foreign(session, image_rights(program->image));
	if (first)
		session_begin(session, program);
	return NULL;
}

static void message_process_ended(struct session *session, const void *payload,
				  size_t size)
{
	struct wire_process message;

	if (message_read(payload, size, &message, sizeof(message)))
		watched_ended(&session->watched, &message);
}

static struct error *message_startup(struct session *session,
				     const void *payload, size_t size)
{
	struct wire_startup message;
	struct watched_program *program;
	struct error *err;

	if (!message_read(payload, size, &message, sizeof(message)))
		return NULL;
	program = watched_program(&session->watched, message.program);
	if (!program)
		return NULL;
	program->startup_ns =
		clock_now_ns() + session_startup_ns(session->config);
	program->startup_begun_ns = message.begun_ns;
	program->threaded = true;
	program->idle_ns = 0;
	program->walk_ns = 0;
	program->walk = (struct sampleset_walk){ .part = 0 };
	program->entries = (struct sampleset_walk){ .part = 0 };
	if ((session_hunts(session->config) &&
	     !session_hunt_wants(session, program)) ||
	    (session_records(session->config) &&
	     !session_record_wants(session, program))) {
		session_end_startup(session, program);
		return NULL;
	}
	watched_wake(&session->watched, program);
	/* libraries have come since it began */
	err = session_refresh(session, program);
	return err ? err : session_reach(session, program);
}

/* What it says to the sampler. */
static enum sampler_return message_returned_how(enum wire_returned_why why)
{
	switch (why) {
	case WIRE_FIRED:
		return SAMPLER_RAN;
	case WIRE_MISSED:
		return SAMPLER_MISSED;
	case WIRE_REFUSED:
		return SAMPLER_RETIRED;
	case WIRE_LIFTED:
	case WIRE_DEFERRED:
	case WIRE_IDLE:
		break;
	}
	return SAMPLER_FREE;
}

static void message_returned_one(struct session *session,
				 const struct wire_returned *returned)
{
	struct watched_program *program =
		watched_program(&session->watched, returned->program);

	if (returned->id & WIRE_AIMED) {
		session_aim_returned(session, returned);
		return;
	}
	if (returned->id & WIRE_GUIDED) {
		session_guide_returned(session, returned);
		return;
	}
	if (!program)
		return;
	if (returned->why == WIRE_IDLE)
		program->idle_ns = clock_now_ns() + PROGRAM_IDLE_NS;
	if (returned->id & WIRE_ENTRY) {
		session_entry_returned(session, program, returned);
		return;
	}
	if (returned->why == WIRE_FIRED)
		revisits_stalled(&session->learning.revisits);
	sampler_return(&program->set.sampler, WIRE_ID(returned->id),
		       message_returned_how(returned->why));
	if (returned->why == WIRE_REFUSED)
		watched_timer_hurry(&program->maps, false);
	program->dry = false;
}

static void message_returned(struct session *session, const void *payload,
			     size_t size)
{
	struct wire_returned returned;

	for (size_t at = 0; at + sizeof(returned) <= size;
	     at += sizeof(returned)) {
		memcpy(&returned, (const uint8_t *)payload + at,
		       sizeof(returned));
		message_returned_one(session, &returned);
	}
}

/* Blocks of code that run, wherever they are. */
static struct error *message_running(struct session *session,
				     const void *payload, size_t size)
{
	struct wire_running running;
	struct error *err = NULL;

	for (size_t at = 0; !err && at + sizeof(running) <= size;
	     at += sizeof(running)) {
		struct watched_program *program;

		memcpy(&running, (const uint8_t *)payload + at,
		       sizeof(running));
		program = watched_program(&session->watched, running.program);
		if (program && watched_is_mapped(program))
			err = session_ran(session, program, running.address);
	}
	return err;
}

/* With --debug: the path is the last word, since it may have spaces. */
static void session_tell_place(const struct watched_program *program,
			       uint64_t id, const char *what)
{
	struct sampleset_place place;

	if (log_enabled(LOG_DETECT) &&
	    sampleset_place(&program->set, id, &place))
		log_debug(LOG_DETECT, "%s at 0x%llx of %s", what,
			  (unsigned long long)place.offset, place.module->path);
}

/* With --debug: why there was no stall. */
static void session_tell_unstalled(const struct watched_program *program,
				   const struct wire_sample *sample)
{
	session_tell_place(program, sample->id,
			   sample->outcome == WIRE_ALONE     ? "hit alone"
			   : sample->outcome == WIRE_PRIVATE ? "hit private"
							     : "hit passed");
}

static struct error *message_sample(struct session *session,
				    const void *payload, size_t size)
{
	struct wire_sample sample;
	struct watched_program *program;
	bool taken;

	if (!message_read(payload, size, &sample, sizeof(sample)) ||
	    sample.outcome == WIRE_ABANDONED)
		return NULL;
	sample.id = WIRE_ID(sample.id);
	program = watched_program(&session->watched, sample.program);
	if (!program)
		return NULL;
	taken = sample.outcome != WIRE_PASSED && sample.outcome != WIRE_PRIVATE;
	session->samples += taken;
	program->seen.samples += taken;
	program->seen.samples_stalled += sample.stalled;
	if (sample.outcome == WIRE_PRIVATE || sample.stalled)
		sampler_note_hit(&program->set.sampler, sample.id,
				 sample.stalled);
	if (sample.stalled) {
		if (sampler_mark(&program->set.sampler, sample.id))
			session_tell_place(program, sample.id, "sampled first");
		session->counts.sum.sampling.own +=
			sampleset_site_is_own(&program->set, sample.id);
		session_aim_sample(session, &sample);
	} else {
		session_tell_unstalled(program, &sample);
	}
	return session_learn_sample(session, program, &sample);
}

/* One may take the other's place (watch_suit()). */
static void message_backend(struct session *session)
{
	char *backend = session->counts.backend;

	if (session->counts.sum.stats.by_processor &&
	    strcmp(backend, "perf") == 0)
		snprintf(backend, WIRE_NAME, "perf-cpu");
	else if (!session->counts.sum.stats.by_processor &&
		 strcmp(backend, "perf-cpu") == 0)
		snprintf(backend, WIRE_NAME, "perf");
}

/* How long it took until the first breakpoint was in the text. */
static void session_tell_armed(struct session *session)
{
	uint64_t armed = session->counts.sum.stats.first_armed_ns;

	if (armed == 0 || session->armed_told)
		return;
	session->armed_told = true;
	log_debug(LOG_DETECT, "first breakpoint armed after %.1f ms",
		  (double)(armed - session->begun_ns) / CLOCK_NS_PER_MS);
}

/* Where there are hits enough, a draw that is not reached costs none. */
static void session_ask_repeats(struct session *session)
{
	for (size_t i = 0; i < session->watched.programs.count; i++)
		watched_at(&session->watched, i)->set.sampler.repeats =
			session->counts.sum.stats.few_hits;
}

static void session_tell_pool(const struct wire_stats *stats)
{
	log_debug(LOG_DETECT, "pool %u, %.0f hits/s, %u armed", stats->pool,
		  stats->hits_per_s, stats->armed);
}

static void message_stats(struct session *session, const void *payload,
			  size_t size)
{
	uint32_t pool = session->counts.sum.stats.pool;

	if (!message_read(payload, size, &session->counts.sum.stats,
			  sizeof(session->counts.sum.stats)) ||
	    !session_watches(session))
		return;
	if (session->counts.sum.stats.pool != pool)
		session_tell_pool(&session->counts.sum.stats);
	session_tell_armed(session);
	message_backend(session);
	session_ask_repeats(session);
	session_send_supply(session);
}

static void message_exited(struct session *session, const void *payload,
			   size_t size)
{
	struct wire_exited exited;

	if (!message_read(payload, size, &exited, sizeof(exited)))
		return;
	session_crash_unseen(session, exited.status);
	session->result.end = SESSION_EXITED;
	session->result.status = exited.status;
	session->done = true;
	if (!session->stopped_ns)
		session->stopped_ns = exited.ended_ns;
}

static void message_detached(struct session *session)
{
	if (!session->stopped_ns)
		session->stopped_ns = clock_now_ns();
	if (session->config->argv)
		return;
	session->result.end = SESSION_LEFT;
	session->done = true;
}

static void message_stopped(struct session *session, const void *payload,
			    size_t size)
{
	struct wire_stopped stopped;

	if (!message_read(payload, size, &stopped, sizeof(stopped)))
		return;
	session->result.stopped = true;
	session->stopping = true;
	if (session->sink->stopped)
		session->sink->stopped(session->sink->context, stopped.pids);
}

static void message_provoked(struct session *session, const void *payload,
			     size_t size)
{
	struct wire_provoked provoked;

	if (!message_read(payload, size, &provoked, sizeof(provoked)))
		return;
	if (session->sink->provoked)
		session->sink->provoked(session->sink->context, &provoked);
	if (provoked.done)
		session_stop(session);
}

static void message_hunted(struct session *session, const void *payload,
			   size_t size)
{
	struct wire_hunted news;

	if (message_read(payload, size, &news, sizeof(news)) &&
	    session_hunts(session->config))
		session_hunted(session, &news);
}

static struct error *message_hunt_wait(struct session *session,
				       const void *payload, size_t size)
{
	const struct wire_hunt_wait *wait = payload;

	if (size < sizeof(*wait) || wait->stack_size > sizeof(wait->stack) ||
	    wait->other.length > WIRE_PATH_MAX ||
	    !session_hunts(session->config))
		return NULL;
	return session_tolerate(session, session_hunt_wait(session, wait));
}

static void message_note(struct session *session, const void *payload,
			 size_t size)
{
	char text[512];

	snprintf(text, sizeof(text), "%.*s", (int)(size < 500 ? size : 500),
		 (const char *)payload);
	if (session->sink->note)
		session->sink->note(session->sink->context, text);
}

static struct error *session_message(struct session *session,
				     enum wire_type type, const void *payload,
				     size_t size)
{
	switch ((int)type) {
	case WIRE_STARTED:
		return message_started(session, payload, size);
	case WIRE_FAILED:
		return message_failed(payload, size);
	case WIRE_PROCESS:
		return message_process(session, payload, size);
	case WIRE_PROCESS_ENDED:
		message_process_ended(session, payload, size);
		break;
	case WIRE_THREADS:
		session_hurry_refresh(session);
		break;
	case WIRE_STARTUP:
		return message_startup(session, payload, size);
	case WIRE_RETURNED:
		message_returned(session, payload, size);
		break;
	case WIRE_SAMPLE:
		return message_sample(session, payload, size);
	case WIRE_CONFLICT:
		return session_tolerate(
			session, session_conflict(session, payload, size));
	case WIRE_INSTANCE:
		return session_tolerate(session,
					session_replay(session, payload, size));
	case WIRE_CRASH:
		session_crash(session, payload, size);
		break;
	case WIRE_STATS:
		message_stats(session, payload, size);
		break;
	case WIRE_STOPPED:
		message_stopped(session, payload, size);
		break;
	case WIRE_DETACHED:
		message_detached(session);
		break;
	case WIRE_EXITED:
		message_exited(session, payload, size);
		break;
	case WIRE_NOTE:
		message_note(session, payload, size);
		break;
	case WIRE_RUNNING:
		return message_running(session, payload, size);
	case WIRE_PROVOKED:
		message_provoked(session, payload, size);
		break;
	case WIRE_HUNT_WAIT:
		return message_hunt_wait(session, payload, size);
	case WIRE_HUNTED:
		message_hunted(session, payload, size);
		break;
	case WIRE_RECORDED:
		return session_recorded(session, payload, size);
	case WIRE_CALLERS:
		return session_callers(session, payload, size);
	default:
		break;
	}
	return NULL;
}

struct error *session_messages(struct session *session)
{
	struct error *err = NULL;
	const void *payload;
	enum wire_type type;
	size_t size;

	while (!err && !session->done &&
	       channel_next(&session->channel, &type, &payload, &size))
		err = session_message(session, type, payload, size);
	return err;
}

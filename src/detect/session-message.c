/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tracer says, and what the session does about it; see
 * session-state.h.
 */
#include "detect/session-state.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "image/image.h"
#include "report/race.h"

/* The payload as the structure its type promises; false if it is too short. */
static bool message_read(const void *payload, size_t size, void *ret,
			 size_t wanted)
{
	if (size < wanted)
		return false;
	memcpy(ret, payload, wanted);
	return true;
}

struct error *session_tolerate(struct session *session, struct error *err)
{
	if (!err || err->kind == ERROR_NOMEM)
		return err;
	if (session->sink->note && err->kind != ERROR_GONE)
		session->sink->note(session->sink->context, error_message(err));
	error_free(err);
	return NULL;
}

static struct error *message_started(struct session *session,
				     const void *payload, size_t size)
{
	struct wire_started started;
	struct error *err;

	if (!message_read(payload, size, &started, sizeof(started)))
		return NULL;
	started.backend[WIRE_NAME - 1] = '\0';
	started.reason[sizeof(started.reason) - 1] = '\0';
	memcpy(session->counts.backend, started.backend, WIRE_NAME);
	session->counts.pid = started.pid;
	session->counts.kernel_accesses = started.kernel_accesses;
	session->started_ns = clock_now_ns();
	log_debug(LOG_DETECT, "watching %d with %s %s", started.pid,
		  started.backend, started.reason);
	err = image_create(started.pid, &session->image);
	if (!err)
		err = sampleset_init(&session->set, session->image,
				     session->config->rules, started.pid,
				     session->config->seed);
	if (err)
		return err;
	governor_init(&session->governor, session->config->rate,
		      session->started_ns);
	session->sent.pool = session->governor.pool;
	err = session_refresh(session, false);
	if (err)
		return err;
	if (started.reason[0] && session->sink->note)
		session->sink->note(session->sink->context, started.reason);
	if (session->sink->started)
		session->sink->started(session->sink->context, &session->counts,
				       session->image);
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

static struct error *message_exec(struct session *session)
{
	struct error *err;

	if (!session->started_ns)
		return NULL;
	err = session_refresh(session, true);
	governor_restart(&session->governor, clock_now_ns(),
			 session->counts.stats.hits);
	return err;
}

static void message_returned(struct session *session, const void *payload,
			     size_t size)
{
	struct wire_returned returned;

	for (size_t at = 0; at + sizeof(returned) <= size;
	     at += sizeof(returned)) {
		memcpy(&returned, (const uint8_t *)payload + at,
		       sizeof(returned));
		sampler_return(&session->set.sampler, returned.id,
			       returned.why == WIRE_REFUSED ? SAMPLER_RETIRED
							    : SAMPLER_FREE);
		if (returned.why == WIRE_REFUSED)
			session_hurry_refresh(session, false);
	}
	session->dry = false;
}

static void message_sample(struct session *session, const void *payload,
			   size_t size)
{
	struct wire_sample sample;

	if (message_read(payload, size, &sample, sizeof(sample)) &&
	    sample.outcome != WIRE_ABANDONED)
		sampler_mark(&session->set.sampler, sample.id);
}

static void message_stats(struct session *session, const void *payload,
			  size_t size)
{
	struct governor_state state = { .now_ns = clock_now_ns() };
	const struct sampler *sampler = &session->set.sampler;

	if (!message_read(payload, size, &session->counts.stats,
			  sizeof(session->counts.stats)) ||
	    !session_watches(session))
		return;
	state.hits = session->counts.stats.hits;
	state.armed = session->counts.stats.armed;
	state.sites = sampler_complete(sampler)
			      ? sampler->known - sampler->retired
			      : sampler->text_size;
	governor_tick(&session->governor, &state);
	session_send_params(session);
}

/*
 * The name the program goes by, as ps(1) shows it; the executable's may be
 * that of a link's target. It is asked for anew: a program may change it.
 */
static void session_name_program(struct session *session)
{
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", session->counts.pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(session->program, sizeof(session->program), file))
		session->program[strcspn(session->program, "\n")] = '\0';
	fclose(file);
}

static void session_report(struct session *session, struct race *race,
			   bool first)
{
	if (race->verdict == VERDICT_SYNC)
		session->counts.synchronization++;
	else if (first)
		session->counts.races++;
	if (session->sink->race)
		session->sink->race(session->sink->context, race, first);
	if (session->config->halt_on_race && race->verdict != VERDICT_SYNC &&
	    !session->result.halted) {
		session->result.halted = true;
		/* a program that was attached to is not ours to end */
		if (session->config->argv)
			session_end_program(session);
		else
			session_stop(session);
	}
}

/*
 * Count a conflict that was seen before. A changed value of unknown origin is
 * one too when the stalled instruction is known to race with another.
 */
static bool session_known_conflict(struct session *session,
				   const struct conflict_context *context,
				   const struct conflict *conflict)
{
	uint64_t *known = map_get(&session->seen, conflict->key);
	struct race *race;

	if (!known && !conflict->sides[1].wire->present)
		known = map_get(&session->places,
				conflict_place(context, conflict, 0));
	if (!known)
		return false;
	race = (struct race *)(uintptr_t)*known;
	race->count++;
	session_report(session, race, false);
	return true;
}

static bool session_remember(struct session *session,
			     const struct conflict_context *context,
			     const struct conflict *conflict,
			     const struct race *race)
{
	uint64_t value = (uint64_t)(uintptr_t)race;

	if (!map_set(&session->seen, conflict->key, value))
		return false;
	for (int i = 0; i < 2 && conflict->sides[1].wire->present; i++) {
		uint64_t place = conflict_place(context, conflict, i);

		if (place && !map_set(&session->places, place, value))
			return false;
	}
	return true;
}

static struct error *
session_new_conflict(struct session *session,
		     const struct conflict_context *context,
		     const struct conflict *conflict)
{
	uint64_t start = clock_now_ns();
	struct race *race;
	bool first;
	struct error *err = conflict_describe(context, conflict, &race);

	log_debug(LOG_DETECT, "a conflict described in %.1f ms",
		  (double)(clock_now_ns() - start) / CLOCK_NS_PER_MS);
	if (!err)
		err = dedupe_add(&session->races, race, &race, &first);
	if (err)
		return err;
	if (!session_remember(session, context, conflict, race))
		return error_nomem;
	session_report(session, race, first);
	return NULL;
}

/*
 * A library may have been loaded since the maps were read last; its frames
 * would be missing. So they are read again before anything new is described.
 */
static struct error *session_conflict(struct session *session,
				      const struct conflict_context *context,
				      const void *payload, size_t size,
				      struct conflict *conflict)
{
	bool fresh = clock_now_ns() < session->refreshed_ns + CLOCK_NS_PER_MS;

	for (;;) {
		struct error *err =
			conflict_read(context, payload, size, conflict);

		if (err)
			return err;
		if (!conflict->race) {
			session->counts.read_read++;
			return NULL;
		}
		if (session_known_conflict(session, context, conflict))
			return NULL;
		if (fresh)
			return session_new_conflict(session, context, conflict);
		fresh = true;
		err = session_refresh(session, false);
		if (err)
			return err;
	}
}

static struct error *message_conflict(struct session *session,
				      const void *payload, size_t size)
{
	struct conflict_context context = {
		.image = session->image,
		.scanner = &session->set.scanner,
		.rules = session->config->rules,
		.backend = session->counts.backend,
		.program = session->program,
	};
	struct conflict conflict;

	if (!session->started_ns)
		return NULL;
	session_name_program(session);
	return session_conflict(session, &context, payload, size, &conflict);
}

static void message_exited(struct session *session, const void *payload,
			   size_t size)
{
	struct wire_exited exited;

	if (!message_read(payload, size, &exited, sizeof(exited)))
		return;
	session->result.end = SESSION_EXITED;
	session->result.status = exited.status;
	session->done = true;
	if (!session->stopped_ns)
		session->stopped_ns = clock_now_ns();
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
	case WIRE_EXEC:
		return message_exec(session);
	case WIRE_THREADS:
		session_hurry_refresh(session, false);
		break;
	case WIRE_RETURNED:
		message_returned(session, payload, size);
		break;
	case WIRE_SAMPLE:
		message_sample(session, payload, size);
		break;
	case WIRE_CONFLICT:
		return session_tolerate(
			session, message_conflict(session, payload, size));
	case WIRE_STATS:
		message_stats(session, payload, size);
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places that the user asked for (--at): found in each module when it joins,
 * and armed whenever the tracer does not have them; see session-state.h. How
 * much of the budget they get is decided by the tracer (schedule/pool.h).
 */
#include "session/session-state.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "image/image.h"
#include "sampling/rules.h"

enum {
	AIM_BATCH = 64,
	/* the tracer has room for twice as many */
	AIM_OUT_MAX = 4096,
};

/* Modules are searched for so long before the tracer is listened to again. */
static const uint64_t AIM_SLICE_NS = 4 * CLOCK_NS_PER_MS;
/* After one that could not be armed now: another time. */
static const uint64_t AIM_PAUSE_NS = 5 * CLOCK_NS_PER_MS;
/* ... or where the text was not as expected */
static const uint64_t AIM_REFUSED_NS = CLOCK_NS_PER_S;
/*
 * One that nobody reaches for so long is seldom reached: its stalls may be
 * longer, as the others' are where hits are few.
 */
static const uint64_t AIM_SELDOM_NS = 20 * CLOCK_NS_PER_MS;
/* a program that was just started has not loaded its libraries yet */
static const uint64_t AIM_TELL_NS = CLOCK_NS_PER_S;

static struct session_place *session_place_at(const struct session *session,
					      size_t i)
{
	return vec_at(&session->at.places, i);
}

bool session_aim_init(struct session *session)
{
	const struct vec *at = session->config->at;

	session->at.aims = (struct vec)VEC_INIT(struct session_aim);
	session->at.places = (struct vec)VEC_INIT(struct session_place);
	for (size_t i = 0; at && i < at->count; i++) {
		struct session_place *place = vec_append(&session->at.places);

		if (!place)
			return false;
		place->where = vec_at(at, i);
	}
	return true;
}

void session_aim_deinit(struct session *session)
{
	for (size_t i = 0; i < session->at.places.count; i++)
		aim_deinit(&session_place_at(session, i)->best);
	vec_deinit(&session->at.places);
	vec_deinit(&session->at.aims);
	map_deinit(&session->at.index);
}

static struct session_aim *session_aim_of(const struct session *session,
					  uint32_t program, uint64_t id)
{
	const uint64_t *index =
		map_get(&session->at.index, wire_site_key(program, id));

	return index ? vec_at(&session->at.aims, (size_t)*index) : NULL;
}

bool session_is_aimed(const struct session *session, uint32_t program,
		      uint64_t id)
{
	return session_aim_of(session, program, id);
}

static bool session_aim_push(struct session *session, uint32_t program,
			     uint64_t id, size_t place)
{
	struct session_aim *aim = session_aim_of(session, program, id);

	if (!aim) {
		aim = vec_append(&session->at.aims);
		if (!aim ||
		    !map_set(&session->at.index, wire_site_key(program, id),
			     session->at.aims.count - 1))
			return false;
		*aim = (struct session_aim){ .id = id,
					     .program = program,
					     .seldom = true };
	}
	aim->places |= UINT64_C(1) << place;
	session->at.next_ns = 0;
	return true;
}

/* One place in one module. */
static struct error *session_aim_place(struct session *session,
				       struct watched_program *program,
				       struct module *module, size_t number)
{
	struct session_place *place = session_place_at(session, number);
	struct vec ids = VEC_INIT(uint64_t);
	struct aim aim;
	struct error *err =
		aim_module(&program->set, module, place->where, &ids, &aim);

	if (err)
		return err;
	log_debug(LOG_DETECT, "--at %s: %zu sites in %s", place->where->text,
		  ids.count, module->path);
	aim_merge(&place->best, &aim);
	if (place->program != program->id)
		place->program_sites = 0;
	place->program = program->id;
	place->program_sites += ids.count;
	if (place->program_sites > place->sites)
		place->sites = place->program_sites;
	for (size_t i = 0; !err && i < ids.count; i++) {
		if (!session_aim_push(session, program->id,
				      *(uint64_t *)vec_at(&ids, i), number))
			err = error_nomem;
	}
	vec_deinit(&ids);
	return err;
}

/*
 * Libraries are not searched for what the program itself has: their debug
 * information may take a second, in which a short program would be over.
 */
static bool session_aim_wants(const struct session *session, size_t number,
			      const struct watched_program *program,
			      const struct module *module)
{
	const struct session_place *place = session_place_at(session, number);

	return place->where->kind == WHERE_OFFSET || rules_module_own(module) ||
	       place->program != program->id || place->program_sites == 0;
}

/* The modules that have joined since the last look. */
static struct error *session_aim_modules(struct session *session,
					 struct watched_program *program,
					 uint64_t until_ns)
{
	struct module *module = NULL;
	struct error *err = NULL;

	while (!err && clock_now_ns() < until_ns) {
		module = sampleset_take_module(&program->set);
		if (!module)
			break;
		for (size_t i = 0; !err && i < session->at.places.count; i++) {
			if (!session_aim_wants(session, i, program, module))
				continue;
			err = session_tolerate(
				session,
				session_aim_place(session, program, module, i));
		}
	}
	program->aimed = !module && !program->set.behind;
	return err;
}

/* Once: what was not found although all that is loaded has been searched. */
static void session_aim_tell(struct session *session, uint64_t now)
{
	uint64_t wait = session->config->argv ? AIM_TELL_NS : 0;

	if (session->at.told || session->config->provoke ||
	    now < session->started_ns + wait)
		return;
	for (size_t i = 0; i < session->watched.programs.count; i++) {
		const struct watched_program *program =
			watched_at(&session->watched, i);

		if (watched_is_mapped(program) && !program->aimed)
			return;
	}
	session->at.told = true;
	for (size_t i = 0; i < session->at.places.count; i++) {
		struct session_place *place = session_place_at(session, i);
		struct strbuf text = { 0 };

		if (place->sites > 0 || !session->sink->note)
			continue;
		strbuf_addf(&text, "--at %s: nothing is found there so far: ",
			    place->where->text);
		aim_explain(&text, place->where, &place->best);
		session->sink->note(session->sink->context, strbuf_text(&text));
		strbuf_deinit(&text);
	}
}

static void session_aim_remove(struct session *session, size_t i)
{
	const struct session_aim *aim = vec_at(&session->at.aims, i);

	session->at.out -= aim->out;
	map_remove(&session->at.index, wire_site_key(aim->program, aim->id));
	vec_remove_swap(&session->at.aims, i);
	if (i == session->at.aims.count)
		return;
	aim = vec_at(&session->at.aims, i);
	map_set(&session->at.index, wire_site_key(aim->program, aim->id), i);
}

/* As the tracer wants it; false: its text or program has gone. */
static bool session_aim_describe(struct session *session,
				 struct session_aim *aim, uint64_t now,
				 struct wire_site *ret)
{
	struct watched_program *program =
		watched_program(&session->watched, aim->program);

	if (!program || !watched_is_mapped(program) ||
	    !sampleset_describe(&program->set, aim->id, ret))
		return false;
	ret->id = aim->id | WIRE_AIMED;
	ret->program = aim->program;
	ret->seldom = aim->seldom;
	if (session->config->provoke)
		ret->provoke = (uint8_t)aim->places;
	aim->sent_ns = now;
	return true;
}

/* What the tracer has of text or programs that have gone never returns. */
static void session_aims_check(struct session *session, uint64_t now)
{
	if (now < session->at.check_ns)
		return;
	session->at.check_ns = now + AIM_REFUSED_NS;
	for (size_t i = session->at.aims.count; i-- > 0;) {
		const struct session_aim *aim = vec_at(&session->at.aims, i);
		const struct watched_program *program =
			watched_program(&session->watched, aim->program);
		struct sampleset_place place;

		if (!program || !watched_is_mapped(program) ||
		    !sampleset_place(&program->set, aim->id, &place))
			session_aim_remove(session, i);
	}
}

/* A batch at most; *ret_more: others wait for the next. */
static size_t session_aim_batch(struct session *session, uint64_t now,
				struct wire_site *sites, bool *ret_more)
{
	size_t count = 0;

	*ret_more = false;
	session->at.next_ns = UINT64_MAX;
	for (size_t i = 0; i < session->at.aims.count; i++) {
		struct session_aim *aim = vec_at(&session->at.aims, i);

		if (aim->out)
			continue;
		if (now < aim->due_ns) {
			if (aim->due_ns < session->at.next_ns)
				session->at.next_ns = aim->due_ns;
		} else if (count == AIM_BATCH ||
			   session->at.out >= AIM_OUT_MAX) {
			*ret_more = session->at.out < AIM_OUT_MAX;
		} else if (session_aim_describe(session, aim, now,
						&sites[count])) {
			aim->out = true;
			session->at.out++;
			count++;
		}
	}
	return count;
}

void session_aim_returned(struct session *session,
			  const struct wire_returned *returned)
{
	struct session_aim *aim = session_aim_of(session, returned->program,
						 WIRE_ID(returned->id));
	uint64_t now = clock_now_ns();

	if (!aim || !aim->out)
		return;
	aim->out = false;
	session->at.out--;
	aim->due_ns = now;
	if (wire_was_hit(returned->why))
		aim->seldom = now - aim->sent_ns >= AIM_SELDOM_NS;
	else
		aim->due_ns += returned->why == WIRE_REFUSED ? AIM_REFUSED_NS
							     : AIM_PAUSE_NS;
	if (aim->due_ns < session->at.next_ns)
		session->at.next_ns = aim->due_ns;
}

void session_aim_sample(struct session *session,
			const struct wire_sample *sample)
{
	const struct session_aim *aim =
		session_aim_of(session, sample->program, WIRE_ID(sample->id));

	for (size_t i = 0; aim && i < session->at.places.count; i++)
		session_place_at(session, i)->samples +=
			(aim->places & UINT64_C(1) << i) != 0;
}

static void session_aim_send(struct session *session, uint64_t now)
{
	struct wire_site sites[AIM_BATCH];
	bool more = true;

	while (more && now >= session->at.next_ns) {
		size_t count = session_aim_batch(session, now, sites, &more);

		if (count == 0 || channel_send(&session->channel, WIRE_SITES,
					       sites, count * sizeof(*sites)))
			continue;
		for (size_t i = 0; i < count; i++) {
			struct wire_returned returned = {
				.id = sites[i].id,
				.program = sites[i].program,
				.why = WIRE_LIFTED,
			};

			session_aim_returned(session, &returned);
		}
		return;
	}
}

/* The first threads wait until all there is has been sent, if for nothing else. */
static void session_aim_end_startup(struct session *session)
{
	for (size_t i = 0; i < session->watched.programs.count; i++) {
		struct watched_program *program =
			watched_at(&session->watched, i);

		if (program->startup_ns != 0 && program->aimed &&
		    !session_arms_once(session->config))
			session_end_startup(session, program);
	}
}

struct error *session_aim(struct session *session)
{
	struct error *err = NULL;
	uint64_t now;

	if (!session_aims(session->config))
		return NULL;
	for (size_t i = 0; !err && i < session->watched.programs.count; i++) {
		struct watched_program *program =
			watched_at(&session->watched, i);

		if (watched_is_mapped(program))
			err = session_aim_modules(session, program,
						  clock_now_ns() +
							  AIM_SLICE_NS);
	}
	now = clock_now_ns();
	session_aims_check(session, now);
	session_aim_send(session, now);
	session_aim_end_startup(session);
	session_aim_tell(session, now);
	return err;
}

uint64_t session_aim_due(const struct session *session)
{
	uint64_t due = session->at.next_ns;

	if (!session_aims(session->config))
		return UINT64_MAX;
	for (size_t i = 0; i < session->watched.programs.count; i++) {
		const struct watched_program *program =
			watched_at(&session->watched, i);

		if (watched_is_mapped(program) && !program->aimed)
			return 0;
	}
	if (session->at.check_ns < due)
		due = session->at.check_ns;
	return due;
}

bool session_list_aims(const struct session *session, struct run_summary *ret)
{
	size_t count = session->at.places.count;
	struct run_at *list = calloc(count + 1, sizeof(*list));

	ret->at = list;
	for (size_t i = 0; list && i < count; i++) {
		const struct session_place *place =
			session_place_at(session, i);
		struct strbuf why = { 0 };

		if (place->sites == 0)
			aim_explain(&why, place->where, &place->best);
		list[i] = (struct run_at){
			.where = strdup(place->where->text),
			.sites = place->sites,
			.samples = place->samples,
			.problem = place->sites == 0 ? strdup(strbuf_text(&why))
						     : NULL,
		};
		strbuf_deinit(&why);
		ret->at_count = i + 1;
		if (!list[i].where || (place->sites == 0 && !list[i].problem))
			return false;
	}
	return list != NULL;
}

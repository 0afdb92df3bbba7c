/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a conflict that the tracer reports to a race that is counted or new;
 * see session-state.h.
 */
#include "detect/session-state.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/rights.h"
#include "image/image.h"
#include "judge/judge.h"
#include "report/kin.h"
#include "report/race.h"
#include "report/source.h"

/* The executable's name, or "". */
static const char *session_executable(const struct image *image)
{
	const struct vec *modules = image_modules(image);

	for (size_t i = 0; i < modules->count; i++) {
		const struct module *module =
			*(struct module **)vec_at(modules, i);

		if (module->main)
			return module->name;
	}
	return "";
}

/*
 * The name the program goes by, as ps(1) shows it; the executable's may be
 * that of a link's target. It is asked for anew: a program may change it. One
 * that has ended goes by its executable's.
 */
static void session_name_program(struct session *session, int pid,
				 const struct image *image)
{
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (file) {
		if (fgets(session->program, sizeof(session->program), file))
			session->program[strcspn(session->program, "\n")] =
				'\0';
		fclose(file);
	}
	if (session->program[0] == '\0')
		snprintf(session->program, sizeof(session->program), "%s",
			 session_executable(image));
}

/* Stalls at one site that may end in settled races before it is left out. */
enum { SESSION_TIRED = 3 };

/* More than any site gets: it has ended in a race that is not to be missed. */
static const uint64_t session_never = UINT64_C(1) << 32;

static uint64_t session_pointer(const struct race *race)
{
	return (uint64_t)(uintptr_t)race;
}

/* Of the stalled sites of a conflict, count one more at which it is so. */
static bool session_tire_site(struct session *session,
			      const struct wire_side *side, struct map *times,
			      uint64_t more)
{
	struct watched_program *program =
		watched_program(&session->watched, side->program);
	uint64_t site = WIRE_ID(side->site);
	uint64_t key, now, *before;

	if (!side->present || side->site == 0 || !program)
		return true;
	key = wire_site_key(program->key, site);
	before = map_get(times, key);
	now = (before ? *before : 0) + more;
	if (!map_set(times, key, now))
		return false;
	if (now >= SESSION_TIRED && now < session_never)
		sampler_retire(&program->set.sampler, site);
	return true;
}

/* The site of a wire_site_key(); 0: it is of another program. */
static uint64_t session_key_site(uint32_t program, uint64_t key)
{
	uint64_t site = key ^ wire_site_key(program, 0);

	return site >> 48 == 0 ? site : 0;
}

static void session_retire_tired(struct watched_program *program,
				 const struct map *times)
{
	uint64_t key, count;
	size_t at = 0;

	while (map_next(times, &at, &key, &count)) {
		uint64_t site = session_key_site(program->key, key);

		if (site != 0 && count >= SESSION_TIRED &&
		    count < session_never)
			sampler_retire(&program->set.sampler, site);
	}
}

void session_taken_over(struct session *session,
			struct watched_program *program)
{
	session_retire_tired(program, &session->tired);
	session_retire_tired(program, &session->synchronizing);
}

/*
 * A stall has ended in a race of which nothing more is to be learned. A site
 * where that happens again and again gets no more breakpoints. What another
 * race would have shown by a stall there is still seen by a stall at that
 * race's other side: the watchpoints of others' stalls trap there as before.
 *
 * So it is with a site whose stalls end in synchronization, and only in that:
 * one that was part of a race too, as a function for many variables may be,
 * is worth its stalls.
 */
static bool session_tire(struct session *session,
			 const struct conflict *conflict,
			 const struct race *race)
{
	bool settled = map_get(&session->settled, session_pointer(race));
	bool sync = race->verdict == VERDICT_SYNC;

	for (int i = 0; i < 2; i++) {
		const struct wire_side *side = &conflict->wire.sides[i];

		if (settled &&
		    !session_tire_site(session, side, &session->tired, 1))
			return false;
		if (!session_tire_site(session, side, &session->synchronizing,
				       sync ? 1 : session_never))
			return false;
	}
	return true;
}

static struct error *session_verdict(struct session *session, struct race *race)
{
	const struct judge *judge = session->config->judge;

	return judge ? judge_verdict(judge, race) : NULL;
}

static void session_clear_owned(struct session *session)
{
	for (size_t i = 0; i < session->watched.tallies.count; i++) {
		struct tally *tally = vec_at(&session->watched.tallies, i);

		tally->races = 0;
	}
}

/* One more of its program. */
static void session_count_owned(struct session *session,
				const struct race *race)
{
	const uint64_t *at = map_get(&session->owners, session_pointer(race));
	struct tally *tally;

	if (!at)
		return;
	tally = vec_at(&session->watched.tallies, (size_t)*at);
	tally->races++;
}

/*
 * Suppressions and verdicts change with what is seen: all are counted anew. Those
 * that are shown get their numbers; the others do at the end.
 */
static void session_count(struct session *session)
{
	struct session_counts *counts = &session->counts;

	counts->races = counts->races_known = 0;
	counts->suppressed = counts->unlikely = 0;
	session_clear_owned(session);
	for (size_t i = 0; i < session->races.races.count; i++) {
		struct race *race =
			*(struct race **)vec_at(&session->races.races, i);

		if (race_counts(race, session->config->ignore_unlikely) ||
		    session->config->shows_all)
			dedupe_number(&session->races, race);
		if (race_counts(race, session->config->ignore_unlikely)) {
			counts->races++;
			session_count_owned(session, race);
			counts->races_known += race->status == STATUS_KNOWN;
		}
		if (race->suppressed.rule)
			counts->suppressed += race->verdict != VERDICT_SYNC;
		else
			counts->unlikely += race->verdict == VERDICT_UNLIKELY;
	}
}

static void session_halt(struct session *session, const struct race *race)
{
	if (!session->config->halt_on_race || session->result.halted ||
	    !race_is_actionable(race, session->config->ignore_unlikely))
		return;
	session->result.halted = true;
	/* a program that was attached to is not ours to end */
	if (session->config->argv)
		session_end_program(session);
	else
		session_stop(session);
}

/* Hand it to the sink, and act on it. */
static void session_tell(struct session *session, const struct race *race,
			 bool first)
{
	session_count(session);
	if (session->sink->race)
		session->sink->race(session->sink->context, race, first);
	if (race_is_actionable(race, session->config->ignore_unlikely))
		session->worth_stopping = true;
	session_halt(session, race);
}

static struct error *session_report(struct session *session, struct race *race,
				    bool first)
{
	struct judge *judge = session->config->judge;
	bool hidden = race->suppressed.rule && !first;
	struct error *err = NULL;

	if (hidden && judge)
		err = judge_race_again(judge, race);
	if (err)
		return err;
	/* what hid it holds no longer: it is a race like another */
	first = first || (hidden && !race->suppressed.rule);
	session_count(session);
	if (first)
		log_debug(LOG_DETECT, "race %llu is new at sample %llu",
			  (unsigned long long)race->id,
			  (unsigned long long)session->samples);
	session->counts.synchronization += race->verdict == VERDICT_SYNC;
	session_tell(session, race, first);
	return NULL;
}

static struct error *session_seen(struct session *session, struct race *race,
				  const struct conflict *conflict, bool first)
{
	struct error *err = session_report(session, race, first);

	if (!err)
		err = session_learn_race(session, conflict);
	if (!err && !session_tire(session, conflict, race))
		err = error_nomem;
	return err;
}

/*
 * Count a conflict that was seen before. A changed value of unknown origin is
 * one too when the stalled instruction is known to race with another.
 */
static struct error *
session_known_conflict(struct session *session,
		       const struct conflict_context *context,
		       const struct conflict *conflict, bool *ret_known)
{
	uint64_t *known = map_get(&session->seen, conflict->key);
	struct error *err;
	struct race *race;

	if (!known && !conflict->sides[1].wire->present)
		known = map_get(&session->places,
				conflict_place(context, conflict, 0));
	*ret_known = known;
	if (!known)
		return NULL;
	race = (struct race *)(uintptr_t)*known;
	if (!conflict_count(conflict, race))
		return error_nomem;
	err = session_verdict(session, race);
	return err ? err : session_seen(session, race, conflict, false);
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

/* Judge a race anew that another one has told something of. */
static struct error *session_judge_kin(struct session *session,
				       struct race *race)
{
	enum race_verdict before = race->verdict;
	struct error *err = session_verdict(session, race);

	if (!err && race->verdict != before)
		session_tell(session, race, false);
	return err;
}

/* A new race and the others of its variable tell of one another. */
static struct error *session_tell_kin(struct session *session,
				      struct race *race)
{
	struct error *err = NULL;
	bool told = false;

	for (size_t i = 0; !err && i < session->races.races.count; i++) {
		struct race *other =
			*(struct race **)vec_at(&session->races.races, i);

		if (other == race)
			continue;
		told = kin_tell(race, other) || told;
		if (kin_tell(other, race))
			err = session_judge_kin(session, other);
	}
	return !err && told ? session_verdict(session, race) : err;
}

/* With what rights the side's process runs; NULL: ours. */
static const struct rights *side_rights(const struct wire_side *side,
					const struct conflict_home *home,
					struct rights *room)
{
	struct error *err = side->present ? rights_of(side->pid, room)
					  : error_gone;
	const struct rights *rights = err ? image_rights(home->image) : room;

	error_free(err);
	return rights;
}

/*
 * A program's debug information may name any file: it is shown as far as the
 * program's own user may read it.
 */
static void session_show_source(struct session *session,
				const struct conflict_context *context,
				const struct conflict *conflict,
				struct race *race)
{
	struct sources *sources = session->config->sources;
	const struct rights *rights[2];
	struct rights room[2];

	for (int i = 0; i < 2; i++) {
		rights[i] = side_rights(&conflict->wire.sides[i],
					&context->homes[i], &room[i]);
		/* a program may change its user when it has begun */
		session_tell_foreign(session, rights[i]);
	}
	if (!sources)
		return;
	sources->opener = session->opener;
	sources_describe(sources, race, rights);
}

/* The race is one of the program's; without memory it is counted for none. */
static void session_own(struct session *session, uint32_t id,
			const struct race *race)
{
	const struct watched_program *program =
		watched_program(&session->watched, id);
	const char *path = program ? watched_path(program) : NULL;
	size_t i;

	if (!path)
		return;
	i = tally_find(&session->watched.tallies, path);
	if (i != SIZE_MAX)
		map_set(&session->owners, session_pointer(race), i);
}

static struct error *
session_new_conflict(struct session *session,
		     const struct conflict_context *context,
		     const struct conflict *conflict)
{
	struct judge *judge = session->config->judge;
	uint64_t start = clock_now_ns();
	uint64_t cpu = clock_cpu_ns();
	struct race *race;
	enum dedupe_found found = DEDUPE_AGAIN;
	bool settled = false;
	struct error *err = conflict_describe(context, conflict, &race);

	log_debug(LOG_DETECT, "a conflict described in %.1f ms, %.1f on a CPU",
		  (double)(clock_now_ns() - start) / CLOCK_NS_PER_MS,
		  (double)(clock_cpu_ns() - cpu) / CLOCK_NS_PER_MS);
	if (err)
		return err;
	err = session_verdict(session, race);
	if (!err && judge)
		err = judge_race(judge, race, &settled);
	if (err) {
		race_free(race);
		return err;
	}
	err = dedupe_add(&session->races, race, &race, &found);
	if (!err && found == DEDUPE_NEW)
		session_own(session, conflict->sides[0].wire->program, race);
	if (!err && found != DEDUPE_NEW)
		err = session_verdict(session, race);
	if (!err && found != DEDUPE_AGAIN)
		err = session_tell_kin(session, race);
	if (err)
		return err;
	/* the threads run again since the conflict was copied */
	if (found != DEDUPE_AGAIN)
		session_show_source(session, context, conflict, race);
	if (!session_remember(session, context, conflict, race) ||
	    (settled && race->verdict != VERDICT_SYNC &&
	     !map_set(&session->settled, session_pointer(race), 1)))
		return error_nomem;
	return session_seen(session, race, conflict, found == DEDUPE_NEW);
}

/*
 * What the two sides' programs are: each has its own image. One that has just
 * ended is looked up in the other's, which is right where they were forked.
 */
static struct conflict_home session_home(const struct session *session,
					 const struct wire_side *side,
					 const struct wire_side *other)
{
	const struct watched *watched = &session->watched;
	struct watched_program *program =
		watched_program(watched, side->program);

	if (!program)
		program = watched_program(watched, other->program);
	if (!program)
		program = watched_at(watched, 0);
	return (struct conflict_home){ .program = program->key,
				       .image = program->image,
				       .scanner = &program->set.scanner };
}

/* Read the maps of the sides' programs again, unless that was done just now. */
static struct error *session_refresh_sides(struct session *session,
					   const struct wire_conflict *wire)
{
	struct error *err = NULL;

	for (int i = 0; !err && i < 2; i++) {
		struct watched_program *program = watched_program(
			&session->watched, wire->sides[i].program);

		if (program &&
		    clock_now_ns() >= program->maps.last_ns + CLOCK_NS_PER_MS)
			err = session_refresh(session, program);
	}
	return err;
}

/* What the tracer was told of shared memory may have been out of date. */
static bool session_is_shared(const struct conflict *conflict)
{
	const struct wire_side *sides = conflict->wire.sides;
	uint64_t address = conflict->overlap.address;

	return !sides[1].present || sides[0].pid == sides[1].pid ||
	       watched_same_memory(sides[0].pid, address, sides[1].pid,
				   address + conflict->wire.shift);
}

/* A message as it came. */
struct conflict_message {
	const void *bytes;
	size_t size;
};

/* Read it, and count it if it is nothing new (*ret_done). */
static struct error *session_read(struct session *session,
				  const struct conflict_context *context,
				  const struct conflict_message *message,
				  struct conflict *conflict, bool *ret_done)
{
	struct error *err =
		conflict_read(context, message->bytes, message->size, conflict);

	if (err)
		return err;
	if (conflict->race)
		return session_known_conflict(session, context, conflict,
					      ret_done);
	*ret_done = true;
	if (conflict->unused)
		session->counts.unused++;
	else
		session->counts.read_read++;
	log_debug(LOG_DETECT, "no race at 0x%llx: %s",
		  (unsigned long long)conflict->overlap.address,
		  conflict->unused ? "the bytes are loaded, but not used"
				   : "two reads, or nothing shown");
	return NULL;
}

/*
 * A library may have been loaded since the maps were read last; its frames
 * would be missing. So they are read again before anything new is described.
 */
static struct error *session_understand(struct session *session,
					const struct conflict_context *context,
					const struct conflict_message *message,
					struct conflict *conflict)
{
	struct error *err;
	bool done;

	err = session_read(session, context, message, conflict, &done);
	if (err || done)
		return err;
	err = session_refresh_sides(session, &conflict->wire);
	if (!err)
		err = session_read(session, context, message, conflict, &done);
	if (err || done || !session_is_shared(conflict))
		return err;
	return session_new_conflict(session, context, conflict);
}

/* The threads of the conflict wait for this. */
static void session_answer(struct session *session, uint32_t moment)
{
	struct wire_judged judged = { .moment = moment,
				      .stop = session->worth_stopping };

	if (moment == 0)
		return;
	channel_send(&session->channel, WIRE_JUDGED, &judged, sizeof(judged));
	channel_flush(&session->channel);
}

struct error *session_conflict(struct session *session, const void *payload,
			       size_t size)
{
	struct conflict_context context = {
		.rules = session->config->rules,
		.backend = session->counts.backend,
		.program = session->program,
	};
	const struct conflict_message message = { payload, size };
	struct wire_conflict wire;
	struct conflict conflict;
	struct error *err;

	if (session->watched.programs.count == 0 || size < sizeof(wire))
		return NULL;
	memcpy(&wire, payload, sizeof(wire));
	for (int i = 0; i < 2; i++)
		context.homes[i] = session_home(session, &wire.sides[i],
						&wire.sides[1 - i]);
	session_name_program(session, wire.sides[0].pid,
			     context.homes[0].image);
	session->worth_stopping = false;
	err = session_understand(session, &context, &message, &conflict);
	session_answer(session, wire.moment);
	return err;
}

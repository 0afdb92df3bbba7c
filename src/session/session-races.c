/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a conflict to a race that is judged, counted and told; see
 * session-races.h.
 */
#include "session/session-state.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/rights.h"
#include "image/image.h"
#include "judge/judge.h"
#include "report/race.h"
#include "report/related.h"
#include "report/source.h"

void session_races_init(struct session *session)
{
	dedupe_init(&session->races.all);
}

void session_races_deinit(struct session *session)
{
	dedupe_deinit(&session->races.all);
	map_deinit(&session->races.seen);
	map_deinit(&session->races.places);
	map_deinit(&session->races.owners);
}

void session_races_forget(struct session *session)
{
	map_deinit(&session->races.seen);
	map_deinit(&session->races.places);
	session->races.met = NULL;
}

static struct error *session_verdict(struct session *session, struct race *race)
{
	const struct judge *judge = session->config->judge;

	return judge ? judge_verdict(judge, race) : NULL;
}

static void session_clear_owned(struct session *session)
{
	for (size_t i = 0; i < session->watched.tallies.count; i++) {
		struct run_program *tally =
			vec_at(&session->watched.tallies, i);

		tally->races = 0;
	}
}

/* One more of its program. */
static void session_count_owned(struct session *session,
				const struct race *race)
{
	const uint64_t *at =
		map_get(&session->races.owners, session_race_key(race));
	struct run_program *tally;

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
	struct run_summary *sum = &session->counts.sum;

	sum->races = sum->races_new = sum->known = 0;
	sum->suppressed = sum->unlikely = 0;
	session_clear_owned(session);
	for (size_t i = 0; i < session->races.all.races.count; i++) {
		struct race *race =
			*(struct race **)vec_at(&session->races.all.races, i);

		if (race_counts(race, session->config->ignore_unlikely) ||
		    session->config->shows_all)
			dedupe_number(&session->races.all, race);
		if (race_counts(race, session->config->ignore_unlikely)) {
			sum->races++;
			session_count_owned(session, race);
			sum->known += race->status == STATUS_KNOWN;
			sum->races_new += race->status != STATUS_KNOWN;
		}
		if (race->suppressed.rule)
			sum->suppressed += race->verdict != VERDICT_SYNC;
		else
			sum->unlikely += race->verdict == VERDICT_UNLIKELY;
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
		session->races.worth_stopping = true;
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
	session->counts.sum.synchronization += race->verdict == VERDICT_SYNC;
	session_tell(session, race, first);
	return NULL;
}

static struct error *session_seen(struct session *session, struct race *race,
				  const struct conflict *conflict, bool first)
{
	struct error *err = session_report(session, race, first);
	uint32_t sites[2];

	session->races.met = race;
	if (!err)
		err = session_learn_race(session, conflict);
	if (!err && session_learn_places(session, conflict, sites))
		err = session_revisit_race(session, race, sites);
	if (!err && !session_tire(session, conflict, race))
		err = error_nomem;
	return err;
}

struct error *session_known_conflict(struct session *session,
				     const struct conflict_context *context,
				     const struct conflict *conflict,
				     bool *ret_known)
{
	uint64_t *known = map_get(&session->races.seen, conflict->key);
	struct error *err;
	struct race *race;

	if (!known && !conflict->sides[1].wire->present)
		known = map_get(&session->races.places,
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

	if (!map_set(&session->races.seen, conflict->key, value))
		return false;
	for (int i = 0; i < 2 && conflict->sides[1].wire->present; i++) {
		uint64_t place = conflict_place(context, conflict, i);

		if (place && !map_set(&session->races.places, place, value))
			return false;
	}
	return true;
}

/* Judge a race anew that another one has told something of. */
static struct error *session_judge_related(struct session *session,
					   struct race *race)
{
	enum race_verdict before = race->verdict;
	struct error *err = session_verdict(session, race);

	if (!err && race->verdict != before)
		session_tell(session, race, false);
	return err;
}

/*
 * The race is new to related ones, or was replayed: what the replays of each of them
 * say together is summed anew, and those are judged.
 */
static struct error *session_sum_replays(struct session *session,
					 struct race *race)
{
	const struct vec *races = &session->races.all.races;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < races->count; i++) {
		struct race *other = *(struct race **)vec_at(races, i);

		if ((other == race || related_share_replays(race, other) ||
		     related_is_behind(other, race) ||
		     related_is_beside(other, race)) &&
		    related_sum_replays(other, races))
			err = session_judge_related(session, other);
	}
	return err;
}

struct error *session_replayed(struct session *session, struct race *race)
{
	session->races.replayed = true;
	return session_sum_replays(session, race);
}

/* A new race and the others of its variable tell of one another. */
static struct error *session_tell_related(struct session *session,
					  struct race *race)
{
	struct error *err = NULL;
	bool told = false;

	for (size_t i = 0; !err && i < session->races.all.races.count; i++) {
		struct race *other =
			*(struct race **)vec_at(&session->races.all.races, i);

		if (other == race)
			continue;
		told = related_tell(race, other) || told;
		if (related_tell(other, race))
			err = session_judge_related(session, other);
	}
	if (!err && told)
		err = session_verdict(session, race);
	return !err && session->races.replayed
		       ? session_sum_replays(session, race)
		       : err;
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
		map_set(&session->races.owners, session_race_key(race), i);
}

struct error *session_new_conflict(struct session *session,
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
	err = dedupe_add(&session->races.all, race, &race, &found);
	if (!err && found == DEDUPE_NEW)
		session_own(session, conflict->sides[0].wire->program, race);
	if (!err && found != DEDUPE_NEW)
		err = session_verdict(session, race);
	if (!err && found != DEDUPE_AGAIN)
		err = session_tell_related(session, race);
	if (err)
		return err;
	/* the threads run again since the conflict was copied */
	if (found != DEDUPE_AGAIN)
		session_show_source(session, context, conflict, race);
	if (!session_remember(session, context, conflict, race) ||
	    (settled && race->verdict != VERDICT_SYNC &&
	     !session_settle(session, race)))
		return error_nomem;
	return session_seen(session, race, conflict, found == DEDUPE_NEW);
}

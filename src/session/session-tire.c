/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sites whose stalls show nothing new; see session-tire.h.
 */
#include "session/session-state.h"

#include "report/race.h"

/* Stalls at one site that may end in settled races before it is left out. */
enum { SESSION_TIRED = 3 };

/* More than any site gets: it has ended in a race that is not to be missed. */
static const uint64_t session_never = UINT64_C(1) << 32;

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
	session_retire_tired(program, &session->tiring.tired);
	session_retire_tired(program, &session->tiring.synchronizing);
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
bool session_tire(struct session *session, const struct conflict *conflict,
		  const struct race *race)
{
	bool settled =
		map_get(&session->tiring.settled, session_race_key(race));
	bool sync = race->verdict == VERDICT_SYNC;

	for (int i = 0; i < 2; i++) {
		const struct wire_side *side = &conflict->wire.sides[i];

		if (settled && !session_tire_site(session, side,
						  &session->tiring.tired, 1))
			return false;
		if (!session_tire_site(session, side,
				       &session->tiring.synchronizing,
				       sync ? 1 : session_never))
			return false;
	}
	return true;
}

bool session_settle(struct session *session, const struct race *race)
{
	return map_set(&session->tiring.settled, session_race_key(race), 1);
}

void session_tire_deinit(struct session *session)
{
	map_deinit(&session->tiring.settled);
	map_deinit(&session->tiring.tired);
	map_deinit(&session->tiring.synchronizing);
}

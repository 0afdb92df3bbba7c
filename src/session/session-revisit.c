/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Of which races replays need more instances, and more stalls at these; see
 * session-replay.h and session-learn.h.
 */
#include "session/session-state.h"

#include "base/error.h"
#include "report/race-replay.h"
#include "report/race.h"
#include "session/session-replay.h"

/*
 * As many times the instances that are asked for, if nothing moves in most of
 * them: of a flag that is stored again and again and changes in each sixteenth
 * store, 320 have 20 that tell.
 */
enum { REPLAY_STILL = 16 };

/* The same, if as many as are asked for are blind: they tell if there are more. */
enum { REPLAY_BLIND = 4 };

static uint64_t revisit_instances(const struct race_replay *replay,
				  uint64_t most)
{
	return most * (replay->blind >= most ? REPLAY_BLIND : REPLAY_STILL);
}

bool session_replay_wants(const struct session *session,
			  const struct race *race)
{
	const struct race_replay *replay = &race->replay;
	uint64_t most = session->config->replay_instances;

	return race->verdict != VERDICT_SYNC &&
	       replay->instances - replay->still < most &&
	       replay->instances < revisit_instances(replay, most) &&
	       race_replay_failures(&race->replay) < most;
}

bool session_revisits(const struct session_config *config)
{
	return config->replay_instances > 0 && !config->provoke &&
	       !session_is_planned(config) && !config->tracing.text_untouched;
}

static bool revisit_wanted(const void *context, const struct race *race)
{
	const struct session *session = context;

	return !session->replays.off && session_replay_wants(session, race);
}

/* A stall that led to an instance which told nothing is not one of them. */
static uint32_t revisit_most(const void *context, const struct race *race)
{
	return revisit_wanted(context, race)
		       ? REVISIT_MOST + (uint32_t)race->replay.still
		       : 0;
}

struct error *session_revisit_race(struct session *session,
				   const struct race *race,
				   const uint32_t sites[2])
{
	if (!session_revisits(session->config) ||
	    !revisit_wanted(session, race))
		return NULL;
	return revisits_add(&session->learning.revisits, race, sites)
		       ? NULL
		       : error_nomem;
}

uint32_t session_revisit_draw(struct session *session)
{
	return session_revisits(session->config)
		       ? revisits_draw(&session->learning.revisits,
				       revisit_most, session)
		       : UINT32_MAX;
}

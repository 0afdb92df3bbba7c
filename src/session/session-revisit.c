/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * More stalls at races of which replays need more instances; see session-learn.h.
 */
#include "session/session-state.h"

#include "base/error.h"

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

struct error *session_revisit_race(struct session *session,
				   const struct conflict *conflict,
				   const struct race *race)
{
	uint32_t sites[2];

	if (!session_revisits(session->config) ||
	    !revisit_wanted(session, race) ||
	    !session_learn_places(session, conflict, sites))
		return NULL;
	return revisits_add(&session->learning.revisits, race, sites)
		       ? NULL
		       : error_nomem;
}

uint32_t session_revisit_draw(struct session *session)
{
	return session_revisits(session->config)
		       ? revisits_draw(&session->learning.revisits,
				       revisit_wanted, session)
		       : UINT32_MAX;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a session asks for its judgement of a race: whoever has suppressions and
 * verdicts answers (cmd/gate.h).
 */
#ifndef DETECT_SESSION_JUDGE_H
#define DETECT_SESSION_JUDGE_H

#include <stdbool.h>

struct error;
struct race;

/*
 * What is thought of a race beyond what was seen of it: whether it is
 * suppressed, and whether it is known. May be all NULL.
 */
struct session_judge {
	void *context;
	/*
	 * Set race->verdict, reason and grounds from its record: before it is
	 * compared with others, and again whenever it was seen again.
	 */
	struct error *(*verdict)(void *context, struct race *race);
	/*
	 * Set race->status and race->suppressed of a new conflict, which may
	 * still turn out to be the twin of a race; or look again at a race
	 * that was suppressed. *ret_settled is set if nothing that is seen
	 * later will change this, so that the race need not be sampled.
	 */
	struct error *(*race)(void *context, struct race *race, bool first,
			      bool *ret_settled);
};

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When an instance may be captured; see pace.h.
 */
#include "schedule/pace.h"

#include "schedule/budget.h"

/* The pauses after a replay, in times of the CPU time that it took. */
enum { PACE_REST_EARLY = 1, PACE_REST = 3 };

/* From the instance with that number to the next. */
static uint64_t pace_gap_ns(uint32_t taken)
{
	uint64_t gap = PACE_GAP_NS;

	if (taken < PACE_EARLY)
		return 0;
	for (uint32_t n = PACE_EARLY; n < taken && gap < PACE_GAP_MAX_NS; n++)
		gap *= 2;
	return gap < PACE_GAP_MAX_NS ? gap : PACE_GAP_MAX_NS;
}

bool pace_is_open(const struct pace *pace, const struct budget *budget,
		  uint64_t now)
{
	return (!pace->waits || now >= pace->sent_ns + PACE_ANSWER_NS) &&
	       now >= pace->early_ns && budget_affords_replay(budget);
}

bool pace_takes(const struct pace *pace, struct pace_pair *pair, uint64_t now)
{
	if (now < pair->next_ns ||
	    (pair->taken >= PACE_EARLY && now < pace->spread_ns))
		return false;
	if (pair->skips == 0)
		return true;
	pair->skips--;
	return false;
}

void pace_sent(struct pace *pace, struct pace_pair *pair, uint64_t now)
{
	pace->waits = true;
	pace->sent_ns = now;
	if (pair->taken < UINT32_MAX)
		pair->taken++;
	pair->next_ns = now + pace_gap_ns(pair->taken);
}

void pace_answered(struct pace *pace, struct pace_pair *pair,
		   const struct pace_answer *answer, uint64_t now)
{
	pace->waits = false;
	pace->early_ns = now + PACE_REST_EARLY * answer->cpu_ns;
	pace->spread_ns = now + PACE_REST * answer->cpu_ns;
	if (!pair)
		return;
	pair->skips = answer->enough ? PACE_SKIPS : 0;
	if (answer->counts || pair->taken == 0)
		return;
	pair->taken--;
	pair->next_ns = pace->sent_ns + pace_gap_ns(pair->taken);
}

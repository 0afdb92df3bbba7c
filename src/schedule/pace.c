/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When an instance may be captured; see pace.h.
 */
#include "schedule/pace.h"

#include <string.h>

#include "schedule/budget.h"

/* The pauses after a replay, in times of the CPU time that it took. */
enum { PACE_REST_FEW = 1, PACE_REST = 3 };

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

/* The oldest ones, with those that have no answer although later ones have. */
static void pace_drop(struct pace *pace, size_t count)
{
	pace->waiting -= count;
	memmove(pace->queue, pace->queue + count,
		pace->waiting * sizeof(pace->queue[0]));
}

static void pace_forget_lost(struct pace *pace, uint64_t now)
{
	while (pace->waiting > 0 &&
	       now >= pace->queue[0].sent_ns + PACE_ANSWER_NS)
		pace_drop(pace, 1);
}

bool pace_is_open(struct pace *pace, const struct budget *budget, uint64_t now)
{
	uint64_t expected;

	pace_forget_lost(pace, now);
	expected = pace->waiting * pace->cost_ns;
	return pace->waiting < PACE_QUEUE &&
	       pace->rest_ns + expected <= now + PACE_BURST_NS &&
	       budget_affords_replay(budget, expected);
}

/* Of a pair that has more than few instances. */
static bool pace_is_idle(const struct pace *pace, uint64_t now)
{
	return pace->waiting == 0 && now >= pace->rest_ns &&
	       now >= pace->spread_ns;
}

bool pace_takes(const struct pace *pace, struct pace_pair *pair, bool same,
		uint64_t now)
{
	/* of none that waits an answer may have been lost */
	if (pace->waiting == 0)
		pair->waiting = 0;
	if (now < pair->next_ns || (pair->waiting > 0 && !pair->known) ||
	    (pair->taken >= PACE_FEW && !pace_is_idle(pace, now)) ||
	    (same && pair->still >= PACE_STILL))
		return false;
	if (pair->skips == 0)
		return true;
	pair->skips--;
	return false;
}

void pace_sent(struct pace *pace, struct pace_pair *pair,
	       const struct pace_instance *instance)
{
	pace->queue[pace->waiting++] = *instance;
	pair->waiting++;
	if (pair->taken < UINT32_MAX)
		pair->taken++;
	pair->next_ns = instance->sent_ns + pace_gap_ns(pair->taken);
}

/* Takes it out of the queue; false: it is not there. */
static bool pace_take_out(struct pace *pace, uint64_t key,
			  struct pace_instance *ret)
{
	for (size_t i = 0; i < pace->waiting; i++) {
		if (pace->queue[i].pair != key)
			continue;
		*ret = pace->queue[i];
		pace_drop(pace, i + 1);
		return true;
	}
	return false;
}

/* A rest that was not taken is taken later, behind the time of this replay. */
static void pace_rest(struct pace *pace, uint64_t cpu_ns, uint64_t now)
{
	uint64_t end = pace->rest_ns + cpu_ns;

	if (end < now)
		end = now;
	pace->cost_ns = cpu_ns;
	pace->rest_ns = end + PACE_REST_FEW * cpu_ns;
	pace->spread_ns = now + PACE_REST * cpu_ns;
}

static void pace_answer_pair(struct pace_pair *pair,
			     const struct pace_answer *answer, uint64_t sent_ns)
{
	pair->waiting -= pair->waiting > 0;
	pair->known = answer->counts;
	pair->skips = answer->enough ? PACE_SKIPS : 0;
	pair->still += answer->still && pair->still < UINT32_MAX;
	if (answer->counts && !answer->still)
		return;
	pair->taken -= pair->taken > 0;
	pair->next_ns = sent_ns + (answer->still ? PACE_STILL_NS
						 : pace_gap_ns(pair->taken));
}

bool pace_answered(struct pace *pace, struct pace_pair *pair, uint64_t key,
		   const struct pace_answer *answer, uint64_t now,
		   struct pace_instance *ret)
{
	uint64_t before = pace->answered_ns;

	if (!pace_take_out(pace, key, ret))
		return false;
	pace_rest(pace, answer->cpu_ns, now);
	pace->answered_ns = now;
	if (pair)
		pace_answer_pair(pair, answer, ret->sent_ns);
	if (ret->sent_ns < before)
		ret->sent_ns = before;
	return true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What replays say of a race; see replayed.h.
 */
#include "judge/replayed.h"

#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "report/code-patterns.h"
#include "report/phrase-replay.h"
#include "report/race.h"

/* A share of instances that would have been seen by now. */
#define REPLAYED_SHARE (1.0 / 5)

/* The same of instances in which nothing moved: see replayed_same(). */
#define REPLAYED_SHARE_STILL (1.0 / 20)

/*
 * Instances of each race on the bytes, so that what is shown is not of one pair of
 * instructions alone: of a pair half of whose instances have an effect, seven in
 * eight are noticed.
 */
enum { REPLAYED_EACH = 3 };

bool replayed_fault(const struct race *race, struct strbuf *grounds)
{
	const struct race_replay *replay = &race->replay;

	if (replay->faults == 0)
		return false;
	strbuf_addf(grounds, "run again in a copy, it %s ",
		    replay->fault.handled ? "got" : "died of");
	phrase_add_replay_fault(grounds, &replay->fault);
	strbuf_add(grounds, ", and in another order it did not");
	return true;
}

/* The first variable shown that an overlap has, and that is not the raced one. */
static const char *variable_beyond(const struct race_replay *replay)
{
	for (size_t i = 0; i < replay->changed.count; i++) {
		const struct race_replay_change *change =
			vec_at(&replay->changed, i);

		if (change->beyond && change->overlap)
			return change->variable;
	}
	return NULL;
}

bool replayed_overlap(const struct race *race, struct strbuf *grounds)
{
	const struct race_replay *replay = &race->replay;
	const char *variable = variable_beyond(replay);

	if (replay->overlap_memory == 0 && replay->overlap_registers == 0)
		return false;
	if (replay->overlap_memory == 0)
		variable = "what the function returns";
	else if (!variable)
		variable = "other memory than the raced bytes";
	strbuf_addf(grounds,
		    "run again in a copy, the two functions at once did to %s "
		    "what neither of them before the other does",
		    variable);
	return true;
}

/* The number of instances that show that a smaller share has an effect. */
static uint64_t enough_for(double share)
{
	uint64_t enough = 1;

	while (race_replay_bound(enough) >= share)
		enough++;
	return enough;
}

uint64_t replayed_enough(void)
{
	return enough_for(REPLAYED_SHARE);
}

/* Are there enough instances of each race on these bytes? */
static bool is_enough(const struct race_replay_related *related)
{
	return !related->unlike && related->fewest >= REPLAYED_EACH &&
	       related->telling >= replayed_enough();
}

/* The same of stores of what is there always. */
static bool is_blind(const struct race_replay_related *related)
{
	return !related->unlike &&
	       related->fewest >= enough_for(REPLAYED_SHARE_STILL) &&
	       related->telling + related->blind >= replayed_enough();
}

/* Of one race, the same is said of its replays. */
static void add_bound(const struct race_replay_related *related,
		      struct strbuf *grounds)
{
	if (related->races > 1)
		strbuf_addf(grounds,
			    " of %" PRIu64
			    " races on these bytes: with %.0f %% "
			    "confidence it does in at most %.1f %%",
			    related->races, 100 * REPLAY_CONFIDENCE,
			    100 * race_replay_bound(related->telling));
}

bool replayed_same(const struct race *race, const struct vec *special,
		   struct strbuf *grounds)
{
	const struct race_replay_related *related = &race->replay_related;

	(void)special;
	if (related->changed)
		return false;
	if (is_enough(related)) {
		strbuf_addf(grounds,
			    "run again in a copy, the order of the accesses "
			    "made no difference in %" PRIu64 " instances",
			    related->telling);
		add_bound(related, grounds);
		return true;
	}
	if (!is_blind(related))
		return false;
	strbuf_addf(grounds,
		    "run again in a copy, the order of the accesses made no "
		    "difference in %" PRIu64 " instances, in %" PRIu64
		    " of which what they stored was there already, nor with "
		    "other bytes there",
		    related->instances, related->instances - related->telling);
	return true;
}

bool replayed_either(const struct race *race, const struct vec *special,
		     struct strbuf *grounds)
{
	const struct race_replay_related *related = &race->replay_related;

	(void)special;
	if (!related->changed || !related->serial || !is_enough(related))
		return false;
	strbuf_addf(grounds,
		    "run again in a copy, no overlap of the functions did more "
		    "than one of them after the other in %" PRIu64 " instances",
		    related->telling);
	add_bound(related, grounds);
	strbuf_add(grounds, "; which of the two is first decides what the "
			    "reader finds, and would with a lock too");
	return true;
}

bool replayed_is_refuted(const struct race *race)
{
	const struct race_replay_related *related = &race->replay_related;

	return related->unlike || (related->changed && !related->serial);
}

/* What a difference that is no sign of harm is one of. */
static const char *difference(const struct race *race)
{
	const struct race_replay *replay = &race->replay;

	if (replay->beyond > replay->registers)
		return "the order of the accesses decided what other memory "
		       "has";
	if (replay->beyond > 0)
		return "the order of the accesses decided what the function "
		       "returns";
	if (race_side_updates(&race->sides[0]) ||
	    race_side_updates(&race->sides[1]))
		return "the order of the accesses changed it, and nothing else";
	return "the order of the accesses decided which value stays, and "
	       "nothing else";
}

void replayed_add_lost(const struct race *race, struct strbuf *grounds)
{
	const struct race_replay *replay = &race->replay;
	bool lost = replay->overlaps > 0 &&
		    (race_side_updates(&race->sides[0]) ||
		     race_side_updates(&race->sides[1]));

	if (replay->changes == 0 || replay->faults > 0)
		return;
	if (grounds->length > 0)
		strbuf_add(grounds, "; ");
	strbuf_addf(grounds, "%srun again in a copy, %s%s",
		    lost ? "updates are lost: " : "", difference(race),
		    replay->overlaps > 0 ? ""
					 : "; no overlap of the functions did "
					   "more than one of them after the "
					   "other");
}

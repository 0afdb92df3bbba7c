/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When an instance of a race may be captured for a replay (tracer/replays.h).
 * Instances are told apart by the pair of instructions that race.
 *
 * The first PACE_EARLY instances of a pair that count are captured at its first
 * conflicts: a short run has no others, and a race may be over soon. The rest is
 * spread over time, so that they are of different states of the program: from
 * one that counts to the next passes at least PACE_GAP_NS, then twice that, and
 * so on up to PACE_GAP_MAX_NS. So the twentieth is captured 1.3 s after the
 * fourth at the soonest. An instance that only shows which pages the race uses
 * does not count. Of a pair that has enough, PACE_SKIPS conflicts are left out
 * for each that is captured: it may be a race on another variable too.
 *
 * The front end replays instances one after another. Conflicts of one location come
 * close together, and those of a race that is seldom met too: so up to PACE_QUEUE
 * instances may wait, of pairs of which there are few, PACE_FEW at most. Of another
 * pair one is captured only when none waits. As long as it is not known which pages
 * a pair uses, only one of it waits: the others would miss the same.
 *
 * An instance in which no order changes the raced bytes, as where a flag is set
 * that is set already, tells nothing of the race. It is not one of the few that a
 * verdict needs: the next is captured after PACE_STILL_NS. Once a pair has had
 * PACE_STILL of them, those are left out of which the values show it before.
 *
 * The front end has other work too: a replay is followed by a rest of as much as it
 * took of CPU time, in which none is captured, and of three times as much for pairs
 * that have more than few. The rests of pairs with few add up, and PACE_BURST_NS of
 * them may be taken later. The time in which the front end waits for a processor is
 * none that other work needs: beside busy threads it is ten times as long. The budget
 * for replays says whether it may be at all (schedule/budget.h). Pure code.
 */
#ifndef SCHEDULE_PACE_H
#define SCHEDULE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

struct budget;

enum {
	PACE_EARLY = 4,
	PACE_FEW = 14, /* what a verdict needs: replayed_enough() */
	PACE_SKIPS = 15,
	PACE_QUEUE = 4,
	PACE_STILL = 3,
};

static const uint64_t PACE_BURST_NS = 20 * CLOCK_NS_PER_MS;

static const uint64_t PACE_GAP_NS = 5 * CLOCK_NS_PER_MS;
static const uint64_t PACE_GAP_MAX_NS = 100 * CLOCK_NS_PER_MS;
static const uint64_t PACE_STILL_NS = 20 * CLOCK_NS_PER_MS;
/* No answer comes after that: it was lost. */
static const uint64_t PACE_ANSWER_NS = 60 * CLOCK_NS_PER_S;

/* An instance that was captured, and has no answer yet. */
struct pace_instance {
	uint64_t pair; /* its key */
	uint64_t held_ns; /* for which its threads were held for it */
	uint64_t sent_ns;
};

/* Of all pairs. Zeroed: nothing was captured. */
struct pace {
	struct pace_instance queue[PACE_QUEUE]; /* the oldest first */
	size_t waiting; /* of them */
	uint64_t answered_ns; /* the last one; 0: none */
	uint64_t cost_ns; /* CPU time of the last replay */
	uint64_t rest_ns; /* until then, of pairs with few; they add up */
	uint64_t spread_ns; /* until then, of the others */
};

/* Of one pair. Zeroed: a new one. */
struct pace_pair {
	uint32_t taken; /* instances that count, with the one being replayed */
	uint32_t waiting; /* instances without an answer */
	uint32_t still; /* instances that told nothing */
	bool known; /* its last answer was a result: its pages are known */
	uint32_t skips; /* number of next conflicts that are not captured */
	uint64_t next_ns; /* none before */
};

/* What came of an instance. */
struct pace_answer {
	bool counts; /* something that counts */
	bool still; /* no order changed the raced bytes: it tells nothing */
	bool enough; /* no more of the pair is needed for the moment */
	uint64_t cpu_ns; /* CPU time that was needed */
};

/* May any pair's be captured? Forgets what was lost. */
bool pace_is_open(struct pace *pace, const struct budget *budget, uint64_t now);

/*
 * There is a conflict of the pair, and pace_is_open(): capture it? same: it stored
 * what was there.
 */
bool pace_takes(const struct pace *pace, struct pace_pair *pair, bool same,
		uint64_t now);

/* It was captured at instance->sent_ns, and is to be replayed. */
void pace_sent(struct pace *pace, struct pace_pair *pair,
	       const struct pace_instance *instance);

/*
 * One of the pair with this key was replayed, between *ret->sent_ns, where it was
 * the next one, and now. pair NULL: it is not known any more. False: it was not
 * waited for.
 */
bool pace_answered(struct pace *pace, struct pace_pair *pair, uint64_t key,
		   const struct pace_answer *answer, uint64_t now,
		   struct pace_instance *ret);

#endif

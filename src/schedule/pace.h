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
 * Of all pairs, one is replayed at a time, and then there is none for as long as
 * that took of CPU time; and for three times as long where it is not of the first
 * of its pair. The front end, which replays them, has other work too. The time in
 * which it waits for a processor is none that other work needs: beside busy threads
 * it is ten times as long. The budget for replays says whether it may be at all
 * (schedule/budget.h). Pure code.
 */
#ifndef SCHEDULE_PACE_H
#define SCHEDULE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

struct budget;

enum { PACE_EARLY = 4, PACE_SKIPS = 15 };

static const uint64_t PACE_GAP_NS = 5 * CLOCK_NS_PER_MS;
static const uint64_t PACE_GAP_MAX_NS = 100 * CLOCK_NS_PER_MS;
/* No answer comes after that: it was lost. */
static const uint64_t PACE_ANSWER_NS = 60 * CLOCK_NS_PER_S;

/* Of all pairs. Zeroed: nothing was captured. */
struct pace {
	bool waits; /* the last one is being replayed */
	uint64_t sent_ns; /* since then */
	uint64_t early_ns; /* none before, */
	uint64_t spread_ns; /* but the first of their pairs */
};

/* Of one pair. Zeroed: a new one. */
struct pace_pair {
	uint32_t taken; /* instances that count, with the one being replayed */
	uint32_t skips; /* number of next conflicts that are not captured */
	uint64_t next_ns; /* none before */
};

/* What came of an instance. */
struct pace_answer {
	bool counts; /* something that counts */
	bool enough; /* no more of the pair is needed for the moment */
	uint64_t cpu_ns; /* CPU time that was needed */
};

/* May any pair's be captured? */
bool pace_is_open(const struct pace *pace, const struct budget *budget,
		  uint64_t now);

/* There is a conflict of the pair, and pace_is_open(): capture it? */
bool pace_takes(const struct pace *pace, struct pace_pair *pair, uint64_t now);

/* It was captured, and is being replayed. */
void pace_sent(struct pace *pace, struct pace_pair *pair, uint64_t now);

/* It was replayed. pair NULL: it is not known any more. */
void pace_answered(struct pace *pace, struct pace_pair *pair,
		   const struct pace_answer *answer, uint64_t now);

#endif

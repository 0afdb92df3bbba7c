/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often a side is tried; see tries.h.
 */
#include "hunt/tries.h"

#include <stdlib.h>

#include "base/clock.h"
#include "hunt/hold.h"
#include "report/target-record.h"
#include "wire/hunt.h"

/* A partner was near if its hold (hunt/hold.h) is hardly longer than the least. */
static const uint64_t TRIES_NEAR_NS = 12 * CLOCK_NS_PER_MS;
/* The longest hold that comes of growing. */
static const uint64_t TRIES_MOST_NS = 2 * CLOCK_NS_PER_S;
/* Where the recording says nothing. */
static const uint64_t TRIES_USUAL_NS = 50 * CLOCK_NS_PER_MS;

enum {
	/* a side that is not tried, for want of a register, so often in a row */
	TRIES_MISSED = 8,
	TRIES_SHARED = 4, /* of them, in runs with others */
	TRIES_LATE = 2, /* runs with others in which it came late */
	TRIES_REACHES = 2, /* runs in which no thread came to it */
	TRIES_PARTS = 4, /* of what is pending, for each that shares it */
};

struct tries_side {
	bool held; /* a thread was, in some run */
	unsigned int missed, unreached, late;
	bool again; /* it was held in vain, and has its second try */
	bool met; /* a race */
};

void tries_init(struct tries *tries, uint64_t hold_ns)
{
	*tries = (struct tries){
		.known = VEC_INIT(struct tries_side),
		.hold_ns = hold_ns,
	};
}

void tries_deinit(struct tries *tries)
{
	map_deinit(&tries->index);
	vec_deinit(&tries->known);
}

static struct tries_side *tries_find(const struct tries *tries, uint64_t id)
{
	const uint64_t *place = map_get(&tries->index, id);

	return place ? vec_at(&tries->known, (size_t)*place) : NULL;
}

/* NULL: out of memory. */
static struct tries_side *tries_of(struct tries *tries, uint64_t id)
{
	struct tries_side *known = tries_find(tries, id);

	if (known)
		return known;
	known = vec_append(&tries->known);
	if (!known || !map_set(&tries->index, id, tries->known.count - 1))
		return NULL;
	*known = (struct tries_side){ .held = false };
	return known;
}

uint64_t tries_at_once(uint64_t jobs, int processors, uint64_t cpu_ns,
		       uint64_t elapsed_ns)
{
	double all = (double)elapsed_ns * (processors > 1 ? processors : 1);
	double room = cpu_ns > 0 ? all / (double)cpu_ns + 0.5 : (double)jobs;

	if (room >= (double)jobs)
		return jobs;
	return room < 1 ? 1 : (uint64_t)room;
}

uint64_t tries_to_claim(uint64_t pending, uint64_t jobs, bool shared)
{
	uint64_t most = jobs * TRIES_TOGETHER;
	uint64_t part = (pending + TRIES_PARTS - 1) / TRIES_PARTS;

	return shared && part < most ? part : most;
}

bool tries_is_alone(const struct tries *tries, const struct hunt_side *side)
{
	const struct tries_side *known = tries_find(tries, side->id);

	return known && (known->again || known->missed >= TRIES_SHARED ||
			 known->late >= TRIES_LATE);
}

bool tries_is_counted(const struct hunt_side *side)
{
	return side->ordinal > WIRE_HUNT_TEXT_ORDINAL;
}

/* Half the hold is the distance in the recording, or less (hunt/hold.h). */
bool tries_are_late(const struct hunt_side *side, uint64_t hold_ns,
		    uint64_t before_ns)
{
	return side->locked && hold_ns > TRIES_NEAR_NS &&
	       before_ns > (hold_ns - HUNT_HOLD_LEAST_NS) / 2;
}

bool tries_by_ptrace(const struct tries *tries, const struct hunt_side *side)
{
	const struct tries_side *known = tries_find(tries, side->id);

	return known && (known->unreached > 0 || known->again);
}

/* As the user or the recording says. */
static uint64_t tries_first_ns(const struct tries *tries,
			       const struct hunt_side *side)
{
	if (tries->hold_ns > 0)
		return tries->hold_ns;
	return side->hold_ns > 0 ? side->hold_ns : TRIES_USUAL_NS;
}

uint64_t tries_hold_ns(const struct tries *tries, const struct hunt_side *side)
{
	const struct tries_side *known = tries_find(tries, side->id);
	uint64_t first = tries_first_ns(tries, side);
	uint64_t longer = first * TRIES_LONGER;

	if (!known || !known->again || first > TRIES_MOST_NS)
		return first;
	return longer < TRIES_MOST_NS ? longer : TRIES_MOST_NS;
}

/* Is it worth another run? */
static bool tries_wants_more(const struct tries *tries,
			     const struct hunt_side *side,
			     struct tries_side *known, unsigned int result)
{
	bool first = !known->again;

	switch (result) {
	case TARGET_TIMEOUT:
		known->again = true;
		return first;
	case TARGET_ORDERED:
		known->again = true;
		return first && (!side->locked ||
				 tries_first_ns(tries, side) <= TRIES_NEAR_NS);
	case TARGET_UNREACHED:
		return ++known->unreached < TRIES_REACHES;
	case TARGET_PENDING:
		return ++known->missed < TRIES_MISSED;
	default:
		return false;
	}
}

/* A later try takes nothing away from what was met. */
static void tries_provoked(struct target_outcome *outcome)
{
	outcome->result = TARGET_PROVOKED;
	free(outcome->ordered_by);
	outcome->ordered_by = NULL;
}

bool tries_ended(struct tries *tries, const struct hunt_side *side,
		 struct target_outcome *outcome)
{
	struct tries_side *known = tries_of(tries, side->id);

	if (!known)
		return false;
	if (outcome->result == TARGET_PENDING && outcome->race[0])
		outcome->result = TARGET_TIMEOUT;
	known->met |= outcome->race[0] != '\0';
	known->late += outcome->result == TARGET_PENDING &&
		       outcome->hold_ns > 0;
	known->held |= outcome->hold_ns > 0;
	if (tries_wants_more(tries, side, known, outcome->result))
		outcome->result = TARGET_PENDING;
	else if (known->met)
		tries_provoked(outcome);
	else if (outcome->result == TARGET_PENDING)
		outcome->result = known->held ? TARGET_TIMEOUT
					      : TARGET_UNREACHED;
	return true;
}

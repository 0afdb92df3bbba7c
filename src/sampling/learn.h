/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Learns from hits where stalls are likely to end in a race: at locations that
 * accessed bytes which another thread accessed too, with a write by one of the
 * two (RaceHunter's conflicting pairs, found while the program runs). Pairs
 * that have raced are not worth another stall. A stall without a conflict makes
 * a location less promising, but its chance never becomes zero. Locations are
 * numbers in a struct learned. Pure code.
 *
 * How stalls are chosen: a bandit with two arms, promising locations and
 * others. For each arm the first sightings of races and the stalls are counted.
 * At a promising location the chance that one more stall finds a race falls
 * with the square of the stalls without a conflict (Laplace's rule of
 * succession for a race of unknown probability). A promising location is drawn
 * as long as its chance is at least half of what a stall elsewhere finds.
 */
#ifndef SAMPLING_LEARN_H
#define SAMPLING_LEARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/vec.h"
#include "sampling/granules.h"

struct learned;

struct learn {
	struct learned *learned; /* borrowed; it grows */
	struct granules granules;
	struct rng rng;
	/* of struct learn_site, by index in learned->sites, as far as needed */
	struct vec sites;
	struct vec promising; /* of uint32_t: sites with open pairs */
	size_t pairs; /* how many of learned->pairs have been looked at */
	/*
	 * Of each arm: races found first, and stalls, those at promising locations
	 * by their worth. What is old counts less and less.
	 */
	double found[2], stalls[2];
};

/* Begins with what is known; the run is counted. */
bool learn_init(struct learn *learn, struct learned *learned, uint64_t seed);
void learn_deinit(struct learn *learn);

/* A thread was seen at a location, about to make the access. */
struct learn_hit {
	struct granules_event event;
	bool stalled; /* and another could have come meanwhile */
	bool raced; /* another came */
};

/* False: out of memory, what it says is lost. */
bool learn_hit(struct learn *learn, const struct learn_hit *hit);

/* The two raced. */
bool learn_race(struct learn *learn, uint32_t site, uint32_t other);

/* How many locations are promising. */
size_t learn_promising(const struct learn *learn);

/*
 * Draw a promising location, by its worth; UINT32_MAX: there is none, or what
 * there is, is worth less than a stall elsewhere.
 */
uint32_t learn_draw(struct learn *learn);

#endif

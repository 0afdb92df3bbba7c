/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What hits teach; see learn.h.
 */
#include "sampling/learn.h"

#include "report/learned.h"

/* What this run knows of a location besides. */
struct learn_site {
	uint32_t open; /* pairs that it is in and that have not raced */
	uint32_t vain; /* stalls that found nothing */
	uint32_t worth; /* of one more, in parts of LEARN_FINE of the first's */
	uint32_t place; /* in the list of promising ones, plus one; 0: none */
};

enum {
	LEARN_FINE_BITS = 20,
	/* draws rejected before the best of them is taken */
	LEARN_TRIES = 64,
	LEARN_FINE = 1 << LEARN_FINE_BITS,
	/* the two arms */
	LEARN_OTHERS = 0,
	LEARN_PROMISING = 1,
};

/* The prior of each arm: it finds one race in this many stalls. */
static const double LEARN_PRIOR_STALLS[] = { 100, 4 };
/*
 * What is left elsewhere is harder to find than what was found there: a stall
 * counts for so much of that (bench-simulate: half is better than all or none).
 */
static const double LEARN_REST = 0.5;
/* After one more stall, what was counted before weighs so much. */
static const double LEARN_FADES = 0.999;

static struct learn_site *learn_site(const struct learn *learn, uint32_t site)
{
	return vec_at(&learn->sites, site);
}

/* Have a record for each location; false when out of memory. */
static bool learn_grow(struct learn *learn)
{
	while (learn->sites.count < learn->learned->sites.count) {
		if (!vec_append(&learn->sites))
			return false;
	}
	return true;
}

static void learn_set_vain(struct learn_site *site, uint64_t vain)
{
	double rest = 2 / (((double)vain + 1) * ((double)vain + 2));

	site->vain = vain < UINT32_MAX ? (uint32_t)vain : UINT32_MAX;
	/* never hopeless */
	site->worth = 1 + (uint32_t)(rest * (LEARN_FINE - 1));
}

/* Stalls there before it was promising were in vain too, in other runs also. */
static bool learn_promote(struct learn *learn, uint32_t number)
{
	struct learn_site *site = learn_site(learn, number);
	uint64_t stalls = learned_site_at(learn->learned, number)->stalls;

	if (site->place != 0)
		return true;
	if (!vec_push(&learn->promising, &number))
		return false;
	site->place = (uint32_t)learn->promising.count;
	learn_set_vain(site, stalls);
	return true;
}

static void learn_demote(struct learn *learn, uint32_t number)
{
	struct learn_site *site = learn_site(learn, number);
	uint32_t last;

	if (site->place == 0)
		return;
	last = *(uint32_t *)vec_at(&learn->promising,
				   learn->promising.count - 1);
	vec_remove_swap(&learn->promising, site->place - 1);
	learn_site(learn, last)->place = site->place;
	site->place = 0;
}

/* A pair of locations that have not raced. */
static bool learn_open(struct learn *learn, const struct learned_pair *pair)
{
	for (int i = 0; i < 2; i++) {
		if (i == 1 && pair->sites[1] == pair->sites[0])
			break;
		learn_site(learn, pair->sites[i])->open++;
		if (!learn_promote(learn, pair->sites[i]))
			return false;
	}
	return true;
}

static void learn_close(struct learn *learn, const struct learned_pair *pair)
{
	for (int i = 0; i < 2; i++) {
		struct learn_site *site = learn_site(learn, pair->sites[i]);

		if (i == 1 && pair->sites[1] == pair->sites[0])
			break;
		if (--site->open == 0)
			learn_demote(learn, pair->sites[i]);
	}
}

/* Pairs that have come since the last look. */
static bool learn_look(struct learn *learn)
{
	if (!learn_grow(learn))
		return false;
	for (; learn->pairs < learn->learned->pairs.count; learn->pairs++) {
		const struct learned_pair *pair =
			learned_pair_at(learn->learned, learn->pairs);

		if (pair->races == 0 && !learn_open(learn, pair))
			return false;
	}
	return true;
}

bool learn_init(struct learn *learn, struct learned *learned, uint64_t seed)
{
	*learn = (struct learn){
		.learned = learned,
		.sites = VEC_INIT(struct learn_site),
		.promising = VEC_INIT(uint32_t),
	};
	granules_init(&learn->granules);
	rng_init(&learn->rng, seed);
	learned->runs++;
	return learn_look(learn);
}

void learn_deinit(struct learn *learn)
{
	granules_deinit(&learn->granules);
	vec_deinit(&learn->sites);
	vec_deinit(&learn->promising);
}

/* The worth of one more stall, as a part of that of the first one. */
static double learn_worth(const struct learn_site *site)
{
	return (double)site->worth / LEARN_FINE;
}

static void learn_count_stall(struct learn *learn,
			      const struct learn_site *site)
{
	for (int arm = 0; arm < 2; arm++) {
		learn->found[arm] *= LEARN_FADES;
		learn->stalls[arm] *= LEARN_FADES;
	}
	if (site->place != 0)
		learn->stalls[LEARN_PROMISING] += learn_worth(site);
	else
		learn->stalls[LEARN_OTHERS] += 1;
}

static void learn_count(struct learn *learn, const struct learn_hit *hit,
			bool shared)
{
	struct learned_site *site =
		learned_site_at(learn->learned, hit->event.site);
	struct learn_site *own = learn_site(learn, hit->event.site);

	site->kind |= hit->event.access.kind;
	site->hits++;
	site->stalls += hit->stalled;
	site->shared += shared;
	if (hit->stalled)
		learn_count_stall(learn, own);
	if (own->place != 0 && hit->stalled && !hit->raced)
		learn_set_vain(own, own->vain + UINT64_C(1));
}

bool learn_hit(struct learn *learn, const struct learn_hit *hit)
{
	uint32_t met[GRANULES_MET_MAX];
	size_t count = granules_add(&learn->granules, &hit->event, met);

	if (!learn_grow(learn))
		return false;
	learn_count(learn, hit, count > 0);
	for (size_t i = 0; i < count; i++) {
		uint32_t pair =
			learned_pair(learn->learned, hit->event.site, met[i]);

		if (pair != UINT32_MAX)
			learned_pair_at(learn->learned, pair)->seen++;
	}
	return learn_look(learn);
}

/* Was either of the two promising already, but for this pair? */
static int learn_was_likely(const struct learn *learn,
			    const struct learned_pair *pair)
{
	/* the pair itself may be as new as its race */
	uint32_t new = pair->seen == 0;

	for (int i = 0; i < 2; i++) {
		if (learn_site(learn, pair->sites[i])->open > new)
			return LEARN_PROMISING;
	}
	return LEARN_OTHERS;
}

bool learn_race(struct learn *learn, uint32_t site, uint32_t other)
{
	uint32_t index = learned_pair(learn->learned, site, other);
	struct learned_pair *pair;

	/* there is no room: it is not learned */
	if (index == UINT32_MAX)
		return true;
	if (!learn_look(learn))
		return false;
	pair = learned_pair_at(learn->learned, index);
	if (pair->races++ == 0) {
		learn->found[learn_was_likely(learn, pair)]++;
		learn_close(learn, pair);
	}
	return true;
}

size_t learn_promising(const struct learn *learn)
{
	return learn->promising.count;
}

/* Races found first by a stall of that arm, the first one at its location. */
static double learn_yield(const struct learn *learn, int arm)
{
	return (learn->found[arm] + 1) /
	       (learn->stalls[arm] + LEARN_PRIOR_STALLS[arm]);
}

/* By the worth of each; UINT32_MAX: there is none. */
static uint32_t learn_choose(struct learn *learn)
{
	size_t count = learn->promising.count;
	uint32_t best = UINT32_MAX, most = 0;

	for (int i = 0; i < LEARN_TRIES && count > 0; i++) {
		uint32_t number = *(uint32_t *)vec_at(
			&learn->promising,
			(size_t)rng_below(&learn->rng, count));
		uint32_t worth = learn_site(learn, number)->worth;

		if (worth > most) {
			best = number;
			most = worth;
		}
		if (rng_next(&learn->rng) >> (64 - LEARN_FINE_BITS) < worth)
			return number;
	}
	return best;
}

uint32_t learn_draw(struct learn *learn)
{
	uint32_t number = learn_choose(learn);
	double worth;

	if (number == UINT32_MAX)
		return number;
	worth = learn_worth(learn_site(learn, number)) *
		learn_yield(learn, LEARN_PROMISING);
	return worth >= LEARN_REST * learn_yield(learn, LEARN_OTHERS)
		       ? number
		       : UINT32_MAX;
}

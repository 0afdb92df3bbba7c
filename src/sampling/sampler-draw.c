/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Draws, from random blocks and from the list of all sites; see sampler.h.
 */
#include "sampling/sampler-parts.h"

#include "base/error.h"

enum {
	/* candidates for a draw, so that neighbours do not come together */
	RESERVE_SITES = 128,
	/* blocks for one draw: where there is something to choose, or nothing */
	RESERVE_BLOCKS = 8,
	SAMPLER_TRIES = 2000,
	/* one draw in eight is of any function, whether it runs or not */
	SAMPLER_EXPLORES = 8,
	/* draws for one that is likely to touch what another process has too */
	SAMPLER_PRIVATE_TRIES = 16,
	/* at least one draw in this many should lead to a sample */
	SAMPLER_PAYS = 2,
};

/* What the stalls so far are thought to be, and how often own ones are drawn. */
static const double SAMPLER_STALLS_PRIOR = 8;
static const double SAMPLER_ODDS_MAX = 4;

/* The part that has the block of all text; it becomes the part's own. */
static size_t sampler_find_part(const struct sampler *sampler, uint64_t *block)
{
	size_t i = 0;

	while (*block >= sampler_part_blocks(sampler_part(sampler, i)))
		*block -= sampler_part_blocks(sampler_part(sampler, i++));
	return i;
}

/* The function that holds byte `at` of the part. */
static size_t sampler_find_function(const struct sampler_part *part,
				    uint64_t at)
{
	size_t low = 0, high = part->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (part->starts[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The free ones of a function's sites, from one byte of the part to another. */
static bool sampler_reserve(struct sampler *sampler, size_t number,
			    size_t index, uint64_t from, uint64_t to)
{
	const struct sampler_part *part = sampler_part(sampler, number);
	const struct sampler_function *function = &part->functions[index];
	uint64_t start = part->starts[index];
	const uint8_t *states = part->states.items;
	size_t end = (size_t)function->first + function->count;

	from = from > start ? from - start : 0;
	to -= start;
	for (size_t i = sampler_first_site(part, function, from); i < end;
	     i++) {
		const struct sampler_site *site = vec_at(&part->sites, i);
		uint64_t id = site_id(number, i);

		if (site->offset >= to)
			break;
		if (!(states[i] & (SITE_OUT | SITE_RETIRED)) &&
		    !vec_push(&sampler->reserve, &id))
			return false;
	}
	return true;
}

/* Draw a block. */
static struct error *sampler_draw_block(struct sampler *sampler)
{
	uint64_t block = rng_below(&sampler->rng, sampler->blocks);
	size_t number = sampler_find_part(sampler, &block);
	const struct sampler_part *part = sampler_part(sampler, number);
	uint64_t from = block * SAMPLER_BLOCK_BYTES,
		 to = from + SAMPLER_BLOCK_BYTES;
	struct error *err = NULL;

	for (size_t i = sampler_find_function(part, from);
	     !err && i < part->count && part->starts[i] < to; i++) {
		err = sampler_decode(sampler, number, i);
		if (!err && !sampler_reserve(sampler, number, i, from, to))
			err = error_nomem;
	}
	return err;
}

/*
 * Does the site touch what other processes have too? As likely as the sites of
 * its function did so far: where there are only private ones, hardly ever.
 */
static bool sampler_may_share(struct sampler *sampler, uint64_t id)
{
	const struct sampler_function *function;
	uint32_t part, index, offset;

	if (!sampler_locate(sampler, id, &part, &index, &offset))
		return true;
	function = &sampler_part(sampler, part)->functions[index];
	return function->hits_private == 0 ||
	       rng_below(&sampler->rng, (uint64_t)function->hits_private +
						function->hits_shared + 1) <=
		       function->hits_shared;
}

/* One of a list that is not empty, by its place there. */
static size_t sampler_choose(struct sampler *sampler, const struct vec *list,
			     bool warm)
{
	size_t i = 0;

	for (int n = 0; n < SAMPLER_PRIVATE_TRIES; n++) {
		i = (size_t)rng_below(&sampler->rng, list->count);
		if (!warm ||
		    sampler_may_share(sampler, *(uint64_t *)vec_at(list, i)))
			break;
	}
	return i;
}

/*
 * Draw from a list, whose sites have that bit in their state (0: none of the
 * bits says it); 0: there is nothing free in it. What was found private goes off
 * the lists of what runs.
 */
static uint64_t sampler_draw_from(struct sampler *sampler, struct vec *list,
				  uint8_t bit)
{
	while (list->count > 0) {
		size_t i = sampler_choose(sampler, list, bit == SITE_WARM);
		uint64_t id = *(uint64_t *)vec_at(list, i);
		uint8_t *state = sampler_state(sampler, id);

		vec_remove_swap(list, i);
		if (!state)
			continue;
		*state &= (uint8_t)~bit;
		if (bit == SITE_WARM && (*state & SITE_PRIVATE))
			continue;
		if (sampler_take(sampler, id))
			return id;
	}
	return 0;
}

/* By the share of the first, or every other time if that is more. */
static bool sampler_prefers(struct sampler *sampler, size_t first,
			    size_t others)
{
	if (first == 0 || others == 0)
		return first > 0;
	return first >= others
		       ? rng_below(&sampler->rng, first + others) < first
		       : rng_below(&sampler->rng, 2) == 0;
}

/*
 * Is it to be a location that had a sample? By their share, or as often as it
 * takes for one draw in SAMPLER_PAYS to lead to a sample.
 */
static bool sampler_repeats(struct sampler *sampler,
			    const struct sampler_warm *warm)
{
	double sampled = (double)warm->sampled.count;
	double unsampled = (double)warm->unsampled.count;
	/* of draws of a location without a sample; one more lest it be none */
	double found = (sampler->found + 1.0) /
		       (sampler->found + sampler->missed + 2.0);
	double share, least;

	if (sampled == 0 || unsampled == 0)
		return sampled > 0;
	share = sampled / (sampled + unsampled);
	least = sampler->repeats ? (1.0 / SAMPLER_PAYS - found) / (1 - found)
				 : 0;
	return (double)rng_below(&sampler->rng, UINT32_MAX) <
	       (share > least ? share : least) * UINT32_MAX;
}

static uint64_t sampler_draw_again(struct sampler *sampler,
				   struct sampler_warm *warm)
{
	bool again = sampler_repeats(sampler, warm);
	uint64_t id = sampler_draw_from(
		sampler, again ? &warm->sampled : &warm->unsampled, SITE_WARM);

	return id != 0 ? id
		       : sampler_draw_from(sampler,
					   again ? &warm->unsampled
						 : &warm->sampled,
					   SITE_WARM);
}

static size_t sampler_warm_count(const struct sampler_warm *warm)
{
	return warm->sampled.count + warm->missed.count + warm->unsampled.count;
}

/* What was missed, at least every other time. */
static uint64_t sampler_draw_of(struct sampler *sampler,
				struct sampler_warm *warm)
{
	uint64_t id = 0;

	if (sampler_prefers(sampler, warm->missed.count,
			    warm->sampled.count + warm->unsampled.count))
		id = sampler_draw_from(sampler, &warm->missed, SITE_WARM);
	if (id == 0)
		id = sampler_draw_again(sampler, warm);
	return id != 0 ? id
		       : sampler_draw_from(sampler, &warm->missed, SITE_WARM);
}

/*
 * Half of the stalls at least are to be in the program's own modules. What is
 * drawn there may be reached less often than what is drawn elsewhere; then more
 * is drawn there.
 */
static bool sampler_prefers_own(struct sampler *sampler)
{
	double odds = (sampler->stalls_others + SAMPLER_STALLS_PRIOR) /
		      (sampler->stalls_own + SAMPLER_STALLS_PRIOR);
	size_t own = sampler_warm_count(&sampler->warm_own);
	size_t others = sampler_warm_count(&sampler->warm);

	if (odds <= 1 || own == 0 || others == 0 || own >= others)
		return sampler_prefers(sampler, own, others);
	if (odds > SAMPLER_ODDS_MAX)
		odds = SAMPLER_ODDS_MAX;
	return (double)rng_below(&sampler->rng, UINT32_MAX) * (1 + odds) <
	       odds * UINT32_MAX;
}

/* Of the functions that run. */
static uint64_t sampler_draw_warm(struct sampler *sampler)
{
	struct sampler_warm *own = &sampler->warm_own, *others = &sampler->warm;
	bool first = sampler_prefers_own(sampler);
	uint64_t id = sampler_draw_of(sampler, first ? own : others);

	return id != 0 ? id : sampler_draw_of(sampler, first ? others : own);
}

/* Draw some blocks, if there is little to choose from; counts them. */
static struct error *sampler_refill(struct sampler *sampler, int *blocks)
{
	struct error *err = NULL;

	for (int i = 0; !err && i < RESERVE_BLOCKS &&
			sampler->reserve.count < RESERVE_SITES;
	     i++) {
		err = sampler_draw_block(sampler);
		++*blocks;
	}
	return err;
}

static struct error *sampler_draw_reserved(struct sampler *sampler,
					   uint64_t *ret_id)
{
	uint64_t id = 0;
	int blocks = 0;

	while (id == 0 && blocks < SAMPLER_TRIES && sampler->blocks > 0) {
		struct error *err = sampler_refill(sampler, &blocks);

		if (err)
			return err;
		id = sampler_draw_from(sampler, &sampler->reserve, 0);
	}
	*ret_id = id;
	return NULL;
}

/* Make the list of free sites. */
static struct error *sampler_list(struct sampler *sampler)
{
	vec_clear(&sampler->free);
	if (!vec_reserve(&sampler->free, sampler->known))
		return error_nomem;
	for (size_t p = 0; p < sampler->parts.count; p++) {
		const struct sampler_part *part = sampler_part(sampler, p);
		uint8_t *states = part->states.items;

		for (size_t s = 0; s < part->states.count; s++) {
			uint64_t id = site_id(p, s);

			states[s] &= (uint8_t)~SITE_LISTED;
			if (states[s] & (SITE_OUT | SITE_RETIRED))
				continue;
			if (!vec_push(&sampler->free, &id))
				return error_nomem;
			states[s] |= SITE_LISTED;
		}
	}
	sampler->listed = true;
	return NULL;
}

/* Each location as likely as any other, whether it runs or not. */
static struct error *sampler_draw_any(struct sampler *sampler, uint64_t *ret_id)
{
	struct error *err = NULL;

	if (!sampler->listed && sampler_complete(sampler))
		err = sampler_list(sampler);
	if (err)
		return err;
	if (!sampler->listed)
		return sampler_draw_reserved(sampler, ret_id);
	*ret_id = sampler_draw_from(sampler, &sampler->free, SITE_LISTED);
	return NULL;
}

struct error *sampler_draw(struct sampler *sampler, uint64_t *ret_id)
{
	struct error *err = NULL;
	uint64_t id = 0;

	if (sampler_warm_count(&sampler->warm_own) +
			    sampler_warm_count(&sampler->warm) >
		    0 &&
	    rng_below(&sampler->rng, SAMPLER_EXPLORES) != 0)
		id = sampler_draw_warm(sampler);
	if (id == 0)
		err = sampler_draw_any(sampler, &id);
	if (err)
		return err;
	*ret_id = id != 0 ? id : sampler_draw_warm(sampler);
	return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Uniform draws; see sampler.h. A site's id is its part's number plus one in
 * the upper half and its index in the part's table of sites in the lower. The
 * table grows as functions are decoded, so a site costs nine bytes and one not
 * decoded nothing.
 */
#include "detect/sampler.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"

enum {
	SITE_OUT = 1 << 0,
	SITE_RETIRED = 1 << 1,
	SITE_SAMPLED = 1 << 2,
};

/* One function: where its sites are in the part's table. */
struct sampler_function {
	uint64_t start; /* bytes of the part before it */
	uint32_t first, count;
	bool decoded;
};

struct sampler_site {
	uint32_t function, offset;
};

struct sampler_part {
	struct sampler_function *functions;
	size_t count;
	uint64_t size; /* bytes */
	size_t undecoded;
	struct vec sites; /* of struct sampler_site */
	struct vec states; /* of uint8_t */
	bool gone;
	/* of one that has gone: what it came to */
	uint64_t known_then, sampled_then;
};

enum {
	/* draws tried for one site before giving up for now */
	SAMPLER_TRIES = 2000,
};

static struct sampler_part *sampler_part(const struct sampler *sampler,
					 size_t i)
{
	return vec_at(&sampler->parts, i);
}

static uint64_t site_id(size_t part, size_t site)
{
	return ((uint64_t)part + 1) << 32 | site;
}

void sampler_init(struct sampler *sampler, const struct sampler_text *text,
		  uint64_t seed)
{
	*sampler = (struct sampler){
		.text = *text,
		.parts = VEC_INIT(struct sampler_part),
		.free = VEC_INIT(uint64_t),
	};
	rng_init(&sampler->rng, seed);
}

static void sampler_part_deinit(struct sampler_part *part)
{
	free(part->functions);
	vec_deinit(&part->sites);
	vec_deinit(&part->states);
}

void sampler_deinit(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->parts.count; i++)
		sampler_part_deinit(sampler_part(sampler, i));
	vec_deinit(&sampler->parts);
	vec_deinit(&sampler->free);
}

static void sampler_unlist(struct sampler *sampler)
{
	vec_deinit(&sampler->free);
	sampler->listed = false;
}

struct error *sampler_add(struct sampler *sampler, const uint32_t *sizes,
			  size_t count, uint32_t *ret_part)
{
	struct sampler_part *part;
	struct sampler_function *functions =
		calloc(count + 1, sizeof(*functions));
	uint64_t size = 0;

	part = functions ? vec_append(&sampler->parts) : NULL;
	if (!part) {
		free(functions);
		return error_nomem;
	}
	for (size_t i = 0; i < count; i++) {
		functions[i].start = size;
		size += sizes[i];
	}
	functions[count].start = size;
	part->functions = functions;
	part->count = count;
	part->size = size;
	part->undecoded = count;
	part->sites = (struct vec)VEC_INIT(struct sampler_site);
	part->states = (struct vec)VEC_INIT(uint8_t);
	sampler->text_size += size;
	if (count > 0)
		sampler_unlist(sampler);
	*ret_part = (uint32_t)(sampler->parts.count - 1);
	return NULL;
}

static void sampler_forget_counts(struct sampler *sampler,
				  const struct sampler_part *part)
{
	const uint8_t *states = part->states.items;

	sampler->known -= part->sites.count;
	for (size_t i = 0; i < part->states.count; i++) {
		sampler->out -= (states[i] & SITE_OUT) != 0;
		sampler->retired -= (states[i] & SITE_RETIRED) != 0;
	}
}

void sampler_count(const struct sampler *sampler, uint32_t number,
		   uint64_t *ret_known, uint64_t *ret_sampled)
{
	const struct sampler_part *part = sampler_part(sampler, number);
	const uint8_t *states = part->states.items;
	uint64_t sampled = part->sampled_then;

	for (size_t i = 0; i < part->states.count; i++)
		sampled += (states[i] & SITE_SAMPLED) != 0;
	*ret_known = part->known_then + part->sites.count;
	*ret_sampled = sampled;
}

void sampler_remove(struct sampler *sampler, uint32_t number)
{
	struct sampler_part *part = sampler_part(sampler, number);
	uint64_t known, sampled;

	if (part->gone)
		return;
	sampler_count(sampler, number, &known, &sampled);
	sampler_forget_counts(sampler, part);
	sampler->text_size -= part->size;
	sampler_part_deinit(part);
	*part = (struct sampler_part){
		.gone = true,
		.sites = VEC_INIT(struct sampler_site),
		.states = VEC_INIT(uint8_t),
		.known_then = known,
		.sampled_then = sampled,
	};
	/* ids of this part stay in the list of free sites: drawn, dropped */
}

static bool sampler_add_site(struct sampler_part *part, uint32_t function,
			     uint32_t offset)
{
	struct sampler_site site = { function, offset };
	uint8_t state = 0;

	return vec_push(&part->sites, &site) && vec_push(&part->states, &state);
}

static struct error *sampler_decode(struct sampler *sampler, size_t number,
				    size_t index)
{
	struct vec offsets = VEC_INIT(uint32_t);
	struct sampler_part *part = sampler_part(sampler, number);
	struct sampler_function *function = &part->functions[index];
	struct error *err;
	bool stored = true;

	if (function->decoded)
		return NULL;
	err = sampler->text.decode(sampler->text.context, (uint32_t)number,
				   (uint32_t)index, &offsets);
	function->first = (uint32_t)part->sites.count;
	for (size_t i = 0; !err && stored && i < offsets.count; i++)
		stored = sampler_add_site(part, (uint32_t)index,
					  *(uint32_t *)vec_at(&offsets, i));
	vec_deinit(&offsets);
	if (!stored)
		err = error_nomem;
	if (err) {
		part->sites.count = function->first;
		part->states.count = function->first;
		return err;
	}
	function->count = (uint32_t)(part->sites.count - function->first);
	function->decoded = true;
	part->undecoded--;
	sampler->known += function->count;
	return NULL;
}

/* The part that holds byte `at` of all text; at becomes the part's own. */
static size_t sampler_find_part(const struct sampler *sampler, uint64_t *at)
{
	size_t i = 0;

	while (*at >= sampler_part(sampler, i)->size)
		*at -= sampler_part(sampler, i++)->size;
	return i;
}

/* The function that holds byte `at` of the part. */
static size_t sampler_find_function(const struct sampler_part *part,
				    uint64_t at)
{
	size_t low = 0, high = part->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (part->functions[middle].start <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The index of the site at this offset of the function, or SIZE_MAX. */
static size_t sampler_find_site(const struct sampler_part *part,
				const struct sampler_function *function,
				uint32_t offset)
{
	size_t low = function->first, high = low + function->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct sampler_site *site = vec_at(&part->sites, middle);

		if (site->offset == offset)
			return middle;
		if (site->offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

static uint8_t *sampler_state(const struct sampler *sampler, uint64_t id)
{
	size_t part = (size_t)(id >> 32);
	size_t site = (size_t)(id & UINT32_MAX);

	if (part == 0 || part > sampler->parts.count ||
	    site >= sampler_part(sampler, part - 1)->states.count)
		return NULL;
	return vec_at(&sampler_part(sampler, part - 1)->states, site);
}

/* Take the site out if it is free. */
static bool sampler_take(struct sampler *sampler, uint64_t id)
{
	uint8_t *state = sampler_state(sampler, id);

	if (!state || (*state & (SITE_OUT | SITE_RETIRED)))
		return false;
	*state |= SITE_OUT;
	sampler->out++;
	return true;
}

static struct error *sampler_try(struct sampler *sampler, uint64_t *ret_id)
{
	uint64_t at = rng_below(&sampler->rng, sampler->text_size);
	size_t number = sampler_find_part(sampler, &at);
	struct sampler_part *part = sampler_part(sampler, number);
	size_t index = sampler_find_function(part, at);
	struct error *err = sampler_decode(sampler, number, index);
	size_t site;

	if (err)
		return err;
	site = sampler_find_site(part, &part->functions[index],
				 (uint32_t)(at - part->functions[index].start));
	if (site != SIZE_MAX && sampler_take(sampler, site_id(number, site)))
		*ret_id = site_id(number, site);
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
		const uint8_t *states = part->states.items;

		for (size_t s = 0; s < part->states.count; s++) {
			uint64_t id = site_id(p, s);

			if (!(states[s] & (SITE_OUT | SITE_RETIRED)) &&
			    !vec_push(&sampler->free, &id))
				return error_nomem;
		}
	}
	sampler->listed = true;
	return NULL;
}

static void sampler_draw_listed(struct sampler *sampler, uint64_t *ret_id)
{
	while (sampler->free.count > 0) {
		size_t i =
			(size_t)rng_below(&sampler->rng, sampler->free.count);
		uint64_t id = *(uint64_t *)vec_at(&sampler->free, i);

		vec_remove_swap(&sampler->free, i);
		if (sampler_take(sampler, id)) {
			*ret_id = id;
			return;
		}
	}
}

struct error *sampler_draw(struct sampler *sampler, uint64_t *ret_id)
{
	uint64_t id = 0;
	struct error *err = NULL;

	if (!sampler->listed && sampler_complete(sampler))
		err = sampler_list(sampler);
	if (err)
		return err;
	if (sampler->listed)
		sampler_draw_listed(sampler, &id);
	for (int i = 0; !sampler->listed && !err && id == 0 &&
			i < SAMPLER_TRIES && sampler->text_size > 0;
	     i++)
		err = sampler_try(sampler, &id);
	if (!err)
		*ret_id = id;
	return err;
}

void sampler_locate(const struct sampler *sampler, uint64_t id,
		    uint32_t *ret_part, uint32_t *ret_function,
		    uint32_t *ret_offset)
{
	uint32_t number = (uint32_t)(id >> 32) - 1;
	const struct sampler_part *part = sampler_part(sampler, number);
	const struct sampler_site *site =
		vec_at(&part->sites, (size_t)(id & UINT32_MAX));

	*ret_part = number;
	*ret_function = site->function;
	*ret_offset = site->offset;
}

static void sampler_retire_state(struct sampler *sampler, uint8_t *state)
{
	if (*state & SITE_RETIRED)
		return;
	*state |= SITE_RETIRED;
	sampler->retired++;
}

void sampler_retire(struct sampler *sampler, uint64_t id)
{
	uint8_t *state = sampler_state(sampler, id);

	if (state)
		sampler_retire_state(sampler, state);
}

void sampler_return(struct sampler *sampler, uint64_t id,
		    enum sampler_return how)
{
	uint8_t *state = sampler_state(sampler, id);

	if (!state || !(*state & SITE_OUT))
		return;
	*state &= (uint8_t)~SITE_OUT;
	sampler->out--;
	if (how == SAMPLER_RETIRED) {
		sampler_retire_state(sampler, state);
	} else if (*state & SITE_RETIRED) {
		return;
	} else if (sampler->listed && !vec_push(&sampler->free, &id)) {
		/* no memory: draw by rejection again, which needs none */
		sampler_unlist(sampler);
	}
}

void sampler_mark(struct sampler *sampler, uint64_t id)
{
	uint8_t *state = sampler_state(sampler, id);

	if (!state || (*state & SITE_SAMPLED))
		return;
	*state |= SITE_SAMPLED;
	sampler->sampled++;
}

bool sampler_complete(const struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->parts.count; i++) {
		if (sampler_part(sampler, i)->undecoded > 0)
			return false;
	}
	return true;
}

/* The next function not yet decoded; false when there is none. */
static bool sampler_next_work(struct sampler *sampler)
{
	for (; sampler->work_part < sampler->parts.count;
	     sampler->work_part++, sampler->work_function = 0) {
		struct sampler_part *part =
			sampler_part(sampler, sampler->work_part);

		if (part->undecoded == 0)
			continue;
		for (; sampler->work_function < part->count;
		     sampler->work_function++) {
			if (!part->functions[sampler->work_function].decoded)
				return true;
		}
	}
	return false;
}

struct error *sampler_work(struct sampler *sampler, uint64_t until_ns,
			   bool *ret_done)
{
	bool more = true;

	while (more && clock_now_ns() < until_ns) {
		struct error *err;

		more = sampler_next_work(sampler);
		if (!more)
			break;
		err = sampler_decode(sampler, sampler->work_part,
				     sampler->work_function);
		if (err)
			return err;
	}
	*ret_done = !more;
	return NULL;
}

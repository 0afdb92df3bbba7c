/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sites of a sampler: decoded, found, taken; see sampler-parts.h.
 */
#include "sampling/sampler-parts.h"

#include "base/error.h"

static bool sampler_add_site(struct sampler_part *part, uint32_t function,
			     uint32_t offset)
{
	struct sampler_site site = { function, offset };
	uint8_t state = 0;

	return vec_push(&part->sites, &site) && vec_push(&part->states, &state);
}

struct error *sampler_decode(struct sampler *sampler, size_t number,
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

size_t sampler_first_site(const struct sampler_part *part,
			  const struct sampler_function *function,
			  uint64_t offset)
{
	size_t low = function->first, high = low + function->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct sampler_site *site = vec_at(&part->sites, middle);

		if (site->offset < offset)
			low = middle + 1;
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
	size_t i = sampler_first_site(part, function, offset);
	const struct sampler_site *site;

	if (i == (size_t)function->first + function->count)
		return SIZE_MAX;
	site = vec_at(&part->sites, i);
	return site->offset == offset ? i : SIZE_MAX;
}

uint8_t *sampler_state(const struct sampler *sampler, uint64_t id)
{
	size_t part = (size_t)(id >> 32);
	size_t site = (size_t)(id & UINT32_MAX);

	if (part == 0 || part > sampler->parts.count ||
	    site >= sampler_part(sampler, part - 1)->states.count)
		return NULL;
	return vec_at(&sampler_part(sampler, part - 1)->states, site);
}

bool sampler_take(struct sampler *sampler, uint64_t id)
{
	uint8_t *state = sampler_state(sampler, id);

	if (!state || (*state & (SITE_OUT | SITE_RETIRED)))
		return false;
	*state |= SITE_OUT;
	sampler->out++;
	return true;
}

bool sampler_locate(const struct sampler *sampler, uint64_t id,
		    uint32_t *ret_part, uint32_t *ret_function,
		    uint32_t *ret_offset)
{
	uint32_t number = (uint32_t)(id >> 32) - 1;
	const struct sampler_site *site;

	if (!sampler_state(sampler, id))
		return false;
	site = vec_at(&sampler_part(sampler, number)->sites,
		      (size_t)(id & UINT32_MAX));
	*ret_part = number;
	*ret_function = site->function;
	*ret_offset = site->offset;
	return true;
}

struct error *sampler_find(struct sampler *sampler, uint32_t number,
			   uint32_t function, uint32_t offset, uint64_t *ret_id)
{
	struct sampler_part *part = sampler_part(sampler, number);
	struct error *err;
	size_t site;

	if (part->gone) {
		*ret_id = 0;
		return NULL;
	}
	err = sampler_decode(sampler, number, function);
	if (err)
		return err;
	site = sampler_find_site(part, &part->functions[function], offset);
	*ret_id = site == SIZE_MAX ? 0 : site_id(number, site);
	return NULL;
}

bool sampler_lives(const struct sampler *sampler, uint64_t id)
{
	const uint8_t *state = sampler_state(sampler, id);

	return state && !(*state & SITE_RETIRED);
}

void sampler_count_draw(struct sampler *sampler, bool found)
{
	if (found)
		sampler->found++;
	else
		sampler->missed++;
	if (sampler->found + sampler->missed < SAMPLER_DRAWS)
		return;
	sampler->found /= 2;
	sampler->missed /= 2;
}

bool sampler_take_once(struct sampler *sampler, uint64_t id)
{
	uint8_t *state = sampler_state(sampler, id);

	if ((*state & SITE_RAN) || !sampler_take(sampler, id))
		return false;
	*state |= SITE_ONCE;
	sampler->out_once++;
	return true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is known to run: functions, their sites, their entries.
 */
#include "sampling/sampler-runs.h"

#include "base/error.h"
#include "sampling/sampler-parts.h"

/* Of the lists of sites of functions that run, the one for such a site. */
static struct vec *warm_list(struct sampler_warm *warm, uint8_t state,
			     bool missed)
{
	if (state & SITE_SAMPLED)
		return &warm->sampled;
	return missed ? &warm->missed : &warm->unsampled;
}

bool sampler_offer(struct sampler *sampler, uint64_t id, bool missed)
{
	const struct sampler_part *part =
		sampler_part(sampler, (size_t)(id >> 32) - 1);
	const struct sampler_site *site =
		vec_at(&part->sites, (size_t)(id & UINT32_MAX));
	uint8_t *state = sampler_state(sampler, id);
	struct sampler_warm *warm = part->own ? &sampler->warm_own
					      : &sampler->warm;

	if (part->functions[site->function].runs &&
	    !(*state & (SITE_WARM | SITE_PRIVATE))) {
		if (!vec_push(warm_list(warm, *state, missed), &id))
			return false;
		*state |= SITE_WARM;
	}
	if (sampler->listed && !(*state & SITE_LISTED)) {
		if (!vec_push(&sampler->free, &id))
			return false;
		*state |= SITE_LISTED;
	}
	return true;
}

/* One more of either kind; when there are many, what was long ago fades. */
static void function_note_hit(struct sampler_function *function, bool shared)
{
	uint8_t *hits = shared ? &function->hits_shared
			       : &function->hits_private;

	++*hits;
	if (*hits < SAMPLER_HITS)
		return;
	function->hits_shared /= 2;
	function->hits_private /= 2;
}

void sampler_note_hit(struct sampler *sampler, uint64_t id, bool shared)
{
	uint8_t *state = sampler_state(sampler, id);
	uint32_t part, function, offset;

	if (!sampler_locate(sampler, id, &part, &function, &offset))
		return;
	function_note_hit(&sampler_part(sampler, part)->functions[function],
			  shared);
	if (!shared && !(*state & SITE_SAMPLED))
		sampler_count_draw(sampler, false);
	if (!shared && rng_below(&sampler->rng, 2) == 0)
		*state |= SITE_PRIVATE;
}

static bool sampler_add_callee(struct sampler *sampler, uint32_t number,
			       uint32_t callee)
{
	uint64_t entry = sampler_entry(number, callee);
	struct sampler_function *function =
		&sampler_part(sampler, number)->functions[callee];

	if (function->runs || function->called)
		return true;
	function->called = true;
	return vec_push(&sampler->callees, &entry);
}

/* It runs: what it calls is looked for next. */
static struct error *sampler_add_callees(struct sampler *sampler,
					 uint32_t number, uint32_t index)
{
	const struct sampler_text *text = &sampler->text;
	struct vec callees = VEC_INIT(uint32_t);
	struct error *err = NULL;

	if (text->callees)
		err = text->callees(text->context, number, index, &callees);
	for (size_t i = 0; !err && i < callees.count; i++) {
		if (!sampler_add_callee(sampler, number,
					*(uint32_t *)vec_at(&callees, i)))
			err = error_nomem;
	}
	vec_deinit(&callees);
	return err;
}

struct error *sampler_follow_callees(struct sampler *sampler, size_t most)
{
	struct error *err = NULL;

	for (size_t i = sampler->callees_at;
	     !err && i < sampler->callees.count &&
	     sampler->callees.count - sampler->callees_at < most;
	     i++) {
		uint64_t entry = *(uint64_t *)vec_at(&sampler->callees, i);

		err = sampler_add_callees(sampler, (uint32_t)(entry >> 32) - 1,
					  (uint32_t)entry);
	}
	return err;
}

struct error *sampler_expect_callees(struct sampler *sampler, size_t sites)
{
	struct error *err = NULL;
	size_t taken = 0;

	for (size_t i = sampler->callees_at;
	     !err && i < sampler->callees.count && taken < sites; i++) {
		uint64_t entry = *(uint64_t *)vec_at(&sampler->callees, i);
		size_t number = (size_t)(entry >> 32) - 1;
		size_t index = (size_t)(entry & UINT32_MAX);

		err = sampler_decode(sampler, number, index);
		if (!err && !vec_push(&sampler->news, &entry))
			err = error_nomem;
		taken += sampler_part(sampler, number)->functions[index].count;
	}
	return err;
}

struct error *sampler_runs(struct sampler *sampler, uint32_t number,
			   uint32_t index)
{
	struct sampler_part *part = sampler_part(sampler, number);
	uint64_t entry = sampler_entry(number, index);
	struct sampler_function *function;
	struct error *err;

	if (part->gone || part->functions[index].runs)
		return NULL;
	function = &part->functions[index];
	err = sampler_decode(sampler, number, index);
	if (err)
		return err;
	function->runs = true;
	sampler->running++;
	if (part->own && !vec_push(&sampler->news, &entry))
		return error_nomem;
	for (uint32_t i = 0; i < function->count; i++) {
		uint64_t id = site_id(number, (size_t)function->first + i);

		if (!(*sampler_state(sampler, id) &
		      (SITE_OUT | SITE_RETIRED)) &&
		    !sampler_offer(sampler, id, false))
			return error_nomem;
	}
	return part->own ? sampler_add_callees(sampler, number, index) : NULL;
}

/* The function, by number; NULL: it is unknown, or its part has gone. */
static struct sampler_function *entry_function(const struct sampler *sampler,
					       uint64_t entry)
{
	size_t part = (size_t)(entry >> 32);
	size_t index = (size_t)(entry & UINT32_MAX);

	if (part == 0 || part > sampler->parts.count ||
	    index >= sampler_part(sampler, part - 1)->count)
		return NULL;
	return &sampler_part(sampler, part - 1)->functions[index];
}

/* Take the function's entry, if it is free and there is something to learn. */
static bool entry_take(struct sampler *sampler,
		       struct sampler_function *function)
{
	if (function->runs || function->entry_out || function->entry_retired)
		return false;
	function->entry_out = true;
	sampler->entries_out++;
	return true;
}

bool sampler_take_entry(struct sampler *sampler, uint32_t number,
			size_t *cursor, uint32_t *ret_function)
{
	struct sampler_part *part = sampler_part(sampler, number);

	while (*cursor < part->count) {
		size_t index = (*cursor)++;

		if (!entry_take(sampler, &part->functions[index]))
			continue;
		*ret_function = (uint32_t)index;
		return true;
	}
	return false;
}

bool sampler_take_callee(struct sampler *sampler, uint32_t *ret_part,
			 uint32_t *ret_function)
{
	while (sampler->callees_at < sampler->callees.count) {
		uint64_t entry = *(uint64_t *)vec_at(&sampler->callees,
						     sampler->callees_at++);
		struct sampler_function *function =
			entry_function(sampler, entry);

		if (!function || !entry_take(sampler, function))
			continue;
		*ret_part = (uint32_t)(entry >> 32) - 1;
		*ret_function = (uint32_t)entry;
		return true;
	}
	vec_clear(&sampler->callees);
	sampler->callees_at = 0;
	return false;
}

void sampler_return_entry(struct sampler *sampler, uint64_t entry)
{
	struct sampler_function *function = entry_function(sampler, entry);

	if (!function || !function->entry_out)
		return;
	function->entry_out = false;
	sampler->entries_out--;
}

void sampler_retire_entry(struct sampler *sampler, uint64_t entry)
{
	struct sampler_function *function = entry_function(sampler, entry);

	sampler_return_entry(sampler, entry);
	if (function)
		function->entry_retired = true;
}

struct error *sampler_entered(struct sampler *sampler, uint64_t entry)
{
	if (!entry_function(sampler, entry))
		return NULL;
	return sampler_runs(sampler, (uint32_t)(entry >> 32) - 1,
			    (uint32_t)entry);
}

/* The function whose sites are being taken; NULL: there is none. */
static const struct sampler_function *
sampler_news_function(const struct sampler *sampler)
{
	if (sampler->news_at >= sampler->news.count)
		return NULL;
	return entry_function(sampler, *(uint64_t *)vec_at(&sampler->news,
							   sampler->news_at));
}

/* Where the program runs again, what had none comes first. */
static bool sampler_had_sample(const struct sampler *sampler, uint64_t id)
{
	const uint8_t *state = sampler_state(sampler, id);

	return sampler->again && state && (*state & SITE_SAMPLED);
}

uint64_t sampler_take_news(struct sampler *sampler)
{
	for (; sampler->news_at < sampler->news.count;
	     sampler->news_at++, sampler->news_site = 0) {
		uint64_t entry =
			*(uint64_t *)vec_at(&sampler->news, sampler->news_at);
		const struct sampler_function *function =
			sampler_news_function(sampler);

		while (function && sampler->news_site < function->count) {
			uint64_t id = site_id((size_t)(entry >> 32) - 1,
					      (size_t)function->first +
						      sampler->news_site++);

			if (!sampler_had_sample(sampler, id) &&
			    sampler_take_once(sampler, id))
				return id;
		}
	}
	vec_clear(&sampler->news);
	sampler->news_at = 0;
	return 0;
}

void sampler_news_again(struct sampler *sampler)
{
	vec_clear(&sampler->news);
	sampler->news_at = 0;
	sampler->news_site = 0;
	for (size_t i = 0; i < sampler->parts.count; i++) {
		const struct sampler_part *part = sampler_part(sampler, i);

		for (size_t j = 0; part->own && j < part->count; j++) {
			uint64_t entry =
				sampler_entry((uint32_t)i, (uint32_t)j);

			/* without memory it is found to run once more */
			if (part->functions[j].runs &&
			    !vec_push(&sampler->news, &entry))
				return;
		}
	}
}

uint64_t sampler_part_size(const struct sampler *sampler, uint32_t part)
{
	return sampler_part(sampler, part)->size;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts, and the states of their sites; see sampler.h. Draws are in
 * sampler-draw.c.
 */
#include "sampling/sampler-parts.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "sampling/sampler-runs.h"

/* clang-format off */
#define SAMPLER_WARM_INIT \
	{ VEC_INIT(uint64_t), VEC_INIT(uint64_t), VEC_INIT(uint64_t) }
/* clang-format on */

void sampler_init(struct sampler *sampler, const struct sampler_text *text,
		  uint64_t seed)
{
	*sampler = (struct sampler){
		.text = *text,
		.parts = VEC_INIT(struct sampler_part),
		.free = VEC_INIT(uint64_t),
		.reserve = VEC_INIT(uint64_t),
		.warm = SAMPLER_WARM_INIT,
		.warm_own = SAMPLER_WARM_INIT,
		.news = VEC_INIT(uint64_t),
		.callees = VEC_INIT(uint64_t),
	};
	rng_init(&sampler->rng, seed);
}

static void sampler_part_deinit(struct sampler_part *part)
{
	free(part->functions);
	free(part->starts);
	vec_deinit(&part->sites);
	vec_deinit(&part->states);
}

static void sampler_warm_deinit(struct sampler_warm *warm)
{
	vec_deinit(&warm->sampled);
	vec_deinit(&warm->missed);
	vec_deinit(&warm->unsampled);
}

void sampler_deinit(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->parts.count; i++)
		sampler_part_deinit(sampler_part(sampler, i));
	vec_deinit(&sampler->parts);
	vec_deinit(&sampler->free);
	vec_deinit(&sampler->reserve);
	sampler_warm_deinit(&sampler->warm);
	sampler_warm_deinit(&sampler->warm_own);
	vec_deinit(&sampler->news);
	vec_deinit(&sampler->callees);
}

static void sampler_unlist(struct sampler *sampler)
{
	vec_deinit(&sampler->free);
	sampler->listed = false;
}

struct error *sampler_add(struct sampler *sampler, const uint32_t *sizes,
			  size_t count, bool own, uint32_t *ret_part)
{
	struct sampler_part *part;
	struct sampler_function *functions =
		calloc(count + 1, sizeof(*functions));
	uint64_t *starts = malloc((count + 1) * sizeof(*starts));
	uint64_t size = 0;

	part = functions && starts ? vec_append(&sampler->parts) : NULL;
	if (!part) {
		free(functions);
		free(starts);
		return error_nomem;
	}
	for (size_t i = 0; i < count; i++) {
		starts[i] = size;
		size += sizes[i];
	}
	starts[count] = size;
	part->functions = functions;
	part->starts = starts;
	part->count = count;
	part->size = size;
	part->own = own;
	part->undecoded = count;
	part->sites = (struct vec)VEC_INIT(struct sampler_site);
	part->states = (struct vec)VEC_INIT(uint8_t);
	sampler->text_size += size;
	sampler->blocks += sampler_part_blocks(part);
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
		sampler->out_once -= (states[i] & SITE_ONCE) != 0;
		sampler->retired -= (states[i] & SITE_RETIRED) != 0;
	}
	for (size_t i = 0; i < part->count; i++)
		sampler->entries_out -= part->functions[i].entry_out;
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
	sampler->blocks -= sampler_part_blocks(part);
	sampler_part_deinit(part);
	*part = (struct sampler_part){
		.gone = true,
		.sites = VEC_INIT(struct sampler_site),
		.states = VEC_INIT(uint8_t),
		.known_then = known,
		.sampled_then = sampled,
	};
	/* ids of this part stay among those to draw from: drawn, dropped */
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

/* A site of the function was hit. Without memory nothing is learned of it. */
static void sampler_note_runs(struct sampler *sampler, uint64_t id)
{
	uint32_t part, function, offset;

	if (sampler_locate(sampler, id, &part, &function, &offset))
		error_free(sampler_runs(sampler, part, function));
}

void sampler_return(struct sampler *sampler, uint64_t id,
		    enum sampler_return how)
{
	uint8_t *state = sampler_state(sampler, id);
	bool missed = how == SAMPLER_MISSED;
	bool ran = missed || how == SAMPLER_RAN;

	if (!state || !(*state & SITE_OUT))
		return;
	if (ran)
		sampler_note_runs(sampler, id);
	sampler->out--;
	sampler->out_once -= (*state & SITE_ONCE) != 0;
	*state &= (uint8_t) ~(SITE_OUT | SITE_ONCE);
	if (how == SAMPLER_FREE && !(*state & SITE_SAMPLED))
		sampler_count_draw(sampler, false);
	if (ran)
		*state |= SITE_RAN;
	if (how == SAMPLER_RETIRED)
		sampler_retire_state(sampler, state);
	else if (!(*state & SITE_RETIRED) &&
		 !sampler_offer(sampler, id, missed))
		/* no memory: draw by blocks again, which needs little */
		sampler_unlist(sampler);
}

static struct error *sampler_decode_part(struct sampler *sampler, size_t number,
					 uint64_t until_ns)
{
	struct sampler_part *part = sampler_part(sampler, number);
	struct error *err = NULL;

	for (size_t i = 0; !err && part->undecoded > 0 && i < part->count;
	     i++) {
		if (part->functions[i].decoded)
			continue;
		if (clock_now_ns() >= until_ns)
			break;
		err = sampler_decode(sampler, number, i);
	}
	return err;
}

/* Among those decoded; 0: there is none. */
static uint64_t sampler_find_unrun(struct sampler *sampler, uint32_t number,
				   struct sampler_walk *walk)
{
	const struct sampler_part *part = sampler_part(sampler, number);
	const uint8_t *states = part->states.items;

	while (walk->site < part->states.count) {
		size_t site = walk->site++;
		uint64_t id = site_id(number, site);

		if ((walk->sampled || !(states[site] & SITE_SAMPLED)) &&
		    sampler_take_once(sampler, id))
			return id;
	}
	return 0;
}

struct error *sampler_take_unrun(struct sampler *sampler, uint32_t number,
				 uint64_t until_ns, struct sampler_walk *walk,
				 uint64_t *ret_id)
{
	uint64_t id = sampler_find_unrun(sampler, number, walk);
	struct error *err;

	if (id == 0) {
		err = sampler_decode_part(sampler, number, until_ns);
		if (err)
			return err;
		id = sampler_find_unrun(sampler, number, walk);
	}
	*ret_id = id;
	return NULL;
}

static void sampler_count_stall(struct sampler *sampler, bool own)
{
	if (own)
		sampler->stalls_own++;
	else
		sampler->stalls_others++;
	if (sampler->stalls_own + sampler->stalls_others < SAMPLER_STALLS)
		return;
	sampler->stalls_own /= 2;
	sampler->stalls_others /= 2;
}

/* What was out is on no list of sites of functions that run. */
static void sampler_free_all(struct sampler *sampler, size_t number)
{
	struct sampler_part *part = sampler_part(sampler, number);
	uint8_t *states = part->states.items;

	for (size_t i = 0; i < part->count; i++)
		part->functions[i].entry_out =
			part->functions[i].entry_retired = false;
	for (size_t i = 0; i < part->states.count; i++) {
		bool kept = states[i] & (SITE_OUT | SITE_RETIRED);

		states[i] &= (uint8_t) ~(SITE_OUT | SITE_ONCE | SITE_RAN |
					 SITE_RETIRED);
		/* without memory it is drawn with all sites only */
		if (kept && !sampler_offer(sampler, site_id(number, i), false))
			continue;
	}
}

void sampler_begin_again(struct sampler *sampler)
{
	sampler_unlist(sampler);
	for (size_t i = 0; i < sampler->parts.count; i++)
		sampler_free_all(sampler, i);
	sampler->out = sampler->out_once = sampler->entries_out = 0;
	sampler->retired = 0;
	sampler->again = true;
	sampler_news_again(sampler);
}

bool sampler_mark(struct sampler *sampler, uint64_t id)
{
	uint8_t *state = sampler_state(sampler, id);

	if (!state)
		return false;
	sampler_count_stall(sampler,
			    sampler_part(sampler, (size_t)(id >> 32) - 1)->own);
	*state &= (uint8_t)~SITE_PRIVATE;
	if (*state & SITE_SAMPLED)
		return false;
	*state |= SITE_SAMPLED;
	sampler->sampled++;
	sampler_count_draw(sampler, true);
	return true;
}

bool sampler_part_complete(const struct sampler *sampler, uint32_t number)
{
	return sampler_part(sampler, number)->undecoded == 0;
}

bool sampler_complete(const struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->parts.count; i++) {
		if (!sampler_part_complete(sampler, (uint32_t)i))
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
	if (ret_done)
		*ret_done = !more;
	return NULL;
}

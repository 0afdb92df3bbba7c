/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * More stalls where races were found; see revisit.h.
 */
#include "sampling/revisit.h"

/* Draws that may be saved up while none is wanted. */
enum { REVISIT_SAVED = 2 };

void revisits_deinit(struct revisits *revisits)
{
	vec_deinit(&revisits->pairs);
}

static bool revisits_know(const struct revisits *revisits,
			  const struct race *race, const uint32_t sites[2])
{
	for (size_t i = 0; i < revisits->pairs.count; i++) {
		const struct revisit *it = vec_at(&revisits->pairs, i);

		if (it->race == race && it->sites[0] == sites[0] &&
		    it->sites[1] == sites[1])
			return true;
	}
	return false;
}

bool revisits_add(struct revisits *revisits, const struct race *race,
		  const uint32_t sites[2])
{
	const struct revisit it = {
		.race = race,
		.sites = { sites[0], sites[1] },
	};

	if (revisits->pairs.count == REVISIT_PAIRS ||
	    revisits_know(revisits, race, sites))
		return true;
	return vec_push(&revisits->pairs, &it);
}

void revisits_stalled(struct revisits *revisits)
{
	revisits->stalls += revisits->stalls < REVISIT_SAVED * REVISIT_EACH;
}

/* The next pair in turn that is wanted and has draws left; NULL: there is none. */
static struct revisit *revisits_next(struct revisits *revisits,
				     uint32_t (*most)(const void *context,
						      const struct race *race),
				     const void *context)
{
	size_t tired = 0;

	while (tired < revisits->pairs.count) {
		struct revisit *it;
		uint32_t draws;

		revisits->next %= (uint32_t)revisits->pairs.count;
		it = vec_at(&revisits->pairs, revisits->next);
		draws = most(context, it->race);
		if (draws == 0) {
			vec_remove(&revisits->pairs, revisits->next);
			continue;
		}
		revisits->next++;
		if (it->drawn < draws)
			return it;
		tired++;
	}
	return NULL;
}

uint32_t revisits_draw(struct revisits *revisits,
		       uint32_t (*most)(const void *context,
					const struct race *race),
		       const void *context)
{
	struct revisit *it;

	if (revisits->stalls < REVISIT_EACH)
		return UINT32_MAX;
	it = revisits_next(revisits, most, context);
	if (!it)
		return UINT32_MAX;
	revisits->stalls -= REVISIT_EACH;
	return it->sites[it->drawn++ % 2];
}

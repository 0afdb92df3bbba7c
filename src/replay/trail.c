/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trails to a page that was missed; see trail.h.
 */
#include "replay/trail.h"

#include <stdlib.h>

#include "replay/processor-parts.h"

enum {
	/* bytes around what a register points to, and behind a pointer */
	TRAIL_BEFORE = 256,
	TRAIL_AFTER = 1024,
	TRAIL_NEAR = 512,
	TRAIL_WORD = 8,
	/* of one miss: two registers may lead there, and one does next time */
	TRAILS = 3,
};

struct search {
	const struct processor *processor;
	const struct space *space;
	int number; /* of the space */
	uint64_t address;
	struct replay_trail best[TRAILS];
	size_t count;
};

/* A field is near its object's start; the object is near the register. */
static unsigned int search_cost(const struct replay_trail *trail)
{
	return trail->behind + (unsigned int)abs(trail->offset) / 4;
}

/* Keep the cheapest, in order. */
static void search_keep(struct search *search, const struct replay_trail *trail)
{
	size_t i = search->count;

	if (search->count < TRAILS)
		search->count++;
	else if (search_cost(&search->best[--i]) <= search_cost(trail))
		return;
	for (; i > 0 && search_cost(&search->best[i - 1]) > search_cost(trail);
	     i--)
		search->best[i] = search->best[i - 1];
	search->best[i] = *trail;
}

/* Is there a pointer to just before the address? */
static bool search_leads(const struct search *search, uint64_t at,
			 unsigned int *ret_behind)
{
	uint64_t pointer;

	if (at % TRAIL_WORD != 0 ||
	    !pagecache_read(&search->space->cache, at, &pointer, TRAIL_WORD) ||
	    search->address - pointer >= TRAIL_NEAR)
		return false;
	*ret_behind = (unsigned int)(search->address - pointer);
	return true;
}

static void search_register(struct search *search, int thread, int reg)
{
	uint64_t value = search->processor->starts[thread].regs.gpr[reg];
	struct replay_trail trail = { .by_register = true,
				      .thread = thread,
				      .reg = reg };

	for (int offset = -TRAIL_BEFORE; offset < TRAIL_AFTER;
	     offset += TRAIL_WORD) {
		trail.offset = offset;
		if (search_leads(search, value + (uint64_t)(int64_t)offset,
				 &trail.behind))
			search_keep(search, &trail);
	}
}

static void search_page(struct search *search, uint64_t page)
{
	struct replay_trail trail = { .space = search->number };

	for (int offset = 0; offset < REPLAY_PAGE; offset += TRAIL_WORD) {
		trail.address = page + (uint64_t)offset;
		if (search_leads(search, trail.address, &trail.behind))
			search_keep(search, &trail);
	}
}

/* Pages that were missed earlier, and are there now. */
static void search_hints(struct search *search)
{
	const struct replay_hints *hints = search->processor->instance.hints;

	for (size_t i = 0; i < hints->count && i < REPLAY_HINTS_MAX; i++) {
		uint64_t page = replay_page_of(hints->pages[i]);

		if (replay_hint_is_page(hints->pages[i]) &&
		    hints->pages[i] == replay_hint(search->number, page))
			search_page(search, page);
	}
}

bool trail_learn(struct processor *processor, int space, uint64_t address)
{
	struct search search = { .processor = processor,
				 .space = &processor->spaces[space],
				 .number = space,
				 .address = address };

	for (int i = 0; i < REPLAY_THREADS; i++) {
		if (processor_space_of(processor, i) != space)
			continue;
		for (int reg = 0; reg < 16; reg++)
			search_register(&search, i, reg);
	}
	search_hints(&search);
	for (size_t i = 0; i < search.count; i++)
		replay_hints_add(processor->instance.hints,
				 replay_trail_hint(&search.best[i]));
	return search.count > 0;
}

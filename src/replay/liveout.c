/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Live-outs of two schedules; see liveout.h.
 */
#include "replay/liveout.h"

#include "base/error.h"
#include "replay/orders.h"
#include "replay/processor-parts.h"

struct comparison {
	const struct processor *processor;
	const struct replay_outcome *a, *b;
	struct vec *ret;
};

static bool liveout_is_dead(const struct comparison *comparison, int space,
			    uint64_t address)
{
	for (int i = 0; i < REPLAY_THREADS; i++) {
		const struct replay_thread *thread =
			&comparison->processor->instance.threads[i];
		uint64_t a = comparison->a->contexts[i].regs.gpr[X86_RSP];
		uint64_t b = comparison->b->contexts[i].regs.gpr[X86_RSP];

		if (processor_space_of(comparison->processor, i) == space &&
		    replay_is_dead(thread, a, address) &&
		    replay_is_dead(thread, b, address))
			return true;
	}
	return false;
}

/* first: of the liveouts of this page, in ret. */
static bool liveout_add(const struct comparison *comparison, size_t first,
			int space, uint64_t address)
{
	struct liveout next = { .space = space, .address = address, .size = 1 };
	struct vec *all = comparison->ret;

	if (all->count > first) {
		struct liveout *last = vec_at(all, all->count - 1);

		if (last->address + last->size == address) {
			last->size++;
			return true;
		}
	}
	return vec_push(all, &next);
}

static bool liveout_compare_page(const struct comparison *comparison,
				 const struct outcome_page *page,
				 const uint8_t *b)
{
	const uint8_t *a = page->bytes;
	size_t first = comparison->ret->count;

	for (size_t i = 0; i < REPLAY_PAGE; i++) {
		if (a[i] == b[i] ||
		    liveout_is_dead(comparison, page->space, page->address + i))
			continue;
		if (!liveout_add(comparison, first, page->space,
				 page->address + i))
			return false;
	}
	return true;
}

/* A page that one schedule did not change is as it was captured. */
static bool liveout_compare_one(const struct comparison *comparison,
				const struct outcome_page *page,
				const struct outcome_page *other)
{
	const struct space *space = &comparison->processor->spaces[page->space];
	const struct cached_page *original =
		pagecache_find(&space->cache, page->address);

	return liveout_compare_page(comparison, page,
				    other ? other->bytes : original->bytes);
}

struct error *liveout_compare(const struct processor *processor,
			      const struct replay_outcome *a,
			      const struct replay_outcome *b, struct vec *ret)
{
	struct comparison comparison = { processor, a, b, ret };
	bool done = true;

	for (size_t i = 0; i < a->pages.count && done; i++) {
		const struct outcome_page *page = vec_at(&a->pages, i);

		done = liveout_compare_one(&comparison, page,
					   outcome_page(b, page->space,
							page->address));
	}
	for (size_t i = 0; i < b->pages.count && done; i++) {
		const struct outcome_page *page = vec_at(&b->pages, i);

		if (!outcome_page(a, page->space, page->address))
			done = liveout_compare_one(&comparison, page, NULL);
	}
	return done ? NULL : error_nomem;
}

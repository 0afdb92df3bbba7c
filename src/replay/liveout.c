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

static bool liveout_is_dead(const struct comparison *comparison,
			    uint64_t address)
{
	for (int i = 0; i < REPLAY_THREADS; i++) {
		const struct replay_thread *thread =
			&comparison->processor->instance.threads[i];
		uint64_t a = comparison->a->contexts[i].regs.gpr[X86_RSP];
		uint64_t b = comparison->b->contexts[i].regs.gpr[X86_RSP];

		if (replay_is_dead(thread, a, address) &&
		    replay_is_dead(thread, b, address))
			return true;
	}
	return false;
}

static const struct outcome_page *
liveout_page(const struct replay_outcome *outcome, uint64_t address)
{
	for (size_t i = 0; i < outcome->pages.count; i++) {
		const struct outcome_page *page = vec_at(&outcome->pages, i);

		if (page->address == address)
			return page;
	}
	return NULL;
}

/* first: of the liveouts of this page, in ret. */
static bool liveout_add(const struct comparison *comparison, size_t first,
			uint64_t address)
{
	struct liveout next = { .address = address, .size = 1 };
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
				 uint64_t address, const uint8_t *a,
				 const uint8_t *b)
{
	size_t first = comparison->ret->count;

	for (size_t i = 0; i < REPLAY_PAGE; i++) {
		if (a[i] == b[i] || liveout_is_dead(comparison, address + i))
			continue;
		if (!liveout_add(comparison, first, address + i))
			return false;
	}
	return true;
}

/* A page that one schedule did not change is as it was captured. */
static bool liveout_compare_one(const struct comparison *comparison,
				const struct outcome_page *page,
				const struct outcome_page *other)
{
	const struct cached_page *original =
		pagecache_find(&comparison->processor->cache, page->address);

	return liveout_compare_page(comparison, page->address, page->bytes,
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
					   liveout_page(b, page->address));
	}
	for (size_t i = 0; i < b->pages.count && done; i++) {
		const struct outcome_page *page = vec_at(&b->pages, i);

		if (!liveout_page(a, page->address))
			done = liveout_compare_one(&comparison, page, NULL);
	}
	return done ? NULL : error_nomem;
}

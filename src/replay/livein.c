/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Taking an instance; see livein.h.
 */
#include "replay/livein.h"

#include <string.h>

#include "base/error.h"
#include "sys/memory.h"

static void capture_note_absent(struct replay_capture *capture, int space,
				uint64_t page)
{
	if (capture->absent_count < LIKELY_MAX)
		capture->absent[capture->absent_count++] =
			replay_hint(space, page);
}

/*
 * Those that could be read, without gaps, behind those that are there: the last one
 * takes the place of one that could not.
 */
static void capture_compact(struct replay_capture *capture, int space,
			    struct memory_page *pages, size_t count)
{
	uint64_t *addresses = capture->addresses + capture->count;

	for (size_t i = 0; i < count;) {
		if (pages[i].read) {
			addresses[i] = pages[i].address;
			i++;
			continue;
		}
		if (!pages[i].leave_absent)
			capture_note_absent(capture, space, pages[i].address);
		if (--count == i)
			break;
		if (pages[count].read)
			memcpy(pages[i].bytes, pages[count].bytes, REPLAY_PAGE);
		pages[i].address = pages[count].address;
		pages[i].read = pages[count].read;
	}
	capture->count += count;
}

/* By address: pages that follow each other are then read at once. */
static void capture_sort(uint64_t *pages, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint64_t page = pages[i];
		size_t to = i;

		for (; to > 0 && pages[to - 1] > page; to--)
			pages[to] = pages[to - 1];
		pages[to] = page;
	}
}

/* Those from number `from' on. */
static void capture_read(const struct memory *memory, int space,
			 struct likely *likely, size_t from, bool leave_absent,
			 struct replay_capture *capture)
{
	struct memory_page pages[LIKELY_MAX];
	size_t count = likely->count - from;

	if (count > LIKELY_MAX - capture->count)
		count = LIKELY_MAX - capture->count;
	capture_sort(likely->pages + from, count);
	for (size_t i = 0; i < count; i++)
		pages[i] = (struct memory_page){
			.address = likely->pages[from + i],
			.bytes = capture->pages[capture->count + i],
			.leave_absent = leave_absent,
		};
	memory_read_pages(memory, pages, count);
	capture_compact(capture, space, pages, count);
}

/* What is captured of one address space, so far. */
struct capture {
	struct replay_capture *all;
	size_t first; /* of all the pages, its first one */
	int space;
	bool two; /* each thread has its own */
	struct likely likely;
};

/* A word; false: it is not captured. */
static bool capture_word(const struct capture *capture, uint64_t address,
			 uint64_t *ret)
{
	const struct replay_capture *all = capture->all;
	uint64_t page = replay_page_of(address);

	if (address % sizeof(*ret) != 0)
		return false;
	for (size_t i = capture->first; i < all->count; i++) {
		if (all->addresses[i] != page)
			continue;
		memcpy(ret, &all->pages[i][address - page], sizeof(*ret));
		return true;
	}
	return false;
}

static void capture_follow_one(struct capture *capture, uint64_t hint)
{
	struct replay_trail trail;
	uint64_t address, pointer;

	replay_trail_of(hint, &trail);
	if (capture->two &&
	    capture->space != (trail.by_register ? trail.thread : trail.space))
		return;
	address = trail.by_register ? capture->all->threads[trail.thread]
						      .regs.gpr[trail.reg] +
					      (uint64_t)(int64_t)trail.offset
				    : trail.address;
	if (capture_word(capture, address, &pointer) && pointer != 0)
		likely_add(&capture->likely, pointer + trail.behind);
}

static void capture_follow(struct capture *capture,
			   const struct replay_hints *hints)
{
	for (size_t i = 0; i < hints->count && i < REPLAY_HINTS_MAX; i++) {
		if (!replay_hint_is_page(hints->pages[i]))
			capture_follow_one(capture, hints->pages[i]);
	}
}

/* A trail may lead to where another one goes on. */
enum { CAPTURE_TRAILS = 2 };

static void capture_space(const struct memory *memory, struct capture *capture,
			  const struct replay_hints *raced,
			  const struct replay_hints *hints)
{
	struct likely *likely = &capture->likely;
	size_t read = 0;

	capture->first = capture->all->count;
	if (raced)
		likely_add_hints(likely, raced, capture->space);
	if (hints)
		likely_add_hints(likely, hints, capture->space);
	capture_read(memory, capture->space, likely, read, false, capture->all);
	for (int i = 0; i < CAPTURE_TRAILS && hints; i++) {
		read = likely->count;
		capture_follow(capture, hints);
		if (likely->count == read)
			return;
		capture_read(memory, capture->space, likely, read, false,
			     capture->all);
	}
}

struct error *
replay_capture_take(const pid_t tids[REPLAY_THREADS],
		    const struct memory *const memories[REPLAY_THREADS],
		    const struct replay_hints *raced,
		    const struct replay_hints *hints,
		    struct replay_capture *ret)
{
	bool two = memories[0] != memories[1];
	struct capture captures[REPLAY_SPACES] = {
		{ .all = ret, .space = 0, .two = two },
		{ .all = ret, .space = 1, .two = two },
	};

	for (int i = 0; i < REPLAY_THREADS; i++) {
		struct error *err =
			replay_context_read(tids[i], &ret->threads[i]);

		if (err)
			return err;
		likely_add_thread(&captures[two ? i : 0].likely,
				  &ret->threads[i].regs);
	}
	ret->count = ret->absent_count = 0;
	capture_space(memories[0], &captures[0], raced, hints);
	ret->of_first = ret->count;
	if (two)
		capture_space(memories[1], &captures[1], raced, hints);
	return NULL;
}

static bool capture_has(const struct replay_capture *capture, uint64_t page)
{
	for (size_t i = 0; i < capture->count; i++) {
		if (capture->addresses[i] == page)
			return true;
	}
	return false;
}

void replay_capture_add(const struct memory *memory,
			const struct replay_hints *pages,
			struct replay_capture *ret)
{
	struct likely likely = { .count = 0 };

	for (size_t i = 0; i < pages->count && i < REPLAY_HINTS_MAX; i++) {
		if (!capture_has(ret, pages->pages[i]))
			likely_add(&likely, pages->pages[i]);
	}
	capture_read(memory, 0, &likely, 0, true, ret);
	ret->of_first = ret->count;
}

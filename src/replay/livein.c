/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Taking an instance; see livein.h.
 */
#include "replay/livein.h"

#include <string.h>

#include "base/error.h"
#include "sys/memory.h"

/* Those that could be read, without gaps, behind those that are there. */
static void capture_compact(struct replay_capture *capture,
			    const struct memory_page *pages, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!pages[i].read)
			continue;
		if (pages[i].bytes != capture->pages[capture->count])
			memcpy(capture->pages[capture->count], pages[i].bytes,
			       REPLAY_PAGE);
		capture->addresses[capture->count++] = pages[i].address;
	}
}

static void capture_read(const struct memory *memory,
			 const struct likely *likely,
			 struct replay_capture *capture)
{
	struct memory_page pages[LIKELY_MAX];
	size_t count = likely->count;

	if (count > LIKELY_MAX - capture->count)
		count = LIKELY_MAX - capture->count;
	for (size_t i = 0; i < count; i++)
		pages[i] = (struct memory_page){
			.address = likely->pages[i],
			.bytes = capture->pages[capture->count + i],
		};
	memory_read_pages(memory, pages, count);
	capture_compact(capture, pages, count);
}

static void capture_space(const struct memory *memory, struct likely *likely,
			  const struct replay_hints *hints, int space,
			  struct replay_capture *capture)
{
	if (hints)
		likely_add_hints(likely, hints, space);
	capture_read(memory, likely, capture);
}

struct error *
replay_capture_take(const pid_t tids[REPLAY_THREADS],
		    const struct memory *const memories[REPLAY_THREADS],
		    const struct replay_hints *hints,
		    struct replay_capture *ret)
{
	struct likely likely[REPLAY_THREADS] = { { .count = 0 } };
	bool two = memories[0] != memories[1];

	for (int i = 0; i < REPLAY_THREADS; i++) {
		struct error *err =
			replay_context_read(tids[i], &ret->threads[i]);

		if (err)
			return err;
		likely_add_thread(&likely[two ? i : 0], &ret->threads[i].regs);
	}
	ret->count = 0;
	capture_space(memories[0], &likely[0], hints, 0, ret);
	ret->of_first = ret->count;
	if (two)
		capture_space(memories[1], &likely[1], hints, 1, ret);
	return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Taking an instance; see livein.h.
 */
#include "replay/livein.h"

#include <string.h>

#include "base/error.h"
#include "sys/memory.h"

/* Those that could be read, without gaps. */
static void capture_compact(struct replay_capture *capture,
			    const struct memory_page *pages, size_t count)
{
	capture->count = 0;
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

	for (size_t i = 0; i < likely->count; i++)
		pages[i] = (struct memory_page){ .address = likely->pages[i],
						 .bytes = capture->pages[i] };
	memory_read_pages(memory, pages, likely->count);
	capture_compact(capture, pages, likely->count);
}

struct error *replay_capture_take(const pid_t tids[REPLAY_THREADS],
				  const struct memory *memory,
				  const struct replay_hints *hints,
				  struct replay_capture *ret)
{
	struct likely likely = { .count = 0 };

	for (int i = 0; i < REPLAY_THREADS; i++) {
		struct error *err =
			replay_context_read(tids[i], &ret->threads[i]);

		if (err)
			return err;
		likely_add_thread(&likely, &ret->threads[i].regs);
	}
	if (hints)
		likely_add_hints(&likely, hints);
	capture_read(memory, &likely, ret);
	return NULL;
}

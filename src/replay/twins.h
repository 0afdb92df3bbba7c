/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that two programs share (mmap(2), MAP_SHARED), each at an address of its
 * own: the same bytes have the same file, as the kernel numbers it, and the same
 * offset. Text is left out: it does not change.
 */
#ifndef REPLAY_TWINS_H
#define REPLAY_TWINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "replay/livein.h"
#include "replay/pagecache.h"

struct error;

struct twins {
	/* of each program, struct mapping: what it has in shared memory */
	struct vec shared[REPLAY_SPACES];
	uint64_t shift;
};

void twins_init(struct twins *twins);
void twins_deinit(struct twins *twins);

/*
 * Look at all that is mapped in both programs: a question for each mapping. Where
 * one has ended, what is not known is not shared. A program may have mapped the
 * memory twice; then what is this much further in the second program goes first.
 * ERROR_NOMEM only.
 */
struct error *twins_read(struct twins *twins,
			 const struct replay_source sources[REPLAY_SPACES],
			 uint64_t shift);

/* Where the other program has this page of program `space'; false: nowhere. */
bool twins_find(const struct twins *twins, int space, uint64_t page,
		uint64_t *ret);

#endif

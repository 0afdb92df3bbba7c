/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The address spaces of an instance: one if both threads are of one process, else
 * one of each. Each has a scratch process of its own. Only one thread runs at a
 * time: when the other's turn comes, what it has written to memory that both
 * processes have is copied (twins.h). Such memory is known by its address in the
 * first space. Private to src/replay.
 */
#ifndef REPLAY_SPACE_PARTS_H
#define REPLAY_SPACE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "replay/context.h"
#include "replay/livein.h"
#include "replay/pagecache.h"

struct error;
struct processor;
struct scratch;

struct space {
	struct replay_source source;
	struct pagecache cache;
	struct scratch *scratch; /* NULL: to be started */
	struct replay_held held; /* by the scratch process */
	struct vec hazards; /* struct hazard: of the text that was installed */
};

void space_init(struct space *space);
void space_deinit(struct space *space);

/* The number of the space of a thread. */
int processor_space_of(const struct processor *processor, int thread);
struct space *processor_space(struct processor *processor, int thread);

/*
 * The page was put into the cache of the space: so it is into the other's if both
 * have that memory. Captured twice, it is what the first has: a third process may
 * have written in between. ERROR_NOMEM only.
 */
struct error *space_link(struct processor *processor, int space,
			 struct cached_page *page);

/* The same of all that is in the caches. */
struct error *space_link_all(struct processor *processor);

/*
 * The thread runs next, or its memory is looked at or changed: have its space know
 * what the other one's code has written. Errors as of scratch_poke().
 */
struct error *processor_enter(struct processor *processor, int thread);

/*
 * The bytes that a page of the space is to have now, if the other space's code may
 * have written to it: else they are left as they are.
 */
struct error *space_read_twin(const struct processor *processor, int space,
			      const struct cached_page *page, uint8_t *bytes);

/* The space and the address that the memory is known by. */
void space_canonical(const struct processor *processor, int *space,
		     uint64_t *address);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The blocks that allocators gave out and have not got back.
 */
#ifndef RECORDER_HEAP_H
#define RECORDER_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/table.h"

enum { HEAP_BLOCKS_MAX = 1 << 20 };

struct block {
	uint64_t address, size;
	uint64_t sequence;
	uint32_t thread, context;
	uint32_t number; /* the id in the trace; 0: not written */
	uint32_t next; /* unused blocks */
};

struct heap {
	struct records blocks;
	struct table by_address;
	uint32_t unused; /* a list */
	uint32_t numbers; /* given out to blocks in the trace */
	uint32_t *sorted; /* live blocks by address, while a trace ends */
	uint32_t sorted_count;
};

void heap_init(struct heap *heap);
void heap_deinit(struct heap *heap);

/* A new block; NULL when there are HEAP_BLOCKS_MAX. */
struct block *heap_add(struct heap *heap, uint64_t address, uint64_t size);
/* The block that begins at the address; or NULL. */
struct block *heap_find(const struct heap *heap, uint64_t address);
void heap_remove(struct heap *heap, struct block *block);

/*
 * Make heap_containing() work, until heap_unsort() or a block comes or goes;
 * then the block that the address is in, or NULL.
 */
void heap_sort(struct heap *heap);
void heap_unsort(struct heap *heap);
struct block *heap_containing(const struct heap *heap, uint64_t address);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the malloc(3) of the GNU C library lays out its memory on x86-64
 * (malloc/malloc.c and arena.c): chunks, one behind the other. Each begins with a
 * header of two words: the size of the chunk before it, if that is free, and its own
 * size, with three flags in it. What malloc(3) returns is behind the header, and
 * reaches over the first word of the next one.
 */
#ifndef WIRE_CHUNK_H
#define WIRE_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CHUNK_UNIT = 16, /* sizes and addresses of chunks are multiples of it */
	CHUNK_HEADER = 16, /* bytes */
	CHUNK_WORD = 8,
	CHUNK_PAGE = 4096,
	/* flags: the chunk before is in use; mapped alone; not in [heap] */
	CHUNK_PREV_IN_USE = 1,
	CHUNK_MAPPED = 2,
	CHUNK_NON_MAIN = 4,
	CHUNK_FLAGS = 7,
	CHUNK_SIZE_MIN = 32,
};

/* Larger ones are mapped alone, but where a program changes that. */
#define CHUNK_HEAP_MAX (UINT64_C(1) << 32)

static inline uint64_t chunk_size(uint64_t head)
{
	return head & ~(uint64_t)CHUNK_FLAGS;
}

static inline bool chunk_is_mapped(uint64_t head)
{
	return head & CHUNK_MAPPED;
}

static inline bool chunk_is_size(uint64_t size)
{
	return size % CHUNK_UNIT == 0 && size >= CHUNK_SIZE_MIN &&
	       size >> 47 == 0;
}

/*
 * May that be the header of a chunk that is mapped alone? It begins where its pages
 * do, or, where more alignment was asked for, as many bytes behind that as its first
 * word says.
 */
static inline bool chunk_is_mapping(const uint64_t header[2], uint64_t chunk)
{
	return (header[1] & CHUNK_FLAGS) == CHUNK_MAPPED && header[0] < chunk &&
	       header[0] % CHUNK_UNIT == 0 &&
	       (chunk - header[0]) % CHUNK_PAGE == 0 &&
	       (header[0] + chunk_size(header[1])) % CHUNK_PAGE == 0;
}

/* May `next' be the header behind the chunk? The end of a heap is none. */
static inline bool chunk_follows(const uint64_t header[2],
				 const uint64_t next[2])
{
	return chunk_is_size(chunk_size(next[1])) &&
	       !chunk_is_mapped(next[1]) &&
	       ((next[1] & CHUNK_PREV_IN_USE) ||
		next[0] == chunk_size(header[1]));
}

#endif

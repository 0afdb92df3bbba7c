/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What may be the heap block of the raced bytes; see held-parts.h. Every header is
 * looked at whose size reaches over the bytes: those in the page of the bytes and in
 * the page before, and those before what a pointer of the thread points to. What
 * looks like one may be what is left of an earlier one, or data.
 */
#include <string.h>

#include "base/error.h"
#include "sys/memory.h"
#include "tracee/addrspace.h"
#include "tracee/held-parts.h"
#include "wire/chunk.h"

enum { TRIED_MAX = 24 }; /* a system call for each whose end is elsewhere */

/* The two words of a header; false: they were not read. */
static bool read_header(const struct held_scan *scan, uint64_t address,
			uint64_t header[2])
{
	return held_copy(scan->room, address, (uint8_t *)header, CHUNK_HEADER);
}

/* The same, where it is not in the pages that were read. */
static bool fetch_header(const struct held_scan *scan, uint64_t address,
			 uint64_t header[2])
{
	struct error *err;
	size_t size = 0;

	if (read_header(scan, address, header))
		return true;
	err = memory_read(scan->memory, address, header, CHUNK_HEADER, &size);
	error_free(err);
	return !err && size == CHUNK_HEADER;
}

/* Does a chunk with that header reach over the bytes, and not end the heap? */
static bool reaches(const uint64_t header[2], uint64_t chunk, uint64_t address)
{
	uint64_t size = chunk_size(header[1]);

	if (!chunk_is_size(size) || size < address - chunk)
		return false;
	if (!chunk_is_mapped(header[1]))
		return size <= CHUNK_HEAP_MAX;
	return chunk_is_mapping(header, chunk) && address - chunk < size;
}

/* True: it was tried; it is added if what follows is a header, too. */
static bool try_chunk(const struct held_scan *scan, uint64_t chunk,
		      uint64_t address)
{
	struct wire_chunks *chunks = &scan->side->chunks;
	uint64_t header[2], next[2] = { 0 };

	if (!read_header(scan, chunk, header) ||
	    !reaches(header, chunk, address))
		return false;
	if (!chunk_is_mapped(header[1]) &&
	    (!fetch_header(scan, chunk + chunk_size(header[1]), next) ||
	     !chunk_follows(header, next)))
		return true;
	for (uint32_t i = 0; i < chunks->count; i++) {
		if (chunks->chunks[i].address == chunk)
			return true;
	}
	if (chunks->count < WIRE_CHUNKS_MAX)
		chunks->chunks[chunks->count++] = (struct wire_chunk){
			.address = chunk,
			.head = header[1],
			.next = next[1],
		};
	return true;
}

void held_find_chunks(const struct held_scan *scan, uint64_t address)
{
	const struct held_room *room = scan->room;
	uint64_t last = (address - CHUNK_HEADER) & ~(uint64_t)(CHUNK_UNIT - 1);
	unsigned int tried = 0;

	scan->side->chunks.count = 0;
	if (address < HELD_PAGE)
		return;
	for (uint64_t chunk = last;
	     chunk >= (address & ~(uint64_t)(HELD_PAGE - 1)) - HELD_PAGE &&
	     tried < TRIED_MAX;
	     chunk -= CHUNK_UNIT)
		tried += try_chunk(scan, chunk, address);
	for (size_t i = 0; i < room->pointer_count && tried < TRIED_MAX; i++) {
		uint64_t chunk = room->pointers[i] - CHUNK_HEADER;

		if (chunk <= last && chunk % CHUNK_UNIT == 0)
			tried += try_chunk(scan, chunk, address);
	}
}

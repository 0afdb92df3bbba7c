/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What may be the heap block of the raced bytes; see held-parts.h. Every header is
 * looked at whose size reaches over the bytes: those in the page of the bytes and in
 * the page before, and those before what a pointer of the thread points to. What
 * looks like one may be what is left of an earlier one, or data.
 */
#include "tracee/held-parts.h"
#include "wire/chunk.h"

/* The headers whose sizes reach over the bytes. */
struct tried {
	uint64_t chunk, header[2];
};

struct trial {
	const struct held_scan *scan;
	uint64_t address; /* of the bytes */
	struct tried tried[HELD_ENDS];
	size_t count;
};

/* The two words of a header; false: they were not read. */
static bool read_header(const struct held_scan *scan, uint64_t address,
			uint64_t header[2])
{
	return held_copy(scan->room, address, (uint8_t *)header, CHUNK_HEADER);
}

/* Does a chunk with that header reach over the bytes? */
static bool reaches(const struct tried *tried, uint64_t address)
{
	uint64_t size = chunk_size(tried->header[1]);
	uint64_t skip = address - tried->chunk;

	if (!chunk_is_size(size) || size < skip)
		return false;
	if (!chunk_is_mapped(tried->header[1]))
		return size <= CHUNK_HEAP_MAX;
	return chunk_is_mapping(tried->header, tried->chunk) && skip < size;
}

static void try_chunk(struct trial *trial, uint64_t chunk)
{
	struct tried tried = { .chunk = chunk };

	for (size_t i = 0; i < trial->count; i++) {
		if (trial->tried[i].chunk == chunk)
			return;
	}
	if (trial->count < HELD_ENDS &&
	    read_header(trial->scan, chunk, tried.header) &&
	    reaches(&tried, trial->address))
		trial->tried[trial->count++] = tried;
}

/* Those before the bytes, and those that pointers lead to. */
static void try_all(struct trial *trial)
{
	const struct held_room *room = trial->scan->room;
	uint64_t last = (trial->address - CHUNK_HEADER) &
			~(uint64_t)(CHUNK_UNIT - 1);
	uint64_t first =
		(trial->address & ~(uint64_t)(HELD_PAGE - 1)) - HELD_PAGE;

	for (uint64_t chunk = last; chunk >= first; chunk -= CHUNK_UNIT)
		try_chunk(trial, chunk);
	for (size_t i = 0; i < room->pointer_count; i++) {
		uint64_t chunk = room->pointers[i] - CHUNK_HEADER;

		if (chunk <= last && chunk % CHUNK_UNIT == 0)
			try_chunk(trial, chunk);
	}
}

/* It is told if what follows is a header, too. */
static void judge(const struct held_scan *scan, const struct tried *tried)
{
	struct wire_chunks *chunks = &scan->side->chunks;
	uint64_t head = tried->header[1], next[2] = { 0 };

	if (!chunk_is_mapped(head) &&
	    (!read_header(scan, tried->chunk + chunk_size(head), next) ||
	     !chunk_follows(tried->header, next)))
		return;
	if (chunks->count < WIRE_CHUNKS_MAX)
		chunks->chunks[chunks->count++] = (struct wire_chunk){
			.address = tried->chunk,
			.head = head,
			.next = next[1],
		};
}

void held_find_chunks(struct held_scan *scan, uint64_t address)
{
	struct trial trial = { .scan = scan, .address = address };
	uint64_t ends[HELD_ENDS];
	size_t count = 0;

	scan->side->chunks.count = 0;
	/* (at a lower address is no heap, nor a page before the bytes) */
	if (address < (uint64_t)2 * HELD_PAGE)
		return;
	try_all(&trial);
	for (size_t i = 0; i < trial.count; i++) {
		const struct tried *tried = &trial.tried[i];

		if (!chunk_is_mapped(tried->header[1]))
			ends[count++] =
				tried->chunk + chunk_size(tried->header[1]);
	}
	held_gather_ends(scan, ends, count);
	for (size_t i = 0; i < trial.count; i++)
		judge(scan, &trial.tried[i]);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Heap blocks by their headers; see block.h.
 */
#include "conflict/block.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "conflict/conflict.h"
#include "image/maps.h"
#include "report/race.h"
#include "sys/memory.h"
#include "wire/chunk.h"

enum {
	WALK_BYTES = 32 << 10, /* that are read at once */
	WALK_MAX = 64 << 20, /* that are read for one block: some 30 ms */
	/* chunks behind the one that is looked for, which must be sound, too */
	WALK_BEHIND = 8,
	/*
	 * Where the first chunk of a heap may be: behind what the start-up of a
	 * static program takes of [heap], or behind what an arena begins with.
	 */
	FIRST_CHUNK_MAX = 16 << 10,
	FIRST_CHUNKS = 8, /* places that are tried, at most */
	/* malloc/arena.c: the heaps of other arenas than the main one */
	HEAP_MAX = 64 << 20,
	HEAP_INFO_MIN = 32,
	HEAP_INFO_MAX = 128,
	/* no free block is larger and looks as if in use: tcache_max */
	CACHED_MAX = 1040,
	/* smaller ones are mapped alone only if a program asks for that */
	MAPPED_MIN = 128 << 10,
};

/* The chunks of a heap, from its start on. */
struct walk {
	const struct memory *memory;
	uint64_t start, end;
	unsigned int first; /* the flags of its first chunk */
	uint8_t *bytes; /* WALK_BYTES, of which `size' from `at' on are read */
	uint64_t at;
	size_t size, total;
};

static bool walk_read(struct walk *walk, uint64_t address, uint64_t *words,
		      size_t size)
{
	struct error *err;
	uint64_t rest = walk->end - address;

	if (rest < size || address > walk->end)
		return false;
	if (address < walk->at || address - walk->at > walk->size ||
	    walk->size - (address - walk->at) < size) {
		if (walk->total >= WALK_MAX)
			return false;
		walk->at = address;
		walk->size = 0;
		err = memory_read(walk->memory, address, walk->bytes,
				  rest < WALK_BYTES ? rest : WALK_BYTES,
				  &walk->size);
		error_free(err);
		walk->total += WALK_BYTES;
		if (err || walk->size < size)
			return false;
	}
	memcpy(words, walk->bytes + (address - walk->at), size);
	return true;
}

/* The chunk of the bytes, and how many were met behind it. */
struct walked {
	uint64_t chunk, head; /* 0: not yet */
	unsigned int behind;
};

/* Is it the chunk, or behind it? False: the bytes are in none. */
static bool walked_at(struct walked *walked, uint64_t chunk, uint64_t head,
		      uint64_t address, uint64_t size)
{
	uint64_t end = chunk + chunk_size(head) + CHUNK_WORD;

	if (walked->chunk) {
		walked->behind++;
		return true;
	}
	if (end <= address)
		return true;
	if (address < chunk + CHUNK_HEADER || size > end - address)
		return false;
	walked->chunk = chunk;
	walked->head = head;
	return true;
}

/*
 * From that chunk on. The last one of a heap is no block: it is what is left, or
 * shorter than any block.
 */
static bool walk_from(struct walk *walk, uint64_t chunk, uint64_t address,
		      uint64_t size, struct walked *ret)
{
	struct walked walked = { 0 };
	uint64_t header[2], before = 0;

	while (walked.behind < WALK_BEHIND) {
		if (!walk_read(walk, chunk, header, sizeof(header)) ||
		    chunk_is_mapped(header[1]))
			return false;
		if (!(header[1] & CHUNK_PREV_IN_USE) && header[0] != before)
			return false;
		before = chunk_size(header[1]);
		if (walked.chunk && before == CHUNK_UNIT)
			break;
		if (!chunk_is_size(before) || before > walk->end - chunk)
			return false;
		if (before == walk->end - chunk)
			break;
		if (!walked_at(&walked, chunk, header[1], address, size))
			return false;
		chunk += before;
	}
	*ret = walked;
	return walked.chunk;
}

static bool walk_find(struct walk *walk, uint64_t address, uint64_t size,
		      struct walked *ret)
{
	uint64_t start = (walk->start + CHUNK_UNIT - 1) &
			 ~(uint64_t)(CHUNK_UNIT - 1);
	uint64_t header[2];
	int tried = 0;

	for (uint64_t chunk = start;
	     chunk - start < FIRST_CHUNK_MAX && tried < FIRST_CHUNKS;
	     chunk += CHUNK_UNIT) {
		if (!walk_read(walk, chunk, header, sizeof(header)))
			return false;
		if ((header[1] & CHUNK_FLAGS) != walk->first ||
		    !chunk_is_size(chunk_size(header[1])) ||
		    chunk_size(header[1]) > walk->end - chunk)
			continue;
		tried++;
		if (walk_from(walk, chunk, address, size, ret))
			return true;
	}
	return false;
}

/* struct heap_info of malloc/arena.c, as far as all versions have it. */
struct heap_info {
	uint64_t arena, previous, size, writable;
};

static bool is_heap_info(const struct heap_info *info, uint64_t heap)
{
	uint64_t inside = info->arena % HEAP_MAX;

	return inside >= HEAP_INFO_MIN && inside <= HEAP_INFO_MAX &&
	       (info->arena - inside == heap) == (info->previous == 0) &&
	       info->previous % HEAP_MAX == 0 && info->size <= HEAP_MAX &&
	       info->size % CHUNK_PAGE == 0 && info->writable >= info->size &&
	       info->writable <= HEAP_MAX;
}

/* The heap of an arena other than the main one. */
static bool walk_arena(struct walk *walk, uint64_t address)
{
	uint64_t heap = address & ~(uint64_t)(HEAP_MAX - 1);
	struct heap_info info;
	struct error *err;
	size_t size = 0;

	err = memory_read(walk->memory, heap, &info, sizeof(info), &size);
	error_free(err);
	if (err || size != sizeof(info) || !is_heap_info(&info, heap) ||
	    address - heap >= info.size)
		return false;
	walk->start = heap + sizeof(info);
	walk->end = heap + info.size;
	walk->first = CHUNK_PREV_IN_USE | CHUNK_NON_MAIN;
	return true;
}

static bool walk_begin(struct walk *walk, const struct map_entry *entry,
		       uint64_t address)
{
	if (strcmp(entry->path, "[heap]") != 0)
		return walk_arena(walk, address);
	walk->start = entry->start;
	walk->end = entry->end;
	walk->first = CHUNK_PREV_IN_USE;
	return true;
}

static bool read_header(const struct memory *memory, uint64_t chunk,
			uint64_t header[2])
{
	size_t got = 0;
	struct error *err =
		memory_read(memory, chunk, header, CHUNK_HEADER, &got);

	error_free(err);
	return !err && got == CHUNK_HEADER;
}

/*
 * Pages with that header were mapped for a block with more alignment, a power of
 * two: has it a header of its own behind this one (_int_memalign())?
 */
static bool is_for_aligned(const struct memory *memory, uint64_t chunk,
			   uint64_t length)
{
	for (uint64_t alignment = CHUNK_SIZE_MIN; alignment < length;
	     alignment *= 2) {
		uint64_t block = (chunk + CHUNK_HEADER + alignment - 1) &
				 ~(alignment - 1);
		uint64_t lead = block - CHUNK_HEADER - chunk, header[2];

		if (lead < CHUNK_SIZE_MIN)
			lead += alignment;
		if (lead < length &&
		    read_header(memory, chunk + lead, header) &&
		    header[0] == lead &&
		    header[1] == ((length - lead) | CHUNK_MAPPED))
			return true;
	}
	return false;
}

/*
 * A new mapping is put below those that are there, and becomes one with them if they
 * are alike: pages of malloc(3) begin or end it, or more of them follow.
 */
static bool lies_well(const struct memory *memory,
		      const struct map_entry *entry, uint64_t start,
		      uint64_t end)
{
	uint64_t next[2];

	return start == entry->start || end == entry->end ||
	       (read_header(memory, end, next) && next[0] == 0 &&
		chunk_size(next[1]) >= MAPPED_MIN &&
		chunk_is_mapping(next, end));
}

/* Is that the chunk that was handed out, and are these its pages? */
static bool is_handed_out(const struct memory *memory,
			  const struct map_entry *entry, uint64_t chunk,
			  const uint64_t header[2])
{
	uint64_t start = chunk - header[0], first[2];
	uint64_t length = header[0] + chunk_size(header[1]);

	if (start < entry->start || start > entry->end ||
	    length > entry->end - start || length < MAPPED_MIN ||
	    !lies_well(memory, entry, start, start + length))
		return false;
	if (header[0] == 0)
		return !is_for_aligned(memory, chunk, length);
	return read_header(memory, start, first) && first[0] == 0 &&
	       first[1] == (length | CHUNK_MAPPED);
}

/* A chunk that is mapped alone: it was seen, and it is there still. */
static bool is_mapped_alone(const struct memory *memory,
			    const struct map_entry *entry,
			    const struct wire_chunk *chunk, uint64_t address,
			    uint64_t size)
{
	uint64_t length = chunk_size(chunk->head), header[2];
	uint64_t skip = address - chunk->address;

	return chunk_is_mapped(chunk->head) && skip >= CHUNK_HEADER &&
	       skip < length && size <= length - skip &&
	       read_header(memory, chunk->address, header) &&
	       header[1] == chunk->head &&
	       chunk_is_mapping(header, chunk->address) &&
	       is_handed_out(memory, entry, chunk->address, header);
}

/* Was that what was seen then? The flag of the chunk before may have changed. */
static bool is_seen(const struct wire_chunk *chunk, const struct walked *walked)
{
	return chunk->address == walked->chunk &&
	       chunk_size(chunk->head) == chunk_size(walked->head);
}

static enum block_state state_of(const struct wire_chunk *chunk)
{
	if (chunk_is_mapped(chunk->head))
		return BLOCK_IN_USE;
	if (!(chunk->next & CHUNK_PREV_IN_USE))
		return BLOCK_FREE;
	return chunk_size(chunk->head) > CACHED_MAX ? BLOCK_IN_USE
						    : BLOCK_UNKNOWN;
}

static void fill(const struct wire_chunk *chunk, uint64_t address,
		 struct race_block *ret)
{
	ret->address = chunk->address + CHUNK_HEADER;
	ret->offset = address - ret->address;
	ret->size = chunk_size(chunk->head) -
		    (chunk_is_mapped(chunk->head) ? CHUNK_HEADER : CHUNK_WORD);
	ret->state = state_of(chunk);
}

/* The bytes as the process of the stalled thread has them. */
struct search {
	const struct conflict *conflict;
	struct memory memory;
	const struct map_entry *entry;
	uint64_t address, size;
};

/* The next of those that were seen in that process, from *i on. */
static const struct wire_chunk *next_seen(const struct search *search,
					  size_t *i)
{
	for (; *i < (size_t)2 * WIRE_CHUNKS_MAX; ++*i) {
		const struct wire_side *side =
			&search->conflict->wire.sides[*i / WIRE_CHUNKS_MAX];
		size_t n = *i % WIRE_CHUNKS_MAX;

		if (side->pid == search->memory.pid && n < side->chunks.count)
			return &side->chunks.chunks[n];
	}
	return NULL;
}

static bool find_mapped(const struct search *search, struct race_block *ret)
{
	const struct wire_chunk *chunk;

	for (size_t i = 0; (chunk = next_seen(search, &i)); i++) {
		if (!is_mapped_alone(&search->memory, search->entry, chunk,
				     search->address, search->size))
			continue;
		fill(chunk, search->address, ret);
		return true;
	}
	return false;
}

static struct error *find_walking(const struct search *search,
				  struct race_block *ret)
{
	struct walk walk = { .memory = &search->memory };
	const struct wire_chunk *chunk;
	struct walked walked;
	bool found;

	if (!walk_begin(&walk, search->entry, search->address))
		return NULL;
	walk.bytes = malloc(WALK_BYTES);
	if (!walk.bytes)
		return error_nomem;
	found = walk_find(&walk, search->address, search->size, &walked);
	free(walk.bytes);
	for (size_t i = 0; found && (chunk = next_seen(search, &i)); i++) {
		if (!is_seen(chunk, &walked))
			continue;
		fill(chunk, search->address, ret);
		break;
	}
	return NULL;
}

static struct error *find_in(struct search *search, const struct maps *maps,
			     struct race_block *ret)
{
	const struct map_entry *entry = maps_find(maps, search->address);

	if (!entry || entry->inode != 0 || !entry->write || entry->shared)
		return NULL;
	search->entry = entry;
	return find_mapped(search, ret) ? NULL : find_walking(search, ret);
}

struct error *block_find(const struct conflict *conflict,
			 struct race_block *ret)
{
	struct search search = {
		.conflict = conflict,
		.address = conflict->overlap.address,
		.size = conflict->overlap.size,
	};
	size_t first = 0;
	struct error *err;
	struct maps maps;

	search.memory.pid = conflict->wire.sides[0].pid;
	if (!next_seen(&search, &first))
		return NULL;
	maps_init(&maps);
	memory_init(&search.memory, search.memory.pid);
	err = maps_read(search.memory.pid, &maps);
	if (!err)
		err = find_in(&search, &maps, ret);
	memory_deinit(&search.memory);
	maps_deinit(&maps);
	if (err != error_nomem) {
		error_free(err);
		err = NULL;
	}
	return err;
}

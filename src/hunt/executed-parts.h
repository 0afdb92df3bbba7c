/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of executed.h share.
 */
#ifndef HUNT_EXECUTED_PARTS_H
#define HUNT_EXECUTED_PARTS_H

#include "base/map.h"
#include "base/vec.h"
#include "hunt/executed.h"

/* Chunks that stay unpacked, and the bytes that these have in all, but for one. */
enum { EXECUTED_CACHE = 64, EXECUTED_CACHE_BYTES = 128 << 20 };

/* A granule that a chunk writes. Two of them may have one hash. */
struct executed_granule {
	uint32_t hash;
	/*
	 * of the last step that writes it, its number above the chunk's first;
	 * UINT32_MAX: so much, or more
	 */
	uint32_t last;
};

/* A large write. */
struct executed_range {
	uint64_t address, size;
	uint64_t number; /* of its step */
	size_t step; /* its place in the chunk */
};

struct executed_chunk {
	const struct trace_stream *head;
	/* When `indexed': */
	struct vec
		granules; /* of struct executed_granule, by hash, each once */
	struct vec ranges; /* of struct executed_range, by step */
	bool indexed;
	uint64_t searched; /* the last search that has been through its steps */
};

/* A step of an unpacked chunk, and a granule that it writes. */
struct executed_writer {
	uint32_t hash;
	uint32_t step; /* its place in the chunk */
};

/* A chunk that is unpacked. */
struct executed_open {
	const struct trace_stream *head;
	struct unpacked unpacked;
	struct vec writers; /* of struct executed_writer, by hash and step */
	uint64_t used;
};

/*
 * Where a write is among all, by these numbers in turn. An event has the number of
 * the last step of all threads, and comes after that one's stores.
 */
struct executed_position {
	uint64_t number;
	uint64_t event; /* 0: a store; else the thread + 1 */
	uint64_t place;
};

/* Of a search that was made. */
struct executed_result {
	uint64_t address, size;
	struct executed_position before;
	struct executed_write write;
};

/* Those that are kept; with more, all are forgotten. */
enum { EXECUTED_RESULTS = 1 << 18 };

/* Ids below are looked up in an array: a recorder counts from 1. */
enum { EXECUTED_SMALL_IDS = 1 << 20 };

struct executed_thread {
	uint32_t id;
	uint64_t dropped; /* steps, as its last end says */
	struct vec chunks; /* of struct executed_chunk, in order */
};

/* Of executed-moves.c, which makes it when it is asked for the first time. */
struct executed_moves {
	bool is_made;
	struct vec all, parts, sent;
};

struct executed {
	const struct recording *recording;
	struct vec superblocks; /* of struct translated */
	struct map superblock_ids;
	/* those of small ids: the place + 1 of each, 0: none has that id */
	struct vec places; /* of uint32_t */
	struct vec threads; /* of struct executed_thread */
	struct map thread_ids;
	struct vec channels; /* of const struct trace_channel * */
	struct map channel_ids;
	struct executed_moves moves;
	struct executed_totals totals;
	struct executed_open cache[EXECUTED_CACHE];
	uint64_t uses; /* of the cache */
	/* Of executed-writes.c: */
	struct vec by_last; /* of struct executed_chunk *, the last one first */
	uint64_t searches;
	struct map known; /* hashes of searches, to places in `results' */
	struct vec results; /* of struct executed_result */
	struct translated_access *accesses; /* of the step at work */
	size_t accesses_room;
	struct executed_writer *sorting; /* room for sort_writers() */
	size_t sorting_room;
};

/* NULL: it has executed nothing. */
struct executed_thread *executed_thread(const struct executed *executed,
					uint32_t id);

/* Unpack a chunk. */
struct error *executed_unpack(const struct executed *executed,
			      const struct trace_stream *head,
			      struct unpacked *ret);

/*
 * The chunk's steps and writers, which stay until others take their place in the
 * cache. The chunk is indexed then.
 */
struct error *executed_open(struct executed *executed,
			    struct executed_chunk *chunk,
			    const struct executed_open **ret);

#endif

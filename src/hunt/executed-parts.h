/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of executed.h share.
 */
#ifndef HUNT_EXECUTED_PARTS_H
#define HUNT_EXECUTED_PARTS_H

#include "base/map.h"
#include "base/vec.h"
#include "hunt/executed.h"

enum { EXECUTED_CACHE = 8 };

struct executed_granule {
	uint32_t hash;
	uint32_t step; /* the last one that writes it: its place in the chunk */
};

struct executed_chunk {
	const struct trace_stream *head;
	/*
	 * The granules that it writes, by their hashes, each once: when
	 * `indexed'. Two of them may have one hash.
	 */
	struct vec granules; /* of struct executed_granule */
	bool indexed;
	struct vec ranges; /* of struct executed_range: large writes */
};

struct executed_range {
	uint64_t address, size;
};

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
	struct vec threads; /* of struct executed_thread */
	struct map thread_ids;
	struct vec channels; /* of const struct trace_channel * */
	struct map channel_ids;
	struct executed_moves moves;
	struct executed_totals totals;
	struct {
		const struct trace_stream *head;
		struct unpacked unpacked;
		uint64_t used;
	} cache[EXECUTED_CACHE];
	uint64_t uses; /* of the cache */
};

/* NULL: it has executed nothing. */
struct executed_thread *executed_thread(const struct executed *executed,
					uint32_t id);

/* Unpack a chunk. */
struct error *executed_unpack(const struct executed *executed,
			      const struct trace_stream *head,
			      struct unpacked *ret);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The superblocks that the program's code was translated to (TRACE_SUPERBLOCK of
 * hunt/trace-stream.h). The same code translated again is the same superblock.
 */
#ifndef RECORDER_SUPERBLOCKS_H
#define RECORDER_SUPERBLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunt/trace-stream.h"
#include "recorder/table.h"

struct writer;

enum {
	SUPERBLOCK_SLOTS = 192,
	SUPERBLOCK_EXITS = 128,
	SUPERBLOCK_INSTRUCTIONS = 128,
	SUPERBLOCK_WORDS = 400,
	SUPERBLOCK_CODE = 2048,
};

struct superblock {
	uint32_t id;
	uint32_t behind_size;
	struct trace_superblock head;
	unsigned char *behind; /* as in the trace */
	const struct trace_exit *exits; /* head.exits of them, in behind */
	bool written;
};

struct superblocks {
	struct records all;
	struct table by_hash;
};

/* One that is being made. Its arrays may be full: the counts tell. */
struct superblock_draft {
	struct trace_superblock head;
	struct trace_slot slots[SUPERBLOCK_SLOTS];
	struct trace_exit exits[SUPERBLOCK_EXITS];
	uint8_t lengths[SUPERBLOCK_INSTRUCTIONS];
};

void superblocks_init(struct superblocks *superblocks);
void superblocks_deinit(struct superblocks *superblocks);

static inline struct superblock *
superblock_at(const struct superblocks *superblocks, uint32_t id)
{
	return records_at(&superblocks->all, id);
}

/*
 * The one that is as the draft, whose head.size bytes of code are at `code';
 * added if it is new. NULL: there are too many.
 */
struct superblock *superblocks_find(struct superblocks *superblocks,
				    const struct superblock_draft *draft,
				    const void *code);

/*
 * The first instructions of one, which was left behind them; the same for the same
 * number. NULL: there are too many, or it has no more than those.
 */
struct superblock *superblocks_cut(struct superblocks *superblocks,
				   const struct superblock *superblock,
				   uint32_t instructions);

/* To the trace, unless it has it. */
void superblock_write(struct superblock *superblock, struct writer *writer);
/* The trace is another one. */
void superblocks_forget_written(struct superblocks *superblocks);

#endif

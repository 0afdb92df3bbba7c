/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the bytes of a race are: a part of the race record (race.h), to be read and
 * written with it. NULL means unknown.
 */
#ifndef REPORT_VARIABLE_H
#define REPORT_VARIABLE_H

#include <stdint.h>

enum race_region {
	REGION_UNKNOWN,
	REGION_GLOBAL,
	REGION_HEAP,
	REGION_STACK,
	REGION_TLS,
	REGION_MAPPING,
};

/* What the words of the allocator say, while the threads were held. */
enum block_state {
	BLOCK_UNKNOWN, /* in use, or freed and kept for the next of its size */
	BLOCK_IN_USE,
	BLOCK_FREE,
};

struct race_block {
	uint64_t
		address; /* what malloc(3) has returned; 0: in none, or unknown */
	uint64_t offset; /* of the raced bytes in it */
	uint64_t size; /* as malloc_usable_size(3) tells it */
	enum block_state state;
};

struct race_variable {
	char *name; /* "shards[3].used", "counter+8", or NULL */
	char *symbol;
	uint64_t offset; /* of the access in the symbol */
	char *type; /* of the named field, or NULL */
	char *container; /* "struct shard", or NULL */
	char *file; /* of its declaration */
	int line;
	enum race_region region;
	char *module; /* of a global; the mapping's name otherwise; or NULL */
	uint64_t module_offset; /* of the address in that module */
	int owner; /* of a stack: its thread; 0: unknown */
	char *owner_thread; /* the name of that thread */
	struct race_block block;
};

#endif

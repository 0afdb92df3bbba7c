/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sites are accesses in the code, and uses count how often a thread executed a
 * site with a stack top.
 */
#ifndef RECORDER_USES_H
#define RECORDER_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/shadow.h"
#include "recorder/table.h"

enum { USES_MAX = 1 << 20 };

/* As a use, it has a line of the processor's cache to itself. */
struct site {
	uint64_t address; /* of the instruction */
	uint64_t key; /* of the last use; uses_key() */
	struct use *last;
	uint32_t id;
	uint32_t uses; /* a list by `next' */
	uint32_t size; /* bytes */
	uint32_t flags; /* enum trace_access */
	uint32_t function; /* WATCH_STRING; or 0 */
	uint32_t other; /* of a compare-and-swap: the site of its failure */
	bool wanted; /* a cell of it is in the trace */
	uint8_t bytes; /* a bit for each; 0: more than 8 */
	uint8_t unused[14];
};

struct use {
	uint32_t id;
	uint32_t site;
	uint32_t thread, context;
	uint64_t executions;
	uint32_t next : 24; /* of the site */
	uint32_t tag : 8; /* a hash of its site and thread; not 0 */
	uint32_t descriptor; /* the id in the trace; 0: not written */
	struct shadow_memo memo;
};

struct uses {
	struct records sites, all;
	struct table by_site, by_use;
	uint64_t dropped; /* executions whose context was not kept */
};

void uses_init(struct uses *uses);
void uses_deinit(struct uses *uses);

/* Of a thread in a context: what site.key is compared with. */
static inline uint64_t uses_key(uint32_t thread, uint32_t context)
{
	return (uint64_t)thread << 32 | context;
}

static inline struct site *site_at(const struct uses *uses, uint32_t id)
{
	return records_at(&uses->sites, id);
}

static inline struct use *use_at(const struct uses *uses, uint32_t id)
{
	return records_at(&uses->all, id);
}

/* The id of the site of those; added when it is new. 0: there are too many. */
uint32_t uses_site(struct uses *uses, uint64_t address, uint32_t size,
		   uint32_t flags);
/*
 * The same of an instruction in a string function, which gets TRACE_STRING;
 * function 0: in none. NULL: there are too many.
 */
struct site *uses_site_in(struct uses *uses, uint64_t address,
			  uint32_t function, uint32_t size, uint32_t flags);

/*
 * The use for a key that is not site->key, which it becomes. Without room, that
 * of context 0; NULL when there is no room for that either.
 */
struct use *uses_switch(struct uses *uses, struct site *site, uint64_t key);

#endif

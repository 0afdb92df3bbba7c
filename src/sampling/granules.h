/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recent accesses: a table of granules of eight bytes, each with the last
 * accesses to it, by thread and location. Its memory is bounded: the least
 * recently used entries are replaced. Only sampled accesses are entered, so if
 * it has accesses of two threads to the same bytes, these are most likely
 * shared. Pure code.
 */
#ifndef SAMPLING_GRANULES_H
#define SAMPLING_GRANULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/access.h"

enum {
	GRANULE_BYTES = 8,
	GRANULE_ACCESSES = 4, /* kept of each */
	GRANULES_WAYS = 8,
	/* 5 MiB of zeros; only pages that are used take memory */
	GRANULES_SETS = 1 << 13,
	/* accesses after which an older one is forgotten */
	GRANULES_AGE = 1 << 18,
	/* of those that one access met */
	GRANULES_MET_MAX = 16,
};

struct granule_access {
	uint32_t site; /* the caller's number */
	int32_t tid; /* 0: none */
	uint32_t when; /* by the table's count of accesses */
	uint8_t kind; /* enum access_kind */
	uint8_t bytes; /* a bit for each */
};

struct granule {
	uint64_t key; /* of address and process */
	uint32_t when; /* of the last access; 0: none */
	struct granule_access accesses[GRANULE_ACCESSES];
};

struct granules {
	struct granule *table; /* NULL until the first access */
	uint32_t now;
};

void granules_init(struct granules *granules);
void granules_deinit(struct granules *granules);

/* An access by a thread of the process. */
struct granules_event {
	uint32_t site;
	int32_t pid, tid;
	struct mem_access access;
};

/*
 * Enter it. ret_sites are the locations (each once) of earlier accesses of
 * other threads to the same bytes, where one of the two is a write; returns how
 * many there are. When out of memory nothing is entered and nothing found.
 */
size_t granules_add(struct granules *granules,
		    const struct granules_event *event,
		    uint32_t ret_sites[GRANULES_MET_MAX]);

#endif

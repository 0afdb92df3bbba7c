/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages that any race of a program may use; see seeds.h.
 */
#include "replay/seeds.h"

#include "base/error.h"
#include "replay/pagecache.h"
#include "sys/mapping.h"

struct seeds {
	struct replay_hints *hints;
	uint64_t device, inode; /* of the last code */
	uint64_t end; /* of a module's data, behind which its zeros begin */
};

static void add_pages(struct replay_hints *hints, const struct mapping *mapping,
		      size_t most)
{
	uint64_t page = mapping->start;

	for (size_t i = 0;
	     i < most && page < mapping->end && hints->count < REPLAY_HINTS_MAX;
	     i++, page += REPLAY_PAGE)
		replay_hints_add(hints, replay_hint(0, page));
}

static bool is_module(const struct seeds *seeds, const struct mapping *mapping)
{
	return mapping->inode != 0 && mapping->inode == seeds->inode &&
	       mapping->device == seeds->device;
}

static bool take_mapping(void *data, const struct mapping *mapping)
{
	struct seeds *seeds = data;
	bool zeros = mapping->inode == 0 && mapping->start == seeds->end;
	bool private = (mapping->access & (MAPPING_WRITE | MAPPING_SHARED)) ==
		       MAPPING_WRITE;

	seeds->end = 0;
	if (mapping->access & MAPPING_EXECUTE) {
		seeds->device = mapping->device;
		seeds->inode = mapping->inode;
	} else if (private && is_module(seeds, mapping)) {
		add_pages(seeds->hints, mapping, SEEDS_DATA);
		seeds->end = mapping->end;
	} else if (private && zeros) {
		add_pages(seeds->hints, mapping, SEEDS_ZEROS);
	}
	return seeds->hints->count < REPLAY_HINTS_MAX;
}

void seeds_find(struct mappings *mappings, struct replay_hints *ret)
{
	struct seeds seeds = { .hints = ret };

	ret->count = 0;
	error_free(mappings_walk(mappings, 0, take_mapping, &seeds));
}

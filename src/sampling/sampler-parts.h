/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a sampler is made of. Only for src/sampling/sampler*.c.
 * A site's id is its part's number plus one in the upper half and its index in
 * the part's table of sites in the lower. The table grows as functions are
 * decoded, so a site costs nine bytes and one not decoded nothing.
 */
#ifndef SAMPLING_SAMPLER_PARTS_H
#define SAMPLING_SAMPLER_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "sampling/sampler.h"

enum {
	SITE_OUT = 1 << 0,
	SITE_RETIRED = 1 << 1,
	SITE_SAMPLED = 1 << 2,
	SITE_RAN = 1 << 3, /* it was hit, or may have been */
	SITE_ONCE = 1 << 4, /* out, taken by sampler_take_unrun() */
	SITE_LISTED = 1 << 5, /* on the list of all sites (sampler.free) */
	SITE_WARM = 1 << 6, /* on a list of sites of functions that run */
	SITE_PRIVATE = 1 << 7, /* see sampler_note_hit() */
};

/*
 * One function: where its sites are in the part's table. All zero until it is
 * decoded or found to run, so that most of a large program costs no memory.
 */
struct sampler_function {
	uint32_t first, count;
	bool decoded;
	bool runs; /* sampler_runs() */
	bool entry_out; /* taken by sampler_take_entry() */
	bool entry_retired; /* sampler_retire_entry() */
	bool called; /* by one that runs: it is, or was, on the list `callees' */
	/*
	 * hits of its sites: on bytes that only one process has, and on others;
	 * both are halved when there are SAMPLER_HITS of one kind
	 */
	uint8_t hits_private, hits_shared;
};

struct sampler_site {
	uint32_t function, offset;
};

struct sampler_part {
	struct sampler_function *functions;
	uint64_t *starts; /* bytes of the part before each, and in all */
	size_t count;
	uint64_t size; /* bytes */
	size_t undecoded;
	bool own; /* of the program's own modules */
	struct vec sites; /* of struct sampler_site */
	struct vec states; /* of uint8_t */
	bool gone;
	/* of one that has been removed: its last counts */
	uint64_t known_then, sampled_then;
};

enum {
	SAMPLER_BLOCK_BYTES = 256,
	SAMPLER_HITS = 64,
	SAMPLER_DRAWS = 512, /* see sampler.found */
	SAMPLER_STALLS = 256, /* see sampler.stalls_own */
};

static inline struct sampler_part *sampler_part(const struct sampler *sampler,
						size_t i)
{
	return vec_at(&sampler->parts, i);
}

static inline uint64_t site_id(size_t part, size_t site)
{
	return ((uint64_t)part + 1) << 32 | site;
}

/* Blocks to draw, the last of which may be shorter. */
static inline uint64_t sampler_part_blocks(const struct sampler_part *part)
{
	return (part->size + SAMPLER_BLOCK_BYTES - 1) / SAMPLER_BLOCK_BYTES;
}

/* sampler-sites.c: NULL: there is no such site. */
uint8_t *sampler_state(const struct sampler *sampler, uint64_t id);

/* Has the draw of a site that had no sample led to one? */
void sampler_count_draw(struct sampler *sampler, bool found);

/* Take the site out if it is free. */
bool sampler_take(struct sampler *sampler, uint64_t id);

/* The same, if it was never hit, with SITE_ONCE. */
bool sampler_take_once(struct sampler *sampler, uint64_t id);

/* Decode a function, unless it has been. */
struct error *sampler_decode(struct sampler *sampler, size_t number,
			     size_t index);

/*
 * Put a free site on each list that it belongs to; missed: it was hit when no
 * stall was possible. False: out of memory.
 */
bool sampler_offer(struct sampler *sampler, uint64_t id, bool missed);

/*
 * From now on sampler_take_news() begins again with all functions that are
 * known to run.
 */
void sampler_news_again(struct sampler *sampler);

/* The index of the function's first site at this offset or after it. */
size_t sampler_first_site(const struct sampler_part *part,
			  const struct sampler_function *function,
			  uint64_t offset);

#endif

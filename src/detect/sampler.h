/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Uniform draws over the sites of a program, each location as likely as any
 * other (DataCollider, section 3.1), without decoding the program first: a
 * random byte of all function text is drawn, its function decoded (once), and
 * the byte accepted if a free site starts there. That rejection makes the draw
 * exactly uniform over free sites. Once all functions have been decoded (in the
 * background, sampler_work) draws come from a list of the free sites, so that
 * every site can be out at once.
 *
 * Pure code: what a function is, and how it is decoded, is the caller's.
 * Text comes in parts (a module, or some functions of one), numbered in the
 * order of joining.
 */
#ifndef DETECT_SAMPLER_H
#define DETECT_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/vec.h"

struct error;

/*
 * Append the offsets (uint32_t, ascending, below the function's size) of the
 * sites of one function.
 */
struct sampler_text {
	struct error *(*decode)(void *context, uint32_t part, uint32_t function,
				struct vec *offsets);
	void *context;
};

enum sampler_return {
	SAMPLER_FREE, /* may be drawn again */
	SAMPLER_RETIRED, /* never again */
};

struct sampler {
	struct sampler_text text;
	struct rng rng;
	struct vec parts; /* of struct sampler_part */
	uint64_t text_size; /* bytes of all parts present */
	struct vec free; /* of uint64_t ids, when `listed` */
	bool listed;
	size_t work_part, work_function; /* where sampler_work() goes on */
	uint64_t known; /* sites decoded so far, of parts present */
	uint64_t out; /* drawn and not returned, of parts present */
	uint64_t retired; /* of parts present */
	uint64_t sampled; /* distinct sites with a sample, ever */
};

void sampler_init(struct sampler *sampler, const struct sampler_text *text,
		  uint64_t seed);
void sampler_deinit(struct sampler *sampler);

/*
 * Functions join, with the size in bytes of each (at most 2^32 of them, of
 * less than 2^32 bytes each). ERROR_NOMEM.
 */
struct error *sampler_add(struct sampler *sampler, const uint32_t *sizes,
			  size_t count, uint32_t *ret_part);
/* A part's text is gone; its sites are never drawn again. */
void sampler_remove(struct sampler *sampler, uint32_t part);

/*
 * Draw one free site; *ret_id is 0 when there is none left, or none was found
 * in a bounded number of tries. The site is out until it is returned.
 */
struct error *sampler_draw(struct sampler *sampler, uint64_t *ret_id);

/*
 * How many sites of the part are known, and how many were ever sampled; also of
 * one that has gone.
 */
void sampler_count(const struct sampler *sampler, uint32_t part,
		   uint64_t *ret_known, uint64_t *ret_sampled);

/* Where the site is. */
void sampler_locate(const struct sampler *sampler, uint64_t id,
		    uint32_t *ret_part, uint32_t *ret_function,
		    uint32_t *ret_offset);

/* Unknown ids, sites that are not out and gone parts are fine. */
void sampler_return(struct sampler *sampler, uint64_t id,
		    enum sampler_return how);

/* Never draw it again, whether it is out now or not. */
void sampler_retire(struct sampler *sampler, uint64_t id);

/* A sample was taken at the site. */
void sampler_mark(struct sampler *sampler, uint64_t id);

/*
 * Decode functions until the time (clock_now_ns) has come; true when all are
 * decoded.
 */
struct error *sampler_work(struct sampler *sampler, uint64_t until_ns,
			   bool *ret_done);

/* No function is left to decode: `known` is the number of sites. */
bool sampler_complete(const struct sampler *sampler);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Draws sites of a program uniformly over its locations, however often they run
 * (DataCollider, section 3.1), without decoding the program first. Most of a
 * large program never runs, so functions that are known to run are preferred
 * (sampler_runs). Text is divided into blocks of equal size; random blocks are
 * drawn, the functions in them decoded (once), and all free sites of a block
 * put with those of the blocks before it, among which the draw chooses. Each
 * site is in one block, so each is as likely to be drawn, whatever the size of
 * its function and however many sites are around it. Once all functions have
 * been decoded (in the background, sampler_work) draws come from a list of the
 * free sites, so that every site can be out (drawn and not returned) at once.
 *
 * Pure code: the caller provides the functions and decodes them. Text comes in
 * parts (a module, or some functions of one), numbered in the order of joining.
 */
#ifndef SAMPLING_SAMPLER_H
#define SAMPLING_SAMPLER_H

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
	/*
	 * NULL, or append the functions (uint32_t) of the part that one of its
	 * functions calls directly; one may be there twice.
	 */
	struct error *(*callees)(void *context, uint32_t part,
				 uint32_t function, struct vec *functions);
};

enum sampler_return {
	SAMPLER_FREE, /* may be drawn again */
	SAMPLER_RAN, /* the same, and it was hit */
	SAMPLER_MISSED, /* the same, and no stall could be had */
	SAMPLER_RETIRED, /* never again */
};

/*
 * Of uint64_t ids: sites of functions that run. With a sample; hit when no stall
 * could be had, and without a sample; and others. Some are no more free.
 */
struct sampler_warm {
	struct vec sampled, missed, unsampled;
};

struct sampler {
	struct sampler_text text;
	struct rng rng;
	struct vec parts; /* of struct sampler_part */
	uint64_t text_size; /* bytes of all parts present */
	uint64_t blocks; /* of all parts present */
	/* of uint64_t ids: sites of the blocks drawn; some are no more free */
	struct vec reserve;
	struct vec free; /* of uint64_t ids, when `listed` */
	bool listed;
	/* of the program's own modules, and of others */
	struct sampler_warm warm_own, warm;
	/* draws of locations without a sample that led to one, or did not; halved */
	uint32_t found, missed;
	/* stalls in the program's own modules, and in others; halved likewise */
	uint32_t stalls_own, stalls_others;
	/* there are fewer hits than are allowed: see sampler_draw(); the owner's */
	bool repeats;
	bool again; /* sampler_begin_again() */
	uint64_t running; /* functions of which sampler_runs() was told, ever */
	/* of uint64_t: the program's own of them, by sampler_entry() */
	struct vec news;
	size_t news_at; /* sampler_take_news(): the function, and its site */
	uint32_t news_site;
	/* of uint64_t, by sampler_entry(): what those call; some are known to run */
	struct vec callees;
	size_t callees_at; /* sampler_take_callee() */
	uint64_t entries_out; /* of parts present */
	size_t work_part, work_function; /* where sampler_work() goes on */
	uint64_t known; /* sites decoded so far, of parts present */
	uint64_t out; /* drawn and not returned, of parts present */
	uint64_t out_once; /* of these, by sampler_take_unrun() */
	uint64_t retired; /* of parts present */
	uint64_t sampled; /* distinct sites with a sample, ever */
};

void sampler_init(struct sampler *sampler, const struct sampler_text *text,
		  uint64_t seed);
void sampler_deinit(struct sampler *sampler);

/*
 * Functions join, with the size in bytes of each (at most 2^32 of them, of
 * less than 2^32 bytes each); own: of the program's own modules. ERROR_NOMEM.
 */
struct error *sampler_add(struct sampler *sampler, const uint32_t *sizes,
			  size_t count, bool own, uint32_t *ret_part);
/* A part's text is gone; its sites are never drawn again. */
void sampler_remove(struct sampler *sampler, uint32_t part);

/* The bytes of a part; 0: it has gone. */
uint64_t sampler_part_size(const struct sampler *sampler, uint32_t part);

/*
 * Draw one free site; *ret_id is 0 when there is none left, or none was found
 * in a bounded number of blocks. The site is out until it is returned.
 *
 * Seven draws of eight are of functions that run, at least half of these of the
 * program's own modules, and up to four of five, as long as these have less
 * than half of the stalls. Where there are locations that were just hit when no
 * stall could be had, and never had one, at least half are of these. Otherwise
 * each location of what runs is as likely as any other, unless hits are few
 * (repeats) and too many draws lead to no sample, since the location is not
 * reached, or accesses memory that only its process has: then more are of
 * locations that had one. The eighth draw is of any function, so that every
 * location is drawn in the end.
 */
struct error *sampler_draw(struct sampler *sampler, uint64_t *ret_id);

/*
 * How many sites of the part are known, and how many were ever sampled; also of
 * one that has gone.
 */
void sampler_count(const struct sampler *sampler, uint32_t part,
		   uint64_t *ret_known, uint64_t *ret_sampled);

/* Where the site is; false: it is unknown, or has gone. */
bool sampler_locate(const struct sampler *sampler, uint64_t id,
		    uint32_t *ret_part, uint32_t *ret_function,
		    uint32_t *ret_offset);

/* How far a walk over the sites of a part has come; all 0 to begin one. */
struct sampler_walk {
	size_t site; /* the next one */
	bool sampled; /* over those that had a sample too */
};

/*
 * The next site of the part that was not hit, and is free: decodes functions
 * until that time, and looks among those decoded. *ret_id is 0 when there is no
 * more for now. Returned as others.
 */
struct error *sampler_take_unrun(struct sampler *sampler, uint32_t part,
				 uint64_t until_ns, struct sampler_walk *walk,
				 uint64_t *ret_id);

/*
 * The program has ended, and may be executed again. All sites are free, also
 * those that were retired; none was hit. What had a sample and which functions
 * run stays known.
 */
void sampler_begin_again(struct sampler *sampler);

/* Unknown ids, sites that are not out and removed parts are ignored. */
void sampler_return(struct sampler *sampler, uint64_t id,
		    enum sampler_return how);

/* Never draw it again, whether it is out now or not. */
void sampler_retire(struct sampler *sampler, uint64_t id);

/*
 * The id of the site at this offset of a function of the part, which is decoded
 * if need be; *ret_id is 0 if there is none.
 */
struct error *sampler_find(struct sampler *sampler, uint32_t part,
			   uint32_t function, uint32_t offset,
			   uint64_t *ret_id);

/* Is it known, and may it be drawn again? */
bool sampler_lives(const struct sampler *sampler, uint64_t id);

/* A sample was taken at the site. Is it the first there? */
bool sampler_mark(struct sampler *sampler, uint64_t id);

/*
 * Decode functions until the time (clock_now_ns) has come; *ret_done is true when
 * all are decoded, and may be NULL.
 */
struct error *sampler_work(struct sampler *sampler, uint64_t until_ns,
			   bool *ret_done);

/* No function is left to decode: `known` is the number of sites. */
bool sampler_complete(const struct sampler *sampler);
/* The same of one part. */
bool sampler_part_complete(const struct sampler *sampler, uint32_t number);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling set of a live process: the modules of its image, those of their
 * functions that the rules leave in, and a sampler over them. Functions are
 * decoded when a draw falls into them, or in the background.
 */
#ifndef SAMPLING_SAMPLESET_H
#define SAMPLING_SAMPLESET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "sampling/sampler.h"
#include "sampling/scan.h"

struct error;
struct image;
struct module;
struct rules;
struct wire_site;

struct sampleset {
	struct image *image; /* borrowed */
	const struct rules *rules; /* borrowed */
	int pid;
	struct scanner scanner;
	struct sampler sampler;
	struct vec modules; /* of struct sampleset_module: what joined */
	struct vec parts; /* of struct sampleset_part, by sampler part */
	/*
	 * They do not join, but for libc where the program's own modules call
	 * its string functions; set by the owner.
	 */
	bool libraries_wait;
	bool behind; /* modules of the image have not joined yet */
	bool own_behind; /* one of the program's own is among these */
	uint64_t slots_due_ns; /* no look at slots before, unless one joins */
	bool rests; /* sampleset_rest(), and not followed the image since */
	/*
	 * Functions of the program's own modules that are in the set; the
	 * pattern that leaves out others, or NULL.
	 */
	uint64_t own_functions;
	const char *excluded_by;
	/* of the functions decoded so far */
	struct scan_counts counts;
};

/* image and rules must outlive the set. */
struct error *sampleset_init(struct sampleset *set, struct image *image,
			     const struct rules *rules, int pid, uint64_t seed);
void sampleset_deinit(struct sampleset *set);

/*
 * Update the set after each image_refresh(): new modules join, unloaded ones
 * leave, and their address ranges are appended to *gone (struct wire_range).
 * Also looks again for libc's string functions, whose addresses are known only
 * when the loader has resolved them. The program's own modules (rules.h) join
 * first. Modules take time: at until_ns (clock_now_ns), after at least one has
 * joined, the rest is left for another call. So is a large module, unless it is
 * the first of the call or until_ns is UINT64_MAX. ERROR_NOMEM only.
 */
struct error *sampleset_sync(struct sampleset *set, uint64_t until_ns,
			     struct vec *gone);

/*
 * The process has ended. Another execution of its program may take the set over,
 * with what is known of the modules: set->pid and the image are then its
 * (image_take_over()), and the next sampleset_sync() finds the modules' places.
 */
void sampleset_rest(struct sampleset *set);

/* No module is left to join and no function to decode. */
bool sampleset_complete(const struct sampleset *set);
/* The same of the functions of the program's own modules. */
bool sampleset_own_complete(const struct sampleset *set);

/* Is the function of this index in elftext_functions() in the set? */
bool sampleset_samples(const struct sampleset *set, const struct module *module,
		       size_t function);

/*
 * Add the sites of each module (struct run_coverage), also of those that have left.
 * False when out of memory.
 */
bool sampleset_coverage(const struct sampleset *set, struct vec *coverage);

/*
 * Of the sites counted by the sampler, those of the program's own modules, or of
 * others that the user asked for by name.
 */
void sampleset_count_own(const struct sampleset *set, uint64_t *ret_known,
			 uint64_t *ret_sampled);
bool sampleset_site_is_own(const struct sampleset *set, uint64_t id);

/*
 * Draw a site, with all that the tracer needs; ret->id is 0 when there is none.
 */
struct error *sampleset_draw(struct sampleset *set, struct wire_site *ret);

/* The same of a site with a known id; false: it has gone. */
bool sampleset_describe(struct sampleset *set, uint64_t id,
			struct wire_site *ret);

/*
 * The id of the site at an offset of a module, told by its build id, or by its
 * path if that is NULL; *ret_id is 0 if there is none.
 */
struct error *sampleset_find_site(struct sampleset *set, const char *path,
				  const char *build_id, uint64_t offset,
				  uint64_t *ret_id);

/* A module that has joined, each once; NULL: this has returned all. */
struct module *sampleset_take_module(struct sampleset *set);

/* sampleset_find_site() of a module that has joined, by the file's own address. */
struct error *sampleset_find_at(struct sampleset *set,
				const struct module *module, uint64_t address,
				uint64_t *ret_id);

/* The module, which is in the image, joins at once unless it has joined. */
struct error *sampleset_want(struct sampleset *set, struct module *module);

/*
 * These instructions of a module that has joined are sites from now on, whatever
 * the rules say: their addresses (uint64_t, ascending, not sites yet), each the
 * start of an instruction of a known function.
 */
struct error *sampleset_add(struct sampleset *set, const struct module *module,
			    const struct vec *addresses);

/* A site's place in its file, for as long as its module is there. */
struct sampleset_place {
	const struct module *module;
	uint64_t offset; /* the file's own address */
};

/* False: the module has gone, or there is no such site. */
bool sampleset_place(const struct sampleset *set, uint64_t id,
		     struct sampleset_place *ret);

/* How far a walk over the sites has come; all 0 to begin one. */
struct sampleset_walk {
	size_t part;
	struct sampler_walk at; /* in the part */
};

/*
 * The next site of the program's own modules, not those of the system, or of the
 * string functions for which libc joined early, that was not hit and is free; decodes functions until that time. Those that had a sample
 * in an earlier execution come last. ret->id is 0 at the end of the walk.
 */
struct error *sampleset_take_unrun(struct sampleset *set, uint64_t until_ns,
				   struct sampleset_walk *walk,
				   struct wire_site *ret);

/* Is it in a function of a module that has joined? */
bool sampleset_holds(const struct sampleset *set, uint64_t address);

/*
 * Code at this run-time address runs; the set need not have its function.
 * ERROR_NOMEM only.
 */
struct error *sampleset_runs(struct sampleset *set, uint64_t address);

/*
 * The next site of a function of the program's own that has been found to run,
 * which was never hit and is free. False when there is none.
 */
bool sampleset_take_news(struct sampleset *set, struct wire_site *ret);

/* The bytes of those functions of the program's own modules that are in the set. */
uint64_t sampleset_own_text(const struct sampleset *set);

/*
 * A breakpoint at the entry of the next function of the program's own modules
 * that is not known to run, which is not out yet: it has an id with WIRE_ENTRY,
 * to be returned by sampler_return_entry(), and no access. First come those that
 * functions which run call. False at the end of the walk.
 */
bool sampleset_take_entry(struct sampleset *set, struct sampleset_walk *walk,
			  struct wire_site *ret);

#endif

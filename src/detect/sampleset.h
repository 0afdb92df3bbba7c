/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling set of a live process: the modules of its image, those of their
 * functions that the rules leave in, and a sampler over them. Functions are
 * decoded when a draw falls into them, or in the background.
 */
#ifndef DETECT_SAMPLESET_H
#define DETECT_SAMPLESET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "detect/sampler.h"
#include "detect/scan.h"

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
	/* of the functions decoded so far */
	struct scan_counts counts;
};

/* image and rules must outlive the set. */
struct error *sampleset_init(struct sampleset *set, struct image *image,
			     const struct rules *rules, int pid, uint64_t seed);
void sampleset_deinit(struct sampleset *set);

/*
 * Follow the image, after each image_refresh() or image_reset(): modules that
 * came join, those that went leave, and their address ranges are appended to
 * *gone (struct wire_range). Also looks again for libc's string functions,
 * whose addresses are known only when the loader has resolved them.
 * ERROR_NOMEM only.
 */
struct error *sampleset_sync(struct sampleset *set, struct vec *gone);

/* Is the function of this index in elftext_functions() in the set? */
bool sampleset_samples(const struct sampleset *set, const struct module *module,
		       size_t function);

/*
 * Add the sites of each module (struct coverage), also of those that have left.
 * False when out of memory.
 */
bool sampleset_coverage(const struct sampleset *set, struct vec *coverage);

/*
 * Draw a site, with all that the tracer must know of it; ret->id is 0 when
 * there is none.
 */
struct error *sampleset_draw(struct sampleset *set, struct wire_site *ret);

#endif

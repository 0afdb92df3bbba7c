/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts and lists the whole sampling set: every function of every module is
 * decoded once, also those that are left out, so that each rule's count is
 * complete. Streams: memory does not grow with the text.
 */
#ifndef SAMPLING_INVENTORY_H
#define SAMPLING_INVENTORY_H

#include <stddef.h>
#include <stdint.h>

#include "sampling/scan.h"

struct error;
struct image;
struct module;
struct rules;

struct inventory_visitor {
	void *context;
	/* Each site, by module and address; NULL when not wanted. */
	struct error *(*site)(void *context, struct image *image,
			      const struct module *module,
			      const struct elf_function *function,
			      const struct scan_site *site);
	/* After each module; counts are zero for one that cannot be read. */
	struct error *(*module)(void *context, const struct module *module,
				const struct scan_counts *counts);
};

/*
 * pid is that of the image, 0 for a file. Sums of all modules go to *ret.
 */
struct error *inventory_take(struct image *image, const struct rules *rules,
			     int pid, const struct inventory_visitor *visitor,
			     struct scan_counts *ret);

#endif

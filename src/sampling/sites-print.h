/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The two forms in which `racewatch sites` prints: an inventory's visitor each
 * (sampling/inventory.h), on standard output.
 */
#ifndef SAMPLING_SITES_PRINT_H
#define SAMPLING_SITES_PRINT_H

#include <stdbool.h>

#include "base/vec.h"
#include "sampling/inventory.h"
#include "x86/decode.h"

struct sites_output {
	struct decoder *decoder; /* for instruction text */
	bool list; /* sites were listed: no totals in text */
	unsigned int modules; /* printed so far */
	/*
	 * The names of the last function without lines, which are those of all
	 * its sites: to look each up takes long.
	 */
	const struct elf_function *unlined;
	struct vec frames; /* of struct code_frame */
};

/* The context of each function is a struct sites_output. */
struct sites_printer {
	struct error *(*site)(void *context, struct image *image,
			      const struct module *module,
			      const struct elf_function *function,
			      const struct scan_site *site);
	struct error *(*module)(void *context, const struct module *module,
				const struct scan_counts *counts);
	struct error *(*total)(struct sites_output *output,
			       const struct scan_counts *counts);
};

extern const struct sites_printer sites_print_text;
extern const struct sites_printer sites_print_json;

#endif

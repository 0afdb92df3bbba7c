/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One table of functions from symbols and .eh_frame, which may overlap,
 * disagree or be wrong. Private to src/image.
 */
#ifndef IMAGE_FUNCTIONS_H
#define IMAGE_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct elffile;

struct function_sources {
	struct vec code; /* of struct elf_symbol; sorted by the merge */
	/* struct code_range; what is found by its looks is appended */
	struct vec *plt;
};

/* Fill functions (of struct elf_function); false when out of memory. */
bool functions_merge(const struct elffile *file,
		     struct function_sources *sources, struct vec *functions);

#endif

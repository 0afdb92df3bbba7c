/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From names to addresses: where in a module the code of a source line is, or
 * that of a function, all inlined copies included.
 */
#ifndef IMAGE_CODEPLACES_H
#define IMAGE_CODEPLACES_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct image;
struct module;
struct vec;

/* [start, end), the file's own addresses. */
struct code_place {
	uint64_t start, end;
};

/* Is that the file, or function, that is meant? */
struct code_match {
	bool (*file)(void *context, const char *path);
	/* either name may be NULL; linkage: mangled, if anything is */
	bool (*function)(void *context, const char *linkage, const char *name);
	void *context;
};

/* What was seen on the way, to tell why there is nothing. */
struct code_found {
	bool debuginfo; /* the module has debug information */
	bool file; /* the file is in it */
	int line_before, line_after; /* the nearest lines with code; 0: none */
};

/*
 * Append the places of the line (struct code_place), sorted and joined, to
 * *ret_places. The module has a text.
 */
struct error *codeplaces_line(struct image *image, struct module *module,
			      const struct code_match *match, int line,
			      struct vec *ret_places, struct code_found *ret);

/* The same of all functions that match, by symbols and debug information. */
struct error *codeplaces_function(struct image *image, struct module *module,
				  const struct code_match *match,
				  struct vec *ret_places,
				  struct code_found *ret);

#endif

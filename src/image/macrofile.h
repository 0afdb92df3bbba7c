/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The macros that a text defines, the files it includes, and the functions it
 * declares. Private to src/image.
 */
#ifndef IMAGE_MACROFILE_H
#define IMAGE_MACROFILE_H

#include "base/map.h"
#include "base/vec.h"
#include "image/macrotext.h"

/* #include "NAME", or <NAME>. */
struct macro_include {
	struct ctoken name; /* without quotes */
	bool quoted;
};

/* All texts in it point into the files that were read. */
struct macro_file {
	struct vec definitions; /* private to macrofile.c */
	struct map by_name;
	struct map functions;
	struct vec includes; /* of struct macro_include */
};

void macro_file_init(struct macro_file *file);
void macro_file_deinit(struct macro_file *file);

/* Add what a text says; false: there is no memory for all of it. */
bool macro_file_read(struct macro_file *file, const char *text, size_t size);

/* Add "NAME BODY" or "NAME(PARAMETERS) BODY", as after #define. */
bool macro_file_define(struct macro_file *file, const char *text, size_t size);

/* The n-th definition of a name, from 0; false: there are no more. */
bool macro_file_find(const struct macro_file *file, const struct ctoken *name,
		     size_t n, struct macro_definition *ret);

/* Does the text declare or define a function of that name? */
bool macro_file_has_function(const struct macro_file *file,
			     const struct ctoken *name);

#endif

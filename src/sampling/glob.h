/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The --include and --exclude patterns, in the order of the command line. A
 * pattern is matched against a module (its path or the last part of it), a
 * function (its mangled or demangled name) and a source file (as the debug
 * information has it, or the last part of it). Of all patterns that match, the
 * last one decides, so `--exclude '*' --include 'libstore.so*'` leaves one
 * library.
 */
#ifndef SAMPLING_GLOB_H
#define SAMPLING_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct globs {
	struct vec items; /* of struct glob */
};

enum glob_verdict {
	GLOB_NONE, /* no pattern matches: the defaults hold */
	GLOB_INCLUDE,
	GLOB_EXCLUDE,
};

void globs_init(struct globs *globs);
void globs_deinit(struct globs *globs);

/* The pattern is borrowed; false when out of memory. */
bool globs_add(struct globs *globs, const char *pattern, bool include);

/*
 * What the patterns say of a module as a whole. *ret_decided: no pattern that
 * could match a function or file comes later, so that it holds for all of the
 * module's functions.
 */
enum glob_verdict globs_module(const struct globs *globs, const char *path,
			       bool *ret_decided);

/* The same of one function in it. Any of the names may be NULL. */
enum glob_verdict globs_function(const struct globs *globs,
				 const char *module_path, const char *mangled,
				 const char *demangled, const char *file);

/*
 * Pattern i has no effect: functions were compared with it, and it matches none
 * of them, nor a file or module. *ret is the pattern, whatever is returned.
 */
bool globs_unmatched(const struct globs *globs, size_t i, const char **ret,
		     bool *ret_include);

/*
 * The pattern by which a module of this path is left out, or, if it is so by its
 * functions and files, that by which most functions were; NULL: none.
 */
const char *globs_excluding(const struct globs *globs, const char *path);

#endif

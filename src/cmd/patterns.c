/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Patterns in the order of the command line; see patterns.h.
 */
#include "cmd/patterns.h"

#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "detect/glob.h"

/* Add the pattern that lies in this argument, if the list has one. */
static bool patterns_take(const char *argument, const struct vec *list,
			  bool include, struct globs *globs)
{
	size_t length = strlen(argument);

	for (size_t i = 0; i < list->count; i++) {
		const char *pattern = *(const char **)vec_at(list, i);

		if (pattern >= argument && pattern <= argument + length)
			return globs_add(globs, pattern, include);
	}
	return true;
}

struct error *patterns_merge(char *const *argv, const struct vec *include,
			     const struct vec *exclude, struct globs *globs)
{
	for (; *argv; argv++) {
		if (!patterns_take(*argv, include, true, globs) ||
		    !patterns_take(*argv, exclude, false, globs))
			return error_nomem;
	}
	return NULL;
}

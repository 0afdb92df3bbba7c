/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Patterns in the order of the command line; see patterns.h.
 */
#include "cmd/patterns.h"

#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "detect/glob.h"

/* The pattern of the list that lies in this argument, or NULL. */
static const char *pattern_in(const char *argument, const struct vec *list)
{
	size_t length = strlen(argument);

	for (size_t i = 0; i < list->count; i++) {
		const char *pattern = *(const char **)vec_at(list, i);

		if (pattern >= argument && pattern <= argument + length)
			return pattern;
	}
	return NULL;
}

bool patterns_walk(char *const *argv, const struct vec *include,
		   const struct vec *exclude, patterns_take *take,
		   void *context)
{
	for (; *argv; argv++) {
		const char *in = pattern_in(*argv, include);
		const char *out = pattern_in(*argv, exclude);

		if ((in && !take(context, in, true)) ||
		    (out && !take(context, out, false)))
			return false;
	}
	return true;
}

static bool add_glob(void *context, const char *pattern, bool include)
{
	return globs_add(context, pattern, include);
}

static struct error *check_list(const char *option, const struct vec *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (**(const char **)vec_at(list, i) == '\0')
			return error_create(ERROR_USAGE,
					    "option '%s': an empty pattern "
					    "matches nothing",
					    option);
	}
	return NULL;
}

struct error *patterns_check(const struct vec *include,
			     const struct vec *exclude)
{
	struct error *err = check_list("--include", include);

	return err ? err : check_list("--exclude", exclude);
}

struct error *patterns_merge(char *const *argv, const struct vec *include,
			     const struct vec *exclude, struct globs *globs)
{
	struct error *err = patterns_check(include, exclude);

	if (err)
		return err;
	return patterns_walk(argv, include, exclude, add_glob, globs)
		       ? NULL
		       : error_nomem;
}

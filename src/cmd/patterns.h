/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --include and --exclude in the order in which they were given: the last that
 * matches decides (detect/glob.h), and the options' lists do not tell the
 * order between the two.
 */
#ifndef CMD_PATTERNS_H
#define CMD_PATTERNS_H

#include <stdbool.h>

struct error;
struct globs;
struct vec;

/* False ends the walk: out of memory. */
typedef bool patterns_take(void *context, const char *pattern, bool include);

/*
 * Call take for each of the patterns, which are as for patterns_merge(). False
 * when it returned false.
 */
bool patterns_walk(char *const *argv, const struct vec *include,
		   const struct vec *exclude, patterns_take *take,
		   void *context);

/* ERROR_USAGE for an empty one, which matches nothing. */
struct error *patterns_check(const struct vec *include,
			     const struct vec *exclude);

/*
 * Add the patterns (vec of const char *, each in or equal to a string of
 * argv, which must be in its original order). ERROR_NOMEM, or
 * patterns_check().
 */
struct error *patterns_merge(char *const *argv, const struct vec *include,
			     const struct vec *exclude, struct globs *globs);

#endif

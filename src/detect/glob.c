/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The --include and --exclude patterns; see glob.h.
 */
#include "detect/glob.h"

#include <fnmatch.h>
#include <string.h>

struct glob {
	const char *pattern;
	bool include;
};

void globs_init(struct globs *globs)
{
	globs->items = (struct vec)VEC_INIT(struct glob);
}

void globs_deinit(struct globs *globs)
{
	vec_deinit(&globs->items);
}

bool globs_add(struct globs *globs, const char *pattern, bool include)
{
	struct glob glob = { pattern, include };

	return vec_push(&globs->items, &glob);
}

static bool glob_matches(const struct glob *glob, const char *name)
{
	return name && fnmatch(glob->pattern, name, 0) == 0;
}

static bool glob_matches_path(const struct glob *glob, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return glob_matches(glob, path) ||
	       (slash && glob_matches(glob, slash + 1));
}

static enum glob_verdict glob_verdict(const struct glob *glob)
{
	return glob->include ? GLOB_INCLUDE : GLOB_EXCLUDE;
}

enum glob_verdict globs_module(const struct globs *globs, const char *path,
			       bool *ret_decided)
{
	size_t count = globs->items.count;

	for (size_t i = count; i-- > 0;) {
		const struct glob *glob = vec_at(&globs->items, i);

		if (glob_matches_path(glob, path)) {
			*ret_decided = i + 1 == count;
			return glob_verdict(glob);
		}
	}
	*ret_decided = count == 0;
	return GLOB_NONE;
}

enum glob_verdict globs_function(const struct globs *globs,
				 const char *module_path, const char *mangled,
				 const char *demangled, const char *file)
{
	for (size_t i = globs->items.count; i-- > 0;) {
		const struct glob *glob = vec_at(&globs->items, i);

		if (glob_matches_path(glob, module_path) ||
		    glob_matches(glob, mangled) ||
		    glob_matches(glob, demangled) ||
		    glob_matches_path(glob, file))
			return glob_verdict(glob);
	}
	return GLOB_NONE;
}

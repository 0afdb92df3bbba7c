/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The --include and --exclude patterns; see glob.h.
 */
#include "sampling/glob.h"

#include <fnmatch.h>
#include <stdint.h>
#include <string.h>

struct glob {
	const char *pattern;
	bool include;
	/* noted while it is asked: something was compared, and something matched */
	bool tried, matched;
	uint64_t decided; /* functions */
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
	struct glob glob = { .pattern = pattern, .include = include };

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
	size_t count = globs->items.count, found = count;

	for (size_t i = count; i-- > 0;) {
		struct glob *glob = vec_at(&globs->items, i);

		/* those before the one that decides are asked for their own sake */
		if ((found < count && glob->matched) ||
		    !glob_matches_path(glob, path))
			continue;
		glob->matched = true;
		if (found == count)
			found = i;
	}
	*ret_decided = found + 1 == count || count == 0;
	return found < count ? glob_verdict(vec_at(&globs->items, found))
			     : GLOB_NONE;
}

enum glob_verdict globs_function(const struct globs *globs,
				 const char *module_path, const char *mangled,
				 const char *demangled, const char *file)
{
	struct glob *found = NULL;

	for (size_t i = globs->items.count; i-- > 0;) {
		struct glob *glob = vec_at(&globs->items, i);

		glob->tried = true;
		if ((found && glob->matched) ||
		    !(glob_matches_path(glob, module_path) ||
		      glob_matches(glob, mangled) ||
		      glob_matches(glob, demangled) ||
		      glob_matches_path(glob, file)))
			continue;
		glob->matched = true;
		if (!found)
			found = glob;
	}
	if (!found)
		return GLOB_NONE;
	found->decided++;
	return glob_verdict(found);
}

bool globs_unmatched(const struct globs *globs, size_t i, const char **ret,
		     bool *ret_include)
{
	const struct glob *glob = vec_at(&globs->items, i);

	*ret = glob->pattern;
	*ret_include = glob->include;
	return glob->tried && !glob->matched;
}

const char *globs_excluding(const struct globs *globs, const char *path)
{
	const struct glob *most = NULL;

	for (size_t i = globs->items.count; i-- > 0;) {
		const struct glob *glob = vec_at(&globs->items, i);

		if (glob_matches_path(glob, path))
			return glob->include ? NULL : glob->pattern;
	}
	/* functions or files of it, then */
	for (size_t i = 0; i < globs->items.count; i++) {
		const struct glob *glob = vec_at(&globs->items, i);

		if (!glob->include && glob->decided > 0 &&
		    (!most || glob->decided > most->decided))
			most = glob;
	}
	return most ? most->pattern : NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sites by module; see coverage.h.
 */
#include "sampling/coverage.h"

#include <stdlib.h>
#include <string.h>

static struct run_coverage *coverage_find(const struct vec *list,
					  const char *path)
{
	for (size_t i = 0; i < list->count; i++) {
		struct run_coverage *entry = vec_at(list, i);

		if (strcmp(entry->path, path) == 0)
			return entry;
	}
	return NULL;
}

bool coverage_add(struct vec *list, const char *path, uint64_t known,
		  uint64_t sampled)
{
	struct run_coverage *entry = coverage_find(list, path);
	struct run_coverage added = { .path = NULL };
	char *copy;

	if (!entry) {
		added.path = copy = strdup(path);
		if (!copy || !vec_push(list, &added)) {
			free(copy);
			return false;
		}
		entry = vec_at(list, list->count - 1);
	}
	entry->sites_eligible += known;
	entry->sites_sampled += sampled;
	return true;
}

bool coverage_add_all(struct vec *list, const struct vec *other)
{
	for (size_t i = 0; i < other->count; i++) {
		const struct run_coverage *entry = vec_at(other, i);

		if (!coverage_add(list, entry->path, entry->sites_eligible,
				  entry->sites_sampled))
			return false;
	}
	return true;
}

void coverage_deinit(struct vec *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct run_coverage *entry = vec_at(list, i);

		free((char *)(uintptr_t)entry->path);
	}
	vec_deinit(list);
}

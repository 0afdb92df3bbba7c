/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Figures by program; see tally.h.
 */
#include "session/tally.h"

#include <stdlib.h>
#include <string.h>

static struct run_program *tally_at(const struct vec *tallies, size_t i)
{
	return vec_at(tallies, i);
}

size_t tally_find(struct vec *tallies, const char *path)
{
	struct run_program *tally;

	for (size_t i = 0; i < tallies->count; i++) {
		tally = vec_at(tallies, i);
		if (strcmp(tally->path, path) == 0)
			return i;
	}
	tally = vec_append(tallies);
	if (!tally)
		return SIZE_MAX;
	*tally = (struct run_program){ .path = strdup(path) };
	if (tally->path)
		return tallies->count - 1;
	vec_remove(tallies, tallies->count - 1);
	return SIZE_MAX;
}

bool tally_add(struct vec *tallies, const char *path,
	       const struct run_program *figures)
{
	size_t i = tally_find(tallies, path);
	struct run_program *tally;

	if (i == SIZE_MAX)
		return false;
	tally = vec_at(tallies, i);
	tally->processes += figures->processes;
	if (figures->threads > tally->threads)
		tally->threads = figures->threads;
	tally->samples += figures->samples;
	tally->samples_stalled += figures->samples_stalled;
	tally->races += figures->races;
	return true;
}

bool tally_is_told(const struct run_program *tally)
{
	return tally->threads > 1 || tally->samples > 0;
}

static int tally_compare(const void *a, const void *b)
{
	const struct run_program *one = a, *other = b;

	if (one->samples != other->samples)
		return one->samples < other->samples ? 1 : -1;
	return strcmp(one->path, other->path);
}

void tally_sort(struct vec *tallies)
{
	if (tallies->count > 1)
		qsort(tallies->items, tallies->count,
		      sizeof(struct run_program), tally_compare);
}

void tally_deinit(struct vec *tallies)
{
	for (size_t i = 0; i < tallies->count; i++)
		free((char *)(uintptr_t)tally_at(tallies, i)->path);
	vec_deinit(tallies);
}

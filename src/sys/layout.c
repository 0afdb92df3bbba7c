/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is mapped executable, compared; see layout.h.
 */
#include "sys/layout.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/vec.h"
#include "sys/mapping.h"

struct layout {
	struct vec parts; /* of struct mapping: of files, executable */
	bool full; /* there was no memory for another one */
};

static bool layout_add(void *data, const struct mapping *mapping)
{
	struct layout *layout = data;

	layout->full = mapping->inode != 0 &&
		       !vec_push(&layout->parts, mapping);
	return !layout->full;
}

/* Append them; false: they cannot be read. */
static bool layout_read(pid_t pid, struct layout *layout)
{
	struct mappings mappings;
	struct error *err;

	mappings_init(&mappings, pid);
	err = mappings_walk(&mappings, MAPPING_EXECUTE, layout_add, layout);
	mappings_deinit(&mappings);
	error_free(err);
	return !err && !layout->full && layout->parts.count > 0;
}

/* Of the same file, at the same offset. */
static bool part_is_of(const struct mapping *a, const struct mapping *b)
{
	return a->inode == b->inode && a->device == b->device &&
	       a->offset == b->offset;
}

/* Where both have a part, it is at one place; at least one they both have. */
static bool layout_agrees(const struct vec *a, const struct vec *b)
{
	size_t common = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct mapping *x = vec_at(a, i);

		for (size_t j = 0; j < b->count; j++) {
			const struct mapping *y = vec_at(b, j);

			if (!part_is_of(x, y))
				continue;
			if (x->start != y->start || x->end != y->end)
				return false;
			common++;
		}
	}
	return common > 0;
}

static bool layout_same_file(pid_t a, pid_t b)
{
	char path[64];
	struct stat x, y;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)a);
	if (stat(path, &x))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)b);
	return stat(path, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

bool layout_same(pid_t a, pid_t b)
{
	struct layout x = { .parts = VEC_INIT(struct mapping) };
	struct layout y = { .parts = VEC_INIT(struct mapping) };
	bool same = layout_same_file(a, b) && layout_read(a, &x) &&
		    layout_read(b, &y) && layout_agrees(&x.parts, &y.parts);

	vec_deinit(&x.parts);
	vec_deinit(&y.parts);
	return same;
}

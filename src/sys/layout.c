/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is mapped executable, compared; see layout.h.
 */
#include "sys/layout.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/vec.h"

/* A part of a file, mapped executable. */
struct layout_part {
	uint64_t start, end, offset, inode;
	unsigned int dev_major, dev_minor;
};

/* False: the line is of something else. */
static bool layout_parse(const char *line, struct layout_part *ret)
{
	char mode[5];

	return sscanf(line,
		      "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64,
		      &ret->start, &ret->end, mode, &ret->offset,
		      &ret->dev_major, &ret->dev_minor, &ret->inode) == 7 &&
	       mode[2] == 'x' && ret->inode != 0;
}

/* Append them; false: they cannot be read. */
static bool layout_read(pid_t pid, struct vec *parts)
{
	cleanup_free char *line = NULL;
	struct layout_part part;
	char path[64];
	size_t size = 0;
	FILE *file;
	bool good = true;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (good && getline(&line, &size, file) >= 0) {
		if (layout_parse(line, &part))
			good = vec_push(parts, &part);
	}
	good &= !ferror(file);
	fclose(file);
	return good && parts->count > 0;
}

/* Of the same file, at the same offset. */
static bool part_is_of(const struct layout_part *a, const struct layout_part *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && a->offset == b->offset;
}

/* Where both have a part, it is at one place; at least one they both have. */
static bool layout_agrees(const struct vec *a, const struct vec *b)
{
	size_t common = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct layout_part *x = vec_at(a, i);

		for (size_t j = 0; j < b->count; j++) {
			const struct layout_part *y = vec_at(b, j);

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
	struct vec parts_a = VEC_INIT(struct layout_part);
	struct vec parts_b = VEC_INIT(struct layout_part);
	bool same = layout_same_file(a, b) && layout_read(a, &parts_a) &&
		    layout_read(b, &parts_b) &&
		    layout_agrees(&parts_a, &parts_b);

	vec_deinit(&parts_a);
	vec_deinit(&parts_b);
	return same;
}

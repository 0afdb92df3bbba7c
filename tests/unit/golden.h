/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Output compared with a file below tests/data, and streams in memory to make
 * it in. With RACEWATCH_GOLDEN_WRITE set the file is written instead: look at
 * the difference before it is committed.
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "report/render.h"

struct golden {
	char *text;
	size_t size;
	struct renderer renderer;
};

static inline void golden_open(struct golden *golden,
			       const struct renderer_ops *ops)
{
	memset(golden, 0, sizeof(*golden));
	golden->renderer.ops = ops;
	golden->renderer.style.identities = true;
	golden->renderer.out = open_memstream(&golden->text, &golden->size);
	assert_non_null(golden->renderer.out);
}

/* End the document; golden->text is all of it, to be freed. */
static inline void golden_finish(struct golden *golden)
{
	const struct renderer_ops *ops = golden->renderer.ops;

	if (ops->finish)
		assert_null(ops->finish(&golden->renderer));
	fclose(golden->renderer.out);
	golden->renderer.out = NULL;
}

static inline void golden_path(char *path, size_t size, const char *name)
{
	const char *top = getenv("abs_top_srcdir");

	snprintf(path, size, "%s/tests/data/%s", top ? top : ".", name);
}

static inline void golden_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
}

/* The text must be that of tests/data/NAME. */
static inline void golden_is(const char *text, const char *name)
{
	char path[4096];
	char *expected = NULL;
	size_t size = 0;
	FILE *file;

	golden_path(path, sizeof(path), name);
	if (getenv("RACEWATCH_GOLDEN_WRITE"))
		golden_write(path, text);
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s cannot be read", path);
	if (getdelim(&expected, &size, '\0', file) < 0)
		fail_msg("%s is empty", path);
	fclose(file);
	assert_string_equal(text, expected);
	free(expected);
}

/* Finish, compare, and free. */
static inline void golden_end(struct golden *golden, const char *name)
{
	golden_finish(golden);
	golden_is(golden->text, name);
	free(golden->text);
}

#endif

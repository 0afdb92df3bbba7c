/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folded frames; see folding.h.
 */
#include "report/folding.h"

#include <stdbool.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "report/frame.h"

static bool any_own(const struct vec *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		if (race_frame_is_own(vec_at(frames, i)))
			return true;
	}
	return false;
}

size_t folding_count(const struct vec *frames, size_t at)
{
	size_t end = at;

	while (end < frames->count && !race_frame_is_own(vec_at(frames, end)))
		end++;
	return end - at > 1 && any_own(frames) ? end - at : 1;
}

/* Is that library of one of the frames before? */
static bool is_named(const struct vec *frames, size_t from, size_t at,
		     const char *name)
{
	bool same = false;

	for (size_t i = from; !same && i < at; i++) {
		struct strbuf other = { 0 };

		race_frame_add_library(&other, vec_at(frames, i));
		same = strcmp(strbuf_text(&other), name) == 0;
		strbuf_deinit(&other);
	}
	return same;
}

void folding_add(struct strbuf *line, const struct vec *frames, size_t at,
		 size_t count)
{
	strbuf_addf(line, "... %zu frames of ", count);
	for (size_t i = at; i < at + count; i++) {
		struct strbuf name = { 0 };

		race_frame_add_library(&name, vec_at(frames, i));
		if (!is_named(frames, at, i, strbuf_text(&name))) {
			strbuf_add(line, i > at ? ", " : "");
			utf8_add_visible(line, strbuf_text(&name));
		}
		line->failed |= name.failed;
		strbuf_deinit(&name);
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of a frame (field.h), and lists of frames; see frame.h.
 */
#include "report/frame.h"

#include <string.h>

#include "report/field.h"

#define AT(member) FIELD_AT(struct race_frame, member)

static const struct field frame_fields[] = {
	{ "function", FIELD_TEXT, AT(function) },
	{ "file", FIELD_TEXT, AT(file) },
	{ NULL, FIELD_TEXT, AT(folder) },
	{ "line", FIELD_ID, .flags = FIELD_NULL, AT(line) },
	{ "column", FIELD_ID, .flags = FIELD_NULL, AT(column) },
	{ "module", FIELD_TEXT, AT(module) },
	{ "build_id", FIELD_TEXT, AT(build_id) },
	{ "offset", FIELD_ADDRESS, AT(offset) },
	{ "inlined", FIELD_BOOL, AT(inlined) },
	{ "source", FIELD_TEXT, AT(source) },
};

const struct fields race_frame_fields = {
	FIELDS(struct race_frame, frame_fields),
};

bool race_frame_is_wrapper(const char *file)
{
	static const char *const folders[] = { "/usr/include/", "/usr/lib/",
					       "/rustc/", "/usr/src/rustc" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		if (strncmp(file, folders[i], strlen(folders[i])) == 0)
			return true;
	}
	return false;
}

size_t race_frames_find_own(const struct vec *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		const struct race_frame *frame = vec_at(frames, i);

		if (frame->file && !race_frame_is_wrapper(frame->file))
			return i;
	}
	return 0;
}

void race_frames_clear(struct vec *frames)
{
	for (size_t i = 0; i < frames->count; i++)
		fields_deinit(&race_frame_fields, vec_at(frames, i));
	vec_clear(frames);
}

void race_frames_drop_first(struct vec *frames)
{
	fields_deinit(&race_frame_fields, vec_at(frames, 0));
	vec_remove(frames, 0);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of a frame (field.h), and lists of frames; see frame.h.
 */
#include "report/frame.h"

#include <string.h>

#include "base/strbuf.h"
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

const char *race_frame_module(const struct race_frame *frame)
{
	const char *slash = frame->module ? strrchr(frame->module, '/') : NULL;

	return slash ? slash + 1 : frame->module;
}

bool race_frame_is_in(const struct race_frame *frame,
		      const char *const *libraries)
{
	const char *name = race_frame_module(frame);

	for (; name && *libraries; libraries++) {
		if (strncmp(name, *libraries, strlen(*libraries)) == 0)
			return true;
	}
	return false;
}

bool race_frame_is_c_library(const struct race_frame *frame)
{
	static const char *const libraries[] = { "libc.", "libc-", "libpthread",
						 NULL };

	return race_frame_is_in(frame, libraries);
}

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* A list that NULL ends. */
static bool begins_with_one(const char *text, const char *const *starts)
{
	for (; *starts; starts++) {
		if (begins(text, *starts))
			return true;
	}
	return false;
}

bool race_frame_is_wrapper(const char *file)
{
	static const char *const folders[] = { "/usr/include/", "/usr/lib/",
					       "/rustc/", "/usr/src/rustc",
					       NULL };

	return begins_with_one(file, folders);
}

bool race_path_is_system(const char *path)
{
	static const char *const folders[] = { "/lib/", "/lib64/", "/usr/lib/",
					       "/usr/lib64/", NULL };

	return begins_with_one(path, folders);
}

/* Sources of libraries: what their paths begin with or have, and whose they are. */
struct library_sources {
	const char *path;
	bool within; /* anywhere in it; then there is a name */
	const char *name; /* NULL: the folder that follows */
};

/* The first that fits. */
static const struct library_sources library_sources[] = {
	{ "/rustc/", false, "Rust" },
	{ "/usr/src/rustc", false, "Rust" },
	{ "/lib/rustlib/src/", true, "Rust" },
	{ "library/alloc/src/", false, "Rust" },
	{ "library/core/src/", false, "Rust" },
	{ "library/std/src/", false, "Rust" },
	{ "/.cargo/registry/src/", true, "crates" },
	{ "/usr/share/cargo/registry/", false, "crates" },
	{ "/usr/lib/go-", false, "Go" },
	{ "/usr/local/go/src/", false, "Go" },
	{ "/include/c++/v1/", true, "libc++" },
	{ "/usr/include/c++/", false, "libstdc++" },
	{ "/usr/include/x86_64-linux-gnu/c++/", false, "libstdc++" },
	{ "/usr/include/x86_64-linux-gnu/", false, NULL },
	{ "/usr/include/", false, NULL },
	{ "/usr/lib/gcc/", false, "gcc" },
	{ "/usr/lib/", false, NULL },
	/* as glibc is compiled */
	{ "../sysdeps/", false, "libc" },
	{ "./nptl/", false, "libc" },
	{ "./csu/", false, "libc" },
	{ "../csu/", false, "libc" },
};

static const struct library_sources *find_sources(const char *file)
{
	size_t count = sizeof(library_sources) / sizeof(*library_sources);

	for (size_t i = 0; file && i < count; i++) {
		const struct library_sources *sources = &library_sources[i];

		if (sources->within ? strstr(file, sources->path) != NULL
				    : begins(file, sources->path))
			return sources;
	}
	return NULL;
}

/* Functions without a source file: what their names tell; NULL: nothing. */
static const char *library_of_name(const struct race_frame *frame)
{
	static const char *const libc[] = { "_start",
					    "start_thread",
					    "clone3",
					    "__clone3",
					    "__clone",
					    "__libc_start_main",
					    "__libc_start_call_main" };
	/* core:: and alloc:: of Rust may be anybody's in C++ */
	static const char *const std[] = { "std::", "<std::", "__gnu_cxx::",
					   "__rust_", NULL };

	if (frame->file || !frame->function)
		return NULL;
	for (size_t i = 0; i < sizeof(libc) / sizeof(*libc); i++) {
		if (strcmp(frame->function, libc[i]) == 0)
			return "libc";
	}
	return begins_with_one(frame->function, std) ? "std" : NULL;
}

/* A shared object of the system, or of the kernel. */
static bool is_library(const struct race_frame *frame)
{
	static const char *const libraries[] = {
		"libc.",     "libc-",  "libpthread", "ld-linux", "libstdc++",
		"libgcc_s.", "[vdso]", "linux-vdso", NULL
	};

	if (race_frame_is_in(frame, libraries))
		return true;
	return frame->module && race_path_is_system(frame->module) &&
	       strstr(race_frame_module(frame), ".so");
}

bool race_frame_is_own(const struct race_frame *frame)
{
	return !find_sources(frame->file) && !library_of_name(frame) &&
	       !is_library(frame);
}

/* "boost" of "boost/asio.hpp"; a header outside of a folder is the system's. */
static void add_folder(struct strbuf *out, const char *path)
{
	size_t length = strcspn(path, "/");

	if (path[length])
		strbuf_add_bytes(out, path, length);
	else
		strbuf_add(out, "system headers");
}

/* "libstdc++" of "/lib/x86_64-linux-gnu/libstdc++.so.6" */
static void add_module(struct strbuf *out, const char *name)
{
	const char *end = strstr(name, ".so");

	strbuf_add_bytes(out, name, end ? (size_t)(end - name) : strlen(name));
}

void race_frame_add_library(struct strbuf *out, const struct race_frame *frame)
{
	const struct library_sources *sources = find_sources(frame->file);

	if (sources && sources->name)
		strbuf_add(out, sources->name);
	else if (sources)
		add_folder(out, frame->file + strlen(sources->path));
	else if (is_library(frame))
		add_module(out, race_frame_module(frame));
	else if (library_of_name(frame))
		strbuf_add(out, library_of_name(frame));
}

size_t race_frames_find_own(const struct vec *frames)
{
	size_t own = frames->count;

	for (size_t i = 0; i < frames->count; i++) {
		const struct race_frame *frame = vec_at(frames, i);

		if (!race_frame_is_own(frame))
			continue;
		if (frame->file)
			return i;
		own = own < i ? own : i;
	}
	return own < frames->count ? own : 0;
}

const struct race_frame *race_frames_own(const struct vec *frames)
{
	return frames->count > 0 ? vec_at(frames, race_frames_find_own(frames))
				 : NULL;
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

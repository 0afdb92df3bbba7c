/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A frame of a stack in a record: a function, or one that was inlined into the
 * next. Owns its strings; NULL means unknown.
 */
#ifndef REPORT_FRAME_H
#define REPORT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;
struct vec;

struct race_frame {
	char *function; /* demangled; NULL: unknown */
	char *file;
	/* where a relative file was compiled; not in reports; NULL: not known */
	char *folder;
	int line; /* 0: unknown */
	int column; /* 0: unknown */
	char *module; /* path of the object file */
	char *build_id; /* hex, or NULL */
	uint64_t offset; /* of the pc in the module (as in its ELF addresses) */
	bool inlined;
	char *source; /* the text of that line, or NULL */
};

/* The name of its module without the path; NULL: unknown. */
const char *race_frame_module(const struct race_frame *frame);

/* Does that name begin with one of these, a list that NULL ends? */
bool race_frame_is_in(const struct race_frame *frame,
		      const char *const *libraries);

/*
 * In the C library: what it does with memory, its callers do. False for a
 * module that is not known.
 */
bool race_frame_is_c_library(const struct race_frame *frame);

/*
 * Is this a header or source of a language's library, whose functions are wrappers
 * for those who look for their own code?
 */
bool race_frame_is_wrapper(const char *file);

/*
 * The place of the innermost frame that is the program's own and has a source file,
 * or else of the innermost that is its own; 0: there is none.
 */
size_t race_frames_find_own(const struct vec *frames);
/* That frame, or else the innermost; NULL without frames. */
const struct race_frame *race_frames_own(const struct vec *frames);

/* Is it below /lib, /usr/lib or the like, where libraries are installed? */
bool race_path_is_system(const char *path);

/*
 * The program's own code, as people look for it: neither of a source file of a
 * language's library nor in a shared object below such a folder or of the C
 * library and its like. A frame of which nothing is known is the program's own.
 */
bool race_frame_is_own(const struct race_frame *frame);

/* Of one that is not: whose code it is, as "libstdc++", "libc", "Rust". */
void race_frame_add_library(struct strbuf *out, const struct race_frame *frame);

/* Free the strings of all frames and empty the vector. */
void race_frames_clear(struct vec *frames);

/* Free and remove the innermost. */
void race_frames_drop_first(struct vec *frames);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A frame of a stack in a record: a function, or one that was inlined into the
 * next. Owns its strings; NULL means unknown.
 */
#ifndef REPORT_FRAME_H
#define REPORT_FRAME_H

#include <stdbool.h>
#include <stdint.h>

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

/* Free the strings of all frames and empty the vector. */
void race_frames_clear(struct vec *frames);

#endif

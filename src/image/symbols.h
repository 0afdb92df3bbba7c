/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for code addresses: function, file, line, and the frames that were
 * inlined there (libdw; debug-link and build-id files below
 * /usr/lib/debug; never the network).
 */
#ifndef IMAGE_SYMBOLS_H
#define IMAGE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct error;
struct image;
struct module;

struct code_frame {
	char *function; /* demangled; NULL: unknown */
	char *file; /* NULL: unknown */
	/* what a relative file is relative to, where it was compiled; or NULL */
	char *folder;
	int line, column; /* 0: unknown */
	bool inlined; /* into the next frame of the list */
	struct module *module; /* NULL: not in a module */
	uint64_t offset; /* address in the module's file */
};

/*
 * Append the frames at pc (run-time address), innermost first, at least one,
 * to frames (of struct code_frame). For a return address pass the pc and
 * is_return: names are looked up for pc - 1 so that the call itself is named;
 * offset is the looked-up address's. A pc in no module has itself as offset.
 */
struct error *symbols_frames(struct image *image, uint64_t pc, bool is_return,
			     struct vec *frames);

/* Is there debugging information, which names functions without symbols? */
bool symbols_have_debuginfo(struct image *image, struct module *module);

/* Free the strings of all frames and empty the vector. */
void code_frames_clear(struct vec *frames);

#endif

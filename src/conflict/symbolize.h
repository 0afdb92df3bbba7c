/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for a race that was reported without them, from files that the machine
 * it was seen on did not have: its frames have modules, build ids and offsets.
 * A file is looked for below a directory by build id (.build-id/xx/yyy.debug,
 * .build-id/xx/yyy), by the module's path, by its last part, with and without
 * ".debug"; then where the module's path says, and below /usr/lib/debug. It is
 * used only if its build id is the module's; if only others were found, a note
 * names one of them. Of several that match, the first that is not stripped is
 * used.
 */
#ifndef CONFLICT_SYMBOLIZE_H
#define CONFLICT_SYMBOLIZE_H

#include <stdbool.h>

struct error;
struct race;
struct symbolizer;
struct vec;

/* directory: NULL to search only the usual places of modules. */
struct error *symbolizer_create(const char *directory, struct symbolizer **ret);
void symbolizer_destroy(struct symbolizer *symbolizer);

/*
 * A line of a run's table of modules: needed for the build ids of modules that
 * have variables and no frames in a race. If a path is added twice, the last
 * line counts.
 */
struct error *symbolizer_add_module(struct symbolizer *symbolizer,
				    const char *path, const char *build_id);

/*
 * Fill in what is not known of these frames (of struct race_frame), as below;
 * *ret_changed is set, or left alone. After an error frames may be missing.
 */
struct error *symbolize_frames(struct symbolizer *symbolizer,
			       struct vec *frames, bool *ret_changed);

/*
 * Fill in functions, files, lines, columns and inlined frames where function
 * or file is unknown, of both stacks and of those where the threads were
 * created; the names of functions that are known are kept if nothing better is
 * found. Likewise a global variable's name, symbol, offset, type, container,
 * file and line. Both fingerprints are computed anew if anything changed
 * (*ret_changed). ERROR_NOMEM only: a file that is not found, of another build
 * or damaged leaves its frames as they were.
 */
struct error *symbolize_race(struct symbolizer *symbolizer, struct race *race,
			     bool *ret_changed);

#endif

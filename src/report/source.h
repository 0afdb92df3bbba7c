/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source lines for reports, if the sources are at hand. Their paths come from
 * debugging information, which anybody may have written: a file that is not
 * regular, is large or is not text is ignored, and nothing is waited for.
 */
#ifndef REPORT_SOURCE_H
#define REPORT_SOURCE_H

#include <stddef.h>

#include "base/vec.h"

struct opener;
struct race;
struct rights;

struct sources {
	const struct vec *directories; /* of const char *; borrowed */
	struct opener *opener; /* borrowed; NULL: base/opener.h */
	struct vec files; /* of struct source_file: read or found missing */
	size_t bytes; /* that they have in all */
	/* files that are newer than the program that was made of them */
	struct vec newer; /* of char * */
};

/*
 * directories: where files are looked for first, by ever shorter ends of their
 * paths, as a debugger does. Then as they are recorded, where they were
 * compiled.
 */
void sources_init(struct sources *sources, const struct vec *directories);
void sources_deinit(struct sources *sources);

/*
 * Set `source' of the innermost frames of both sides. Without memory, as
 * without a file, there is no line. Files are opened with the rights of the
 * side's process, or NULL: our own.
 */
void sources_describe(struct sources *sources, struct race *race,
		      const struct rights *const rights[2]);

#endif

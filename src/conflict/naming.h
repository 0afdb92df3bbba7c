/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The option --symbolize: adds names from files in a directory to the records
 * of saved reports. This is done while they are read, since races are merged by
 * their names.
 */
#ifndef CONFLICT_NAMING_H
#define CONFLICT_NAMING_H

#include <stdbool.h>

#include "base/map.h"
#include "base/vec.h"

struct error;
struct merge;
struct reader;
struct symbolizer;

struct naming {
	struct symbolizer *symbolizer; /* NULL: nothing is asked for */
	bool changed; /* some name was found */
	/* of the run that is read: for the crashes that name its races */
	struct vec renamed; /* of struct renamed_race */
	struct map by_id; /* place in renamed */
};

/*
 * directory NULL: without the option. Errors: ERROR_USAGE, when it is none. End
 * with naming_deinit(), also after an error.
 */
struct error *naming_init(struct naming *naming, const char *directory);
void naming_deinit(struct naming *naming);

/* As merge_add_all(), with the names that are found. */
struct error *naming_add_all(struct naming *naming, struct merge *merge,
			     struct reader *reader);

#endif

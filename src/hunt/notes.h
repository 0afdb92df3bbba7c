/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the runs of a hunt could not do: each kind of it is told once. Two texts that
 * differ by numbers alone, as of processes and times, are of one kind.
 */
#ifndef HUNT_NOTES_H
#define HUNT_NOTES_H

#include <stdbool.h>

#include "base/vec.h"

struct notes {
	struct vec texts; /* of char * */
};

void notes_init(struct notes *notes);
void notes_deinit(struct notes *notes);

/*
 * Is it the first of its kind? False too for one that comes after 32 kinds, and
 * without memory.
 */
bool notes_is_new(struct notes *notes, const char *text);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A folder for the moment, in $TMPDIR or /tmp. It goes with the process that
 * made it, even when that is killed.
 */
#ifndef HUNT_TEMPFOLDER_H
#define HUNT_TEMPFOLDER_H

#include <sys/types.h>

struct error;

struct tempfolder {
	char *path;
	int fd; /* closed when this process ends */
	pid_t remover; /* a child, which then removes the folder */
};

/* Make racewatch-NAME.XXXXXX. Errors: it cannot be made, named. */
struct error *tempfolder_make(const char *name, struct tempfolder *ret);

/* The folder and the files in it are gone. One that is all zero is fine. */
void tempfolder_remove(struct tempfolder *tempfolder);

#endif

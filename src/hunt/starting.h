/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the recorders that are programs of their own have in common: where their
 * tool is, and how the command is started below them.
 */
#ifndef HUNT_STARTING_H
#define HUNT_STARTING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/vec.h"

struct error;

/* Arguments and environment, each of char *, which starting_deinit() frees. */
struct starting {
	struct vec arguments, environment;
};

void starting_init(struct starting *starting);
void starting_deinit(struct starting *starting);

/* One more argument: name and value, one behind the other. False: no memory. */
bool starting_add(struct starting *starting, const char *name,
		  const char *value);
/*
 * Our environment, with "NAME=VALUE" of own, up to a NULL, in its place; "BEGIN*": no
 * variable whose name begins so.
 */
bool starting_set(struct starting *starting, const char *const *own);

/*
 * The folder that has `file': `inside' one of the build tree where racewatch runs
 * from there (or a test of it does), else the installed one; NULL: neither has
 * it. Not valid after the next call.
 */
const char *starting_folder(const char *inside, const char *installed,
			    const char *file);

/*
 * The path of the command, as execvp(3) finds it; ret has PATH_MAX bytes. Errors:
 * ERROR_NOT_FOUND, ERROR_CANNOT_RUN.
 */
struct error *starting_find(const char *command, char *ret);

/* Start a program with what was added. */
struct error *starting_spawn(struct starting *starting, const char *program,
			     pid_t *ret);

#endif

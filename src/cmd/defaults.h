/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options that a user has written down once: in the environment variable
 * RACEWATCH_OPTIONS (racewatch(1)), for the commands that watch a program. They come
 * before those of the command line, so that these count.
 */
#ifndef CMD_DEFAULTS_H
#define CMD_DEFAULTS_H

#include "base/vec.h"

struct command;
struct error;

#define DEFAULTS_VARIABLE "RACEWATCH_OPTIONS"

/* It is 64 KB long at most. */
enum { DEFAULTS_SIZE_MAX = 1 << 16 };

struct defaults {
	const struct command *const *commands;
	struct vec argv; /* of char *, the last NULL: the command's arguments */
	struct vec owned; /* of char *: words */
};

/*
 * Begin with argv[0] of the command, which is one of `all', add those options that it
 * has, and argv[1] to argv[argc - 1]. Each word is as in a shell, without commands; an
 * option that only other commands have is passed over. The runs of a sweep have none
 * of their own: the sweep passes them on. Nor has a command whose first argument is
 * --help.
 *
 * Errors: ERROR_USAGE, naming the variable. *ret is to be freed after an error, too.
 */
struct error *defaults_read(const struct command *command,
			    const struct command *const *all, int argc,
			    char **argv, struct defaults *ret);
void defaults_deinit(struct defaults *defaults);

#endif

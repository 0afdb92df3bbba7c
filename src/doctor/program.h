/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command to be run, looked at before it is run, so that what cannot work
 * is told by name and remedy rather than by an errno.
 */
#ifndef DOCTOR_PROGRAM_H
#define DOCTOR_PROGRAM_H

#include <stdbool.h>

struct error;

struct program {
	char *path; /* where it was found */
	char *interpreter; /* of a script; NULL otherwise */
	bool is_static; /* no dynamic loader */
	bool privileged; /* set-user-ID, set-group-ID or capabilities */
};

/*
 * Find the command as execvp(3) would, and look at it. ERROR_NOT_FOUND,
 * ERROR_CANNOT_RUN.
 */
struct error *program_inspect(const char *command, struct program *ret);
void program_deinit(struct program *program);

#endif

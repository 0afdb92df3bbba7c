/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks the command before it is run, so that an error names the cause and the
 * remedy instead of an errno.
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
 * Find the command as execvp(3) would, and check it. ERROR_NOT_FOUND,
 * ERROR_CANNOT_RUN.
 */
struct error *program_inspect(const char *command, struct program *ret);
void program_deinit(struct program *program);

#endif

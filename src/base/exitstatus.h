/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The exit statuses of racewatch, except those of the watched program
 * (racewatch(1)).
 */
#ifndef BASE_EXITSTATUS_H
#define BASE_EXITSTATUS_H

#include <sys/wait.h>

enum {
	EXIT_RACES = 66, /* --error-exitcode changes it */
	EXIT_NO_PROOF = 65,
	EXIT_LIMITED = 1, /* doctor: it works, with limits */
	EXIT_CANNOT_WATCH = 69, /* doctor; EX_UNAVAILABLE of sysexits.h */
	EXIT_TIMED_OUT = 124,
	EXIT_FAILED = 125,
	EXIT_CANNOT_RUN = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_USAGE = 2,
};

/* The exit status of what wait(2) says of a process, as a shell has it. */
static inline int exit_status_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

#endif

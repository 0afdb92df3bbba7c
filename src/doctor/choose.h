/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes by what they are, instead of by their ids (racewatch-attach(1)).
 */
#ifndef DOCTOR_CHOOSE_H
#define DOCTOR_CHOOSE_H

#include <stdbool.h>

struct error;
struct vec;

/* What a process is to match; NULL: anything. */
struct choice {
	/* a pattern (glob(7)) of the file name of its executable, or its name */
	const char *name;
	/* of systemd, with or without ".service": its own or one above */
	const char *unit;
	/* of a control group, below /sys/fs/cgroup: its own or one above */
	const char *cgroup;
};

/* Is anything chosen by it? */
bool choice_is_made(const struct choice *choice);

/*
 * Is a process whose /proc/PID/cgroup has that text in the unit and the control
 * group of the choice (cgroups(7))?
 */
bool choice_has_cgroup(const struct choice *choice, const char *text);

/*
 * Does the process match now? Its id may be another process's since it was found, so
 * ask once more when that cannot happen any longer (sys/pidref.h).
 */
bool choice_matches(const struct choice *choice, int pid);

/* What is empty would match everything: ERROR_USAGE. */
struct error *choice_check(const char *value);

/*
 * Add the ids (int) of all processes that match, lowest first, but for our own and
 * those that have ended. Of the executables of other users only the kernel's names
 * may be known. ERROR_REFUSED: none does.
 */
struct error *choice_find(const struct choice *choice, struct vec *pids);

#endif

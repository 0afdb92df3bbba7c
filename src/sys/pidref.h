/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A reference to a process that is not our child, so that a later process with
 * the same id is not mistaken for it: by a pidfd (pidfd_open(2)) and, where
 * those are refused or missing (before Linux 5.3), by its start time.
 */
#ifndef SYS_PIDREF_H
#define SYS_PIDREF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

struct pidref {
	pid_t pid; /* 0: none */
	int fd; /* -1: no pidfd */
	uint64_t start_time;
};

/* pid is of a process, not of a thread. error_gone when there is none. */
struct error *pidref_open(pid_t pid, struct pidref *ret);
void pidref_close(struct pidref *ref);

/* Does the id still belong to that process (which may be a zombie)? */
bool pidref_valid(const struct pidref *ref);

/* Send a signal to that process and no other; error_gone when it has ended. */
struct error *pidref_signal(const struct pidref *ref, int signal);

#endif

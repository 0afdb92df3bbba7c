/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a process that reads files and memory of strangers gives up: capabilities,
 * the right to gain privileges by executing a program, and system calls that it
 * never needs. These fail with an error then (EPERM, EROFS; ENOSYS where the C
 * library has another way); none ends the process. Not to be undone, and inherited
 * by children.
 *
 * It is a list of what is refused, not of what is allowed: libelf, libdw,
 * libunwind, SQLite and the C library make other calls in each version.
 */
#ifndef SYS_SANDBOX_H
#define SYS_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;

struct sandbox {
	/*
	 * Files may be made, opened for writing, renamed, ...; and so may the
	 * memory of processes; and perf_event_open(2)
	 */
	bool writes;
	/*
	 * Sockets may be made, and processes that were started for that ended: if
	 * not, only these may be sent signals, and the process itself
	 */
	bool connects;
	pid_t pids[2];
};

/*
 * Enter it. Files that are open stay as they are, so does the right to read what
 * the process could read: CAP_SYS_PTRACE and what else that takes is kept. An
 * error says what could not be given up; the rest was.
 */
struct error *sandbox_enter(const struct sandbox *sandbox);

#endif

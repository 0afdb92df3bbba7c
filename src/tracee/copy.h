/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of a fork child, a copy of a watched process's with the breakpoints
 * that were armed there. A child whose parent has made itself not dumpable, as
 * programs that hold keys do (prctl(2), PR_SET_DUMPABLE), is not either: then
 * without CAP_SYS_PTRACE neither its files in /proc can be opened, nor does
 * ptrace(2) access its memory. The child is made dumpable for the time being, by a
 * system call of its own, unless it has a filter for those (seccomp(2)): that may
 * kill it.
 */
#ifndef TRACEE_COPY_H
#define TRACEE_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/memory.h"

struct addrspace;
struct error;

struct copy {
	struct memory memory;
	pid_t tid; /* in ptrace-stop; 0: there is none */
	uint64_t call; /* of a syscall instruction; 0: none is known */
	bool opened; /* its process was not dumpable, and is now */
};

/*
 * Open the memory of the process pid, a copy of origin's. tid: a thread of it in
 * ptrace-stop, before copy_close() not resumed; 0: none, then nothing is done
 * about a process that is not dumpable. call: of a syscall instruction there; 0:
 * not known, then a thread shows one that is stopped behind it, as one that has
 * just been born; without any, nothing is done either.
 */
void copy_open(struct copy *copy, pid_t pid, pid_t tid,
	       const struct addrspace *origin, uint64_t call);

/* Make it again what it was. An error: it stays dumpable. */
struct error *copy_close(struct copy *copy);

#endif

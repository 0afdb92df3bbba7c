/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where /proc/PID/mem refuses writes (proc_mem.force_override), text is written
 * by ptrace(2), which needs a stopped thread: one is found, or a thread is
 * stopped.
 */
#ifndef TRACEE_WRITER_H
#define TRACEE_WRITER_H

#include <sys/types.h>

struct addrspace;
struct tracees;

/*
 * A thread in ptrace-stop through which text can be written: 0 if none is
 * needed for this space, or none can be stopped. The thread stays stopped until
 * its stop is handled, which tracees_take_early() returns.
 */
pid_t writer_thread(struct tracees *tracees, const struct addrspace *space);

/*
 * Give every space of that program which needs one its writer, until
 * writer_end().
 */
void writer_begin(struct tracees *tracees, struct addrspace *space);
void writer_end(struct addrspace *space);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where /proc/PID/mem takes no writes (proc_mem.force_override), text is
 * written by ptrace(2), which needs a stopped thread: one is found or made.
 */
#ifndef TARGET_WRITER_H
#define TARGET_WRITER_H

#include <sys/types.h>

struct addrspace;
struct engine;

/*
 * A thread in ptrace-stop through which text can be written: 0 if none is
 * needed for this space, or none can be stopped. The thread stays stopped
 * until writer_settle(), or its own stop is handled.
 */
pid_t writer_thread(struct engine *engine, const struct addrspace *space);

/*
 * Give every space of that program which needs one its writer, until
 * writer_end().
 */
void writer_begin(struct engine *engine, struct addrspace *space);
void writer_end(struct addrspace *space);

/* Handle the stops that were waited for on the way. */
void writer_settle(struct engine *engine);

#endif

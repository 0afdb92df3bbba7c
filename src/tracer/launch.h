/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Begins to trace the target: a command that we start, or a live process. */
#ifndef TRACER_LAUNCH_H
#define TRACER_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct engine;
struct error;
struct pidref;
struct process;

struct launch {
	char *const *argv;
	bool no_aslr;
	bool silent; /* its standard streams are /dev/null */
	/*
	 * what the command gets instead of what the tracer changed for itself
	 */
	const sigset_t *mask;
	const struct sigaction *child_action; /* of SIGCHLD */
};

/*
 * Fork, seize the child with exit-kill, and let it execute argv. Its exec event
 * moves the engine to PHASE_WATCHING. ERROR_NOT_FOUND and ERROR_CANNOT_RUN
 * name the command.
 */
struct error *launch_command(struct engine *engine,
			     const struct launch *launch);

/*
 * Seize all threads of a process until their list is stable. Its first thread
 * may have exited. meant: error_gone if pid now belongs to another process; the
 * engine takes it over. NULL: any process with the pid. After error_gone, the
 * engine knows nothing of a process that ended before any of its threads was
 * seized.
 */
struct error *launch_attach(struct engine *engine, pid_t pid,
			    const struct pidref *meant);

/*
 * Seize those threads of the process that are not traced yet, until a scan shows
 * none. *ret_grew: there were some.
 */
struct error *launch_seize_new(struct engine *engine, struct process *process,
			       bool *ret_grew);

/*
 * Seize a process in the memory of a watched one, which was made before that was
 * attached to: it is as if its birth had been announced. error_gone: it has ended.
 */
struct error *launch_guest(struct engine *engine, const struct process *parent,
			   pid_t pid);

#endif

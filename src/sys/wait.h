/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stops and ends of tracees as values; no other module uses the raw wait
 * status. See ptrace(2), "Stopped states".
 */
#ifndef SYS_WAIT_H
#define SYS_WAIT_H

#include <stdbool.h>
#include <sys/types.h>

struct error;

enum stop_kind {
	STOP_EXITED, /* status: exit status; the thread is gone */
	STOP_KILLED, /* signal: the one that killed it; it is gone */
	STOP_SIGNAL, /* signal-delivery-stop; resume with that signal or 0 */
	STOP_GROUP, /* group-stop by `signal`: listen, do not continue */
	STOP_INTERRUPTED, /* our interrupt, or the first stop of a new thread */
	STOP_CLONE, /* event message: tid of the new thread */
	STOP_FORK,
	STOP_VFORK,
	STOP_VFORK_DONE,
	STOP_EXEC, /* event message: former tid */
	STOP_OTHER_EVENT, /* continue it */
};

struct stop_reason {
	pid_t tid;
	enum stop_kind kind;
	int signal;
	int status; /* exit status of STOP_EXITED */
	int raw; /* as wait(2) gave it */
};

/*
 * The next stop or end of any tracee or child, without waiting. *ret_found is
 * false when there is none now; error_gone when there are no tracees at all.
 */
struct error *wait_next(struct stop_reason *ret, bool *ret_found);

/*
 * The same without errors: false if there is no stop, or if there are no
 * tracees.
 */
bool wait_came(struct stop_reason *ret);

/* As wait_next, for one thread, waiting for it. */
struct error *wait_thread(pid_t tid, struct stop_reason *ret);

/*
 * The same, for a stop only: if the thread has ended, error_gone; its end can
 * still be waited for.
 */
struct error *wait_thread_stop(pid_t tid, struct stop_reason *ret);

#endif

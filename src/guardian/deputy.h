/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A second thread of the tracer, which waits for stops when the first one is
 * stuck. When a tracer dies, a tracee whose stop was not waited for continues
 * with the signal that it stopped for: it dies of the SIGTRAP of our
 * breakpoint. One whose stop was waited for continues without the signal. Any
 * thread of the tracer's process may wait for its tracees, though only the
 * first may make ptrace(2) requests. So before the guardian kills a stuck
 * tracer, it has this thread wait, and then sets rip back itself (guardtend.h)
 * and sends again what was meant for the program (guardstuck.h). The thread
 * also closes the tracer's files, which removes the watchpoints of perf.
 */
#ifndef GUARDIAN_DEPUTY_H
#define GUARDIAN_DEPUTY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/wait.h"

struct error;

enum {
	/* stops that are waited for at most; there may be more threads */
	DEPUTY_STOPS = 4096,
};

struct deputy_stop {
	pid_t tid;
	enum stop_kind kind;
	int signal; /* of STOP_SIGNAL and STOP_GROUP */
};

/* Shared with the guardian; all zero at first. */
struct deputy {
	uint32_t asked; /* counted up by the guardian */
	uint32_t answered; /* the last question that was answered */
	uint32_t count; /* of stops; counted up when one has been written */
	struct deputy_stop stops[DEPUTY_STOPS];
};

/* In the tracer: start the thread. It ends with the process. */
struct error *deputy_start(struct deputy *deputy);

/*
 * In the guardian: have the deputy wait for all stops until now. False: it did
 * not answer in time.
 */
bool deputy_ask(struct deputy *deputy, uint64_t timeout_ns);

/* In the guardian: how many stops have been waited for, and can be read. */
uint32_t deputy_count(const struct deputy *deputy);

/* In the guardian: was a SIGTRAP of this thread waited for? */
bool deputy_has_trap(const struct deputy *deputy, pid_t tid);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that ends the trace when the recorded process was killed by SIGKILL, which
 * leaves no time for it. It shares all memory with it (clone(2), CLONE_VM), so that
 * what is recorded lies where it always does and costs nothing more, and is still
 * there afterwards. Until then it waits. It is nobody's child, has no descriptors
 * but the trace's, takes no signals and is in a session of its own.
 *
 * Who kills it too, as the kernel does when there is no memory left, gets a trace
 * that was cut off. It needs Linux 5.9: pidfd_open(2), close_range(2).
 */
#ifndef RECORDER_HEIR_H
#define RECORDER_HEIR_H

#include <stdbool.h>
#include <stdint.h>

struct heir {
	void (*act)(
		void *context); /* what it does when the process was killed */
	void *context;
	int fd; /* of the trace: open there, too */
	int pid; /* of the recorded process */
	int number; /* of the heir: its pid */
	int pidfd; /* of the heir, behind fd; -1: there is none */
	void *stack; /* HEIR_STACK bytes; kept for the next one */
	uint32_t ready; /* a futex: HEIR_READY or HEIR_FAILED */
};

enum { HEIR_STACK = 1 << 18, HEIR_READY = 1, HEIR_FAILED = 2 };

/* Zeroed memory becomes one that has not been started. */
void heir_init(struct heir *heir);

/*
 * Start it: act(context) is called in it once no thread of this process is there any
 * more, with all memory as these have left it, locks included. The trace is
 * locked (flock(2)) until both have closed it. False: this system has none.
 */
bool heir_start(struct heir *heir, int fd, void (*act)(void *context),
		void *context);

/* The trace has ended, or is to end otherwise: it goes, and does nothing. */
void heir_dismiss(struct heir *heir);

/* This is a child process by fork(2): the heir is that of its parent. */
void heir_fork(struct heir *heir);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is the tracer stuck? It counts the passes of its event loop in memory that it
 * shares with the front end and the guardian; these check the count four times
 * a second.
 *
 * A pass takes at most 200 ms when there are no events. If the count does not
 * change, and the tracer waits in the kernel at HEARTBEAT_BLOCKED checks in a
 * row (3 s) without running in between, it is stuck: its longest normal wait is
 * for a few pages from a disk. On a loaded machine it may also wait for a
 * processor, or for threads of the program that do: those that it stops, and
 * each that has reported a stop and is still on its processor, for which
 * ptrace(2) sleeps repeatedly. While it is ready to run, or runs now and then,
 * it has HEARTBEAT_STARVED checks (30 s). We count checks, not time, so that
 * the time for which the whole machine was suspended does not count. A tracer
 * that was stopped by SIGSTOP is recognized at once, and is continued after
 * HEARTBEAT_STOPPED checks (1 s).
 */
#ifndef GUARDIAN_HEARTBEAT_H
#define GUARDIAN_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"

#define HEARTBEAT_LOOK_NS (CLOCK_NS_PER_S / 4)

enum {
	HEARTBEAT_STOPPED = 4, /* looks */
	HEARTBEAT_BLOCKED = 12,
	HEARTBEAT_STARVED = 120,
};

/* Shared; all zero before the tracer's loop begins. */
struct heartbeat {
	uint32_t beats; /* 0: not begun, or ended */
	uint32_t killed; /* the tracer was found stuck, and ended */
};

struct error;

struct error *heartbeat_create(struct heartbeat **ret);
void heartbeat_destroy(struct heartbeat *heartbeat);

/* In the tracer: another turn. */
void heartbeat_beat(struct heartbeat *heartbeat);
/* In the tracer: there will be no more. */
void heartbeat_end(struct heartbeat *heartbeat);

enum heartbeat_verdict {
	HEARTBEAT_WELL, /* or it is too early to tell */
	HEARTBEAT_CONTINUE, /* it was stopped: SIGCONT */
	HEARTBEAT_STUCK,
};

/* One who looks; all zero at first. */
struct heartbeat_watch {
	uint64_t due_ns; /* of the next look */
	uint32_t beats; /* at the last one */
	unsigned int stopped, blocked, starved; /* looks since then */
	uint64_t ran_ns; /* the tracer's CPU time at the last one */
};

/* A look, if one is due. */
enum heartbeat_verdict heartbeat_look(struct heartbeat_watch *watch,
				      const struct heartbeat *heartbeat,
				      pid_t tracer, uint64_t now);

/*
 * One check of a tracer in this state (proc(5), "State:"), with this CPU time.
 */
enum heartbeat_verdict heartbeat_judge(struct heartbeat_watch *watch,
				       uint32_t beats, char state,
				       uint64_t ran_ns);

#endif

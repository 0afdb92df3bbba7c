/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is the tracer stuck? It counts each turn of its loop in memory that it shares
 * with the front end and the guardian; they look at the count four times a
 * second.
 *
 * The loop turns every 100 ms at least. A tracer that has not done so, and was
 * waiting in the kernel at HEARTBEAT_BLOCKED looks in a row (3 s), without
 * having run between them, is stuck: nothing that it does by rule waits longer
 * than for a few pages from a disk. Where the machine is loaded, it may also be
 * kept from the processor, or wait for threads of the program that are: those
 * that it stops, and each that has reported a stop and is not off its processor
 * yet, for which ptrace(2) sleeps again and again. As long as it is ready to
 * run, or runs now and then, it is given HEARTBEAT_STARVED looks (30 s). A
 * look counts only when it is made, so that a machine that stood still, with
 * everybody on it, does not count. A tracer that was stopped by SIGSTOP is
 * known at once, and is continued after HEARTBEAT_STOPPED looks (1 s).
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
	uint32_t killed; /* somebody found the tracer stuck, and ended it */
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
 * The look itself, at a tracer in this state (proc(5), "State:") that has run
 * for this long.
 */
enum heartbeat_verdict heartbeat_judge(struct heartbeat_watch *watch,
				       uint32_t beats, char state,
				       uint64_t ran_ns);

#endif

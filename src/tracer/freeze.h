/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Holds the two threads of a conflict until the front end has judged it
 * (--on-race=stop, core), for a bounded time. One conflict at a time: others
 * are reported as usual meanwhile. Then both continue, or everything is
 * detached with the processes of the conflict stopped, as by SIGSTOP: none of
 * their threads executes another instruction until SIGCONT, or a debugger's
 * command.
 *
 * How: SIGSTOP is delivered to one of the two threads instead of its trap. That
 * begins the group-stop. The kernel keeps a thread that is detached then in the
 * group-stop, from whatever ptrace-stop (kernel/ptrace.c, __ptrace_unlink). So
 * everything is released only after the group-stop has begun.
 */
#ifndef TRACER_FREEZE_H
#define TRACER_FREEZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracee/hold.h"

struct core;
struct process;
struct stall;
struct thread;
struct wire_conflict;

enum freeze_state {
	FREEZE_NONE,
	FREEZE_HELD, /* the front end judges */
	FREEZE_STOPPING, /* SIGSTOP was delivered; not stopped yet */
	FREEZE_STOPPED, /* the group-stop has begun; everything is released */
};

struct freeze_side {
	struct hold hold;
	pid_t pid; /* of the thread's process; 0: there is none */
	bool asked; /* it was handed SIGSTOP */
};

struct freeze {
	struct core *core;
	bool wanted; /* conflicts are to be held */
	enum freeze_state state;
	uint32_t number; /* of the last one held */
	uint64_t deadline_ns; /* of this state */
	struct freeze_side sides[2];
};

/*
 * The stall is about to end in this conflict: take its thread over, and
 * `other', stopped and not held (NULL: there is none). Both stay stopped. Not
 * while another conflict is held. wire->freeze is set if so.
 */
void freeze_take(struct freeze *freeze, struct stall *stall,
		 struct thread *other, struct wire_conflict *wire);

/* The thread of the hold has ended; the hold may be another one. */
void freeze_lose(struct freeze *freeze, const struct hold *hold);

/* WIRE_JUDGED. */
void freeze_judged(struct freeze *freeze, const void *payload, size_t size);

/*
 * The thread is about to get a SIGSTOP. True if it was asked to, after a system
 * call that was made in it: it gets it, held or not.
 */
bool freeze_stopping(struct freeze *freeze, struct thread *thread);

enum freeze_group {
	FREEZE_GROUP_OTHER, /* not of ours */
	FREEZE_GROUP_WAITS, /* others are still to stop: it stays as it is */
	FREEZE_GROUP_BEGUN, /* ours has begun: now release everything */
};

/* The thread has stopped in a group-stop. */
enum freeze_group freeze_grouped(struct freeze *freeze,
				 const struct thread *thread);

/*
 * When the time is over, let both continue; or, if one was asked to stop,
 * return true: now release everything.
 */
bool freeze_tick(struct freeze *freeze, uint64_t now);
uint64_t freeze_next_ns(const struct freeze *freeze);

/* Everything is being released: nothing is held any more. */
void freeze_end(struct freeze *freeze);

/* Everything was released: say which processes are stopped. */
void freeze_tell(struct freeze *freeze);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeping the two threads of a conflict where they are until the front end has
 * judged it (--on-race=stop, core), for a bounded time. One conflict at a time:
 * others are reported as ever meanwhile. Then both go on, or everything is let
 * go with the processes of the conflict stopped, as by SIGSTOP: no thread of
 * theirs executes another instruction until SIGCONT, or a debugger's command.
 *
 * How: one of the two threads is handed SIGSTOP instead of its trap. That
 * begins the group-stop, in which the kernel leaves every thread that is then
 * detached, from whatever stop (kernel/ptrace.c, __ptrace_unlink). Only when
 * the group-stop was seen to begin, everything is released.
 */
#ifndef TRACER_MOMENT_H
#define TRACER_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracee/hold.h"

struct engine;
struct process;
struct stall;
struct thread;
struct wire_conflict;

enum moment_state {
	MOMENT_NONE,
	MOMENT_HELD, /* the front end judges */
	MOMENT_STOPPING, /* SIGSTOP was handed over, its stop is to come */
	MOMENT_STOPPED, /* the group-stop has begun; everything is released */
};

struct moment_side {
	struct hold hold;
	pid_t pid; /* of the thread's process; 0: there is none */
	bool asked; /* it was handed SIGSTOP */
};

struct moment {
	bool wanted; /* conflicts are to be held */
	enum moment_state state;
	uint32_t number; /* of the last one held */
	uint64_t deadline_ns; /* of this state */
	struct moment_side sides[2];
};

/*
 * The stall is about to end in this conflict: take its thread over, and
 * `other', stopped and not held (NULL: there is none). Both stay stopped. Not
 * while another conflict is held. wire->moment is set if so.
 */
void moment_take(struct engine *engine, struct stall *stall,
		 struct thread *other, struct wire_conflict *wire);

/* The thread of the hold has gone; it may be of another than the moment. */
void moment_lose(struct moment *moment, const struct hold *hold);

/* WIRE_JUDGED. */
void moment_judged(struct engine *engine, const void *payload, size_t size);

/*
 * The thread is about to take a SIGSTOP. True if that is what it was asked to,
 * after a system call that was made in it: it takes it, held or not.
 */
bool moment_stopping(struct engine *engine, struct thread *thread);

enum moment_group {
	MOMENT_GROUP_OTHER, /* not of ours */
	MOMENT_GROUP_WAITS, /* others are still to stop: it stays as it is */
	MOMENT_GROUP_BEGUN, /* ours has begun: now release everything */
};

/* The thread has stopped in a group-stop. */
enum moment_group moment_grouped(struct engine *engine,
				 const struct thread *thread);

/*
 * The time is over: let both go on, or, where one was asked to stop, true: now
 * release everything.
 */
bool moment_tick(struct engine *engine, uint64_t now);
uint64_t moment_next_ns(const struct engine *engine);

/* Everything is being released: nothing is held any more. */
void moment_end(struct engine *engine);

/* Everything was released: say which processes are stopped. */
void moment_tell(struct engine *engine);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Provoking the sides of a hunt (RaceHunter, Programming and Computer Software
 * 50(6), 2024, algorithms 3 and 4). A side is an execution of an instruction: by
 * a thread, with a stack, the n-th of those. The thread is held before it, as in
 * a stall (stall.h), for the time that the side says; meanwhile all other threads
 * have a watch on the bytes, and breakpoints at the recorded partners. Both are
 * needed: the watch alone misses partners that pass while it is being armed, and
 * the partners alone miss what the recording has not seen. Whoever comes makes a
 * conflict, which is told as that of a stall is, and ends the hold, unless the side
 * waits for all its partners (hunt-meet.h).
 *
 * Executions are counted by an execution breakpoint in a debug register, of that
 * thread alone, so that no other is disturbed and none is missed: by its stops
 * or, where perf watches and no stack is asked for, by the kernel (a perf event
 * with a sample period). One stop before the last, the side is *near*: then its
 * partners' breakpoints stand already, and the first that come there before the
 * side does are held too, HUNT_EARLY of them; so the two meet whichever of them
 * is first.
 *
 * There are four registers: HUNT_ARMED sides wait at a time, and when one is held
 * its register watches the bytes. The others are the partners'; where they do not
 * suffice, a partner has an INT3 that stays (hunt-text.h), but not while the
 * side is only near; partners in code that many execute, such as memcpy(3), have
 * none then. One side is held at a time. The other sides of the run wait
 * in a queue. What is armed when its thread has run already would be counted
 * wrongly: it is not tried.
 *
 * Where many sides are to be tried in a run (wire_hunt.by_text), or others have all
 * registers but one, which then watches the bytes, those with few
 * executions to count wait at INT3s, all at once: so a thread is held at one after
 * the other. Each execution by any thread is a stop, so a side is given up after
 * HUNT_STOPS of them; and a thread that runs while another one is taken over the
 * INT3 is not counted. Nothing is done there while a side is near. Where a thread
 * comes while another one is held, a side for any thread waits for the next one.
 *
 * Only in programs that the tracer has started.
 */
#ifndef TRACER_HUNT_H
#define TRACER_HUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "sys/loader.h"
#include "tracee/thread.h"
#include "tracee/watch.h"
#include "tracer/hunt-meet.h"
#include "wire/hunt.h"

struct engine;
struct process;
struct program_text;
struct wire_range;
struct x86_registers;

enum {
	HUNT_ARMED = 2,
	HUNT_EARLY = 3,
	HUNT_STOPS = 256, /* of a side that waits in the text */
};

enum hunt_state {
	HUNT_QUEUED,
	HUNT_COUNTING, /* its executions */
	HUNT_NEAR, /* the next one is the side */
	HUNT_HELD,
	HUNT_OVER, /* news.end says how; to be told */
	/* it is not tried again while its program runs, if it is sent again */
	HUNT_TOLD,
};

struct hunt_count {
	pid_t tid;
	uint64_t executions;
};

/* A side, in a program. */
struct hunt_target {
	struct wire_hunt wire;
	struct thread_place place;
	enum hunt_state state;
	bool begun; /* its program runs: threads may have that were not counted */
	bool away; /* its library was unloaded */
	bool claimed;
	struct watch_claim claim;
	uint64_t refused; /* struct watch's, before it was armed */
	uint64_t period; /* of the claim */
	bool stands; /* it has an INT3 */
	unsigned int stops; /* there */
	bool passed; /* by a thread, when another one was held */
	struct vec counts; /* of struct hunt_count, by thread */
	bool uncounted; /* an execution was not, for want of memory */
	int early; /* partners that were held before it */
	uint64_t early_ns; /* of hunt.moved_ns, in these holds */
	bool updated; /* `update' has come in such a hold, and waits for its end */
	struct wire_hunt update;
	struct vec waits; /* of struct wire_hunt_wait, to be told with news */
	struct vec met; /* of struct hunt_met: what has come */
	struct wire_hunted news;
};

/* A breakpoint at a partner of the focus. */
struct hunt_partner {
	struct wire_site site;
	bool claimed; /* in a register */
	struct watch_claim claim;
	bool stands; /* as an INT3 */
	unsigned int elsewhere; /* stops of threads there, for other bytes */
};

/* The first instruction of a program, where its sides are asked for. */
struct hunt_entry {
	const struct program_text *text;
	uint64_t address;
	struct watch_claim claim;
};

/* A program's dynamic loader (hunt-loader.h). */
struct hunt_loader {
	pid_t pid; /* of a process that runs the program, for messages */
	struct wire_site site; /* where it tells of libraries */
	struct loader_debug debug;
	bool stands; /* the INT3 there */
	bool refused; /* there can be none */
	pid_t waited; /* a thread that has waited there, until it goes on */
	uint64_t begun_ns; /* its wait */
	uint64_t waited_ns; /* those that are over, in sum */
	bool over; /* it was told that there are no more of them */
};

struct hunt {
	bool on;
	struct vec targets; /* of struct hunt_target *, owned */
	struct hunt_target *focus; /* whose partners are armed; NULL: none's */
	bool holds; /* a thread is held, at the focus or at a partner of it */
	struct hunt_met early_met; /* a partner, where one was held last */
	bool met; /* another one came, and nobody has waited at a loader since */
	struct hunt_partner partners[WIRE_HUNT_PARTNERS];
	size_t partner_count;
	struct vec entries; /* of struct hunt_entry */
	struct vec loaders; /* of struct hunt_loader */
	uint64_t moved_ns; /* by which others got on in holds that have ended */
	/* who is held, and then the one that was: it meets its INT3 again */
	struct hunt_again {
		pid_t tid;
		uint64_t address;
		bool left; /* the hold is over, and the INT3 is still there */
	} again;
	bool changed; /* claims, since the threads were updated */
};

void hunt_init(struct hunt *hunt);
void hunt_deinit(struct hunt *hunt);

/* The process has just executed a program: it will stop at its entry. */
void hunt_exec(struct engine *engine, struct process *process);
/*
 * The process has ended, or has just executed another program. If no other
 * process runs its old one, what is armed there is given up, and its sides that
 * were not reached are told as such.
 */
void hunt_leave(struct engine *engine, const struct process *process);

/* The thread has ended: note how many executions the kernel has counted in it. */
void hunt_forget(struct engine *engine, const struct thread *thread);

/*
 * A message WIRE_HUNT has come: a side to wait for, or more of one that waits, since
 * a library was loaded. Others are ignored.
 */
void hunt_take(struct engine *engine, const void *payload, size_t size);

/* The text of the range is gone: sides there wait until it comes again. */
void hunt_unmapped(struct engine *engine, const struct wire_range *range);

/*
 * A register has trapped in the stopped thread. False: it was none of ours. The
 * caller resumes the thread, which may be held by then, or run: a hold may end
 * when it begins.
 */
bool hunt_trap(struct engine *engine, struct thread *thread, uint8_t slots,
	       const uint64_t gens[DREGS_SLOTS]);

/* The thread is stopped at an INT3 of a partner, rip on it; then as above. */
void hunt_hit(struct engine *engine, struct thread *thread,
	      const struct wire_site *site, const struct x86_registers *regs);

/* Arm what can be, tell what is over. */
void hunt_tick(struct engine *engine);

/* The watching ends: nothing is armed any more, and all is told. */
void hunt_end(struct engine *engine);

#endif

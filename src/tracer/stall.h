/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conflict detection (DataCollider, sections 3.2 and 3.2.3): a thread that
 * reached a breakpoint is held before its access while the bytes are watched,
 * for a random time, until another thread touches them, or until nobody else
 * can run.
 */
#ifndef TRACER_STALL_H
#define TRACER_STALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "schedule/pool-hit.h"
#include "tracee/hold.h"
#include "tracee/watch.h"
#include "tracer/delays.h"
#include "wire/message.h"

struct breakpoint;
struct engine;
struct thread;

enum { STALL_PATIENCE = 8 };

/*
 * It was held for held_ns, in which the others have got on by moved_ns at most
 * (delays_moved()).
 */
typedef void stall_over(struct engine *engine, enum wire_outcome outcome,
			uint64_t held_ns, uint64_t moved_ns);

enum stall_meeting {
	STALL_ENDS, /* the conflict is told, and the stall ends */
	STALL_STAYS, /* it is told, and the thread is still held */
	STALL_KNOWS, /* it was told before: as if there was none */
};

/*
 * Another thread conflicts, by the instruction before `after', while registers watch
 * all bytes. It stands before or behind that.
 */
typedef enum stall_meeting stall_met(struct engine *engine,
				     const struct thread *thread,
				     const struct x86_registers *regs,
				     uint64_t after);

/* Of a stall that is asked for. */
struct stall_terms {
	uint64_t length_ns;
	stall_over *over; /* it is about to end */
	stall_met *met; /* NULL: it ends at its first conflict */
	void (*told)(struct engine *engine); /* after STALL_STAYS */
};

struct stall_access {
	struct mem_access access;
	struct watch_claim claim;
	bool claimed;
	bool unseen; /* not all accesses to it are (watch_sees_all()) */
	uint8_t held[X86_ACCESS_MAX]; /* when the thread was held */
	uint8_t before[X86_ACCESS_MAX]; /* once the threads had the watch */
	uint32_t readable; /* bytes in each */
};

struct stall {
	struct hold hold;
	struct wire_site site;
	struct x86_registers regs;
	struct stall_access accesses[X86_OPERANDS_MAX];
	int access_count;
	bool begun; /* others could run when the thread was held */
	bool watched; /* the threads have the watch: the time counts from then */
	bool grace; /* the time is over, a changed value awaits its trap */
	uint64_t waited_ns; /* its breakpoint, for the thread */
	uint64_t begun_ns, length_ns, deadline_ns;
	uint64_t long_ns; /* of length_ns, from the budget for long stalls */
	struct stall_terms terms; /* over is NULL: it was not asked for */
	struct delays delays; /* of one that was asked for */
	uint64_t seen_ns; /* when others were last seen able to run */
	bool young; /* it is short since its program begins (startup_stall_ns()) */
	uint64_t next_look_ns; /* for whether anybody else can run */
	uint64_t next_read_ns; /* for a changed value; UINT64_MAX: no need */
};

struct stalls {
	struct vec list; /* of struct stall *, owned */
	struct hold relieved; /* of a stall that gives way to another */
	uint64_t busy_since_ns; /* when the first of those running began */
	pid_t runner; /* a thread that could run when last looked at; 0: none */
	int runner_call; /* procfs_open_call() of it; -1: not open */
	uint64_t look_cost_ns; /* of the last look */
};

/*
 * The thread is stopped at the site, the breakpoint lifted, rip on it: stall
 * it, report a collision with one already stalled, or let it go.
 */
enum pool_hit stall_hit(struct engine *engine, struct thread *thread,
			const struct breakpoint *breakpoint,
			const struct x86_registers *regs);

/*
 * The thread is stopped at the site, rip on it: stall it for the time of the terms,
 * outside of all budgets, and longer by what the others have to wait for a
 * processor (delays.h), by at most STALL_PATIENCE times it, or for the front end
 * (startup.h), by at most as many times both lengths. `over' is called when the
 * stall ends, which may be at once; the thread goes on then. False: its bytes cannot
 * be read, and the caller resumes it.
 */
bool stall_hold(struct engine *engine, struct thread *thread,
		const struct wire_site *site, const struct x86_registers *regs,
		const struct stall_terms *terms);

/*
 * The thread is stopped before that instruction, and the caller resumes it:
 * report a collision with one already stalled. False: there is none.
 */
bool stall_meet(struct engine *engine, struct thread *thread,
		const struct wire_site *site, const struct x86_registers *regs);

/*
 * A watch trapped in the stopped thread: report the conflict if its stall
 * still runs (and end it). False if all the generations are of the past.
 */
bool stall_trap(struct engine *engine, struct thread *thread, uint8_t slots,
		const uint64_t gens[DREGS_SLOTS]);

/* The same from a record of the kernel, the racing thread running on. */
void stall_sample(struct engine *engine, const struct watch_sample *record);
/* All that have come until now. */
void stalls_take_samples(struct engine *engine);

/* End what is due: deadlines, no progress, changed values. */
void stalls_tick(struct engine *engine, uint64_t now);

/* End those at sites that are armed once. */
void stalls_end_once(struct engine *engine);

/* When stalls_tick() is needed next; UINT64_MAX: nothing to wait for. */
uint64_t stalls_next_ns(const struct engine *engine);

/*
 * Can any thread but those that are held move (DataCollider 3.2.3)? Processes
 * with a copy of the memory do not count.
 */
bool stalls_others_run(struct engine *engine);
/* The next look begins anew. */
void stalls_forget_runner(struct stalls *stalls);

/* Are the bytes of each stall watched, all of them and in all other threads? */
bool stalls_see_all(const struct engine *engine);

/* The thread of the hold has gone: a stall of it ends. False: it is of none. */
bool stalls_lose(struct engine *engine, const struct hold *hold);

/* The text of the range is gone: its sites are not armed again after a stall. */
void stalls_forget(struct engine *engine, const struct wire_range *range);

/* End all, abandoned. */
void stalls_end_all(struct engine *engine);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Watching bytes in all threads but the stalled ones: which of the four
 * debug-register slots watch what (x86/dregs), and the back-ends that bring
 * threads into line with it.
 *
 * Every use of a slot has a generation of its own, so that a trap which comes
 * late, for a watch already ended, is told from one that counts.
 */
#ifndef TARGET_WATCH_H
#define TARGET_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/trace.h"
#include "x86/dregs.h"

struct engine;
struct error;
struct thread;
struct watch;

/* A back-end. Slots and generations wanted are in struct watch. */
struct watch_ops {
	const char *name;
	/* it needs no thread to stop for an update */
	bool live;
	/* sees no access at all: values are read again and again */
	bool blind;
	/*
	 * the slots changed: bring a running thread up to date, or ask it to
	 * stop
	 */
	void (*update)(struct engine *engine, struct thread *thread);
	/* the stopped thread is about to run: bring it up to date */
	void (*prepare)(struct engine *engine, struct thread *thread);
	/* take every watch out of the stopped or dead thread */
	void (*clear)(struct engine *engine, struct thread *thread);
	/*
	 * The slots whose watch stopped the thread, as a bit set with their
	 * generations in gens; 0 if the trap is not of this back-end.
	 */
	uint8_t (*trapped)(struct thread *thread, const struct trap_info *info,
			   uint64_t gens[DREGS_SLOTS]);
	/* back-ends that watch the whole process at once; else NULL */
	void (*update_all)(struct engine *engine);
	void (*poll)(struct engine *engine);
	void (*shut)(struct engine *engine);
};

extern const struct watch_ops watch_by_registers; /* "ptrace" */
extern const struct watch_ops watch_by_perf; /* "perf" */
extern const struct watch_ops watch_by_cpu; /* "perf-cpu" */
extern const struct watch_ops watch_by_value; /* "value" */

struct watch {
	const struct watch_ops *ops;
	bool kernel; /* accesses by the kernel are seen too */
	struct dregs dregs;
	uint64_t generation
		[DREGS_SLOTS]; /* of the slot's present use; 0: free */
	uint64_t last_generation;
	uint32_t pending; /* threads asked to stop for an update */
	/* registers of threads may hold ended watches until then; 0: none do */
	uint64_t clean_at_ns;
	void *state; /* of the back-end */
};

/* What a claim got: the slots and the generation of each. */
struct watch_claim {
	struct dregs_claim claim;
	uint64_t generation[DREGS_SLOTS];
};

/*
 * Watch [address, +size); false if not even a part can be. The bytes covered
 * are claim.covered, from the start. Threads come into line with
 * watch_publish().
 */
bool watch_claim(struct watch *watch, uint64_t address, uint32_t size,
		 enum dregs_type type, struct watch_claim *ret);
void watch_release(struct watch *watch, const struct watch_claim *claim);

/* Bring all running threads into line, after claims. */
void watch_publish(struct engine *engine);

/*
 * The same after releases; stale watches may stay in threads a little while,
 * since the next stall will stop them anyway. watch_tick() ends that.
 */
void watch_retire(struct engine *engine);
void watch_tick(struct engine *engine, uint64_t now);

/* The back-end for this thread (perf cannot stop one that blocks SIGTRAP). */
const struct watch_ops *watch_ops_of(const struct watch *watch,
				     const struct thread *thread);

/* The thread needs no update any more (it had it, died or was detached). */
void watch_settled(struct watch *watch, struct thread *thread);

/* What trapped() says of a trap of ours whose watch has ended: a slot with no
 * generation. */
uint8_t watch_trap_of_the_past(uint64_t gens[DREGS_SLOTS]);

/* Does the thread hold exactly what the slots say now? */
bool watch_current(const struct watch *watch, const struct thread *thread);

#endif

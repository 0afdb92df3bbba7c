/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One instance of a race, run in the virtual processor in every order of its two
 * accesses that can matter, and what came of it (PLDI'07, sections 4.2 and 4.3).
 * The paper runs two orders of whole instructions; that misses lost updates.
 * Eight schedules are compared here, as far as they apply. With 1 for an access, ' for
 * the rest of its region, * for both, and [ ] for what happens between the load
 * and the store of one access: A1 B1 A' B', B1 A1 A' B', A* B*, B* A*, A1 B* A',
 * B1 A* B', A[B1]A, B[A1]B. One with all accesses in the same order as another is
 * not run a second time: the second and the sixth are one, and where nothing follows an
 * access but its function's return, others are.
 *
 * An access whose thread has made it already is made again in the copy, which then
 * begins before it (redo.h). A store that ends an update, of a value loaded before
 * the thread was held, begins at that load (trial-rewind.c).
 *
 * Names of failures, besides those of stops (region.h): "unequal-end", the schedules
 * end at different places; "signal", all fault; "cannot-redo", "old-load", an update
 * whose load was not found; "locals", only local variables of a function that has
 * not returned differ; "shadow-stack"; "two-processes", which have no memory there
 * that both share, as far as is known.
 */
#ifndef REPLAY_INSTANCE_H
#define REPLAY_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "replay/processor.h"
#include "x86/access.h"

enum {
	REPLAY_SCHEDULES = 8,
	REPLAY_CHANGES_MAX = 16,
	/* bytes of a change that are told */
	REPLAY_CHANGE_BYTES = 16,
};

/* One side of the race. */
struct replay_side {
	struct insn_access insn; /* the accessing instruction */
	uint64_t rip; /* its address */
	struct mem_access access; /* the bytes it touches */
	/* it has made its access; the thread was captured behind it */
	bool done;
	/*
	 * what it stores was made of a value that its function loaded from
	 * there (pattern_is_update()); false: not known
	 */
	bool updates;
};

struct replay_question {
	struct replay_side
		sides[REPLAY_THREADS]; /* as the processor's threads */
	uint64_t address; /* the raced bytes, as the first thread has them */
	uint32_t size;
	/* an access stores what is not always the same, as far as is known */
	bool varies;
	bool first; /* both accesses are the first of their functions */
	/* what they store is handed over by no caller: pattern_stores_made() */
	bool made;
	/* these bytes before a done access; for one that stores */
	uint8_t before[X86_ACCESS_MAX];
};

enum replay_verdict {
	REPLAY_NO_CHANGE,
	REPLAY_CHANGE,
	REPLAY_FAULT, /* in a schedule, and not in another */
	REPLAY_FAILURE,
};

/* Memory that not all schedules leave alike. */
struct replay_change {
	/* 1: of the second thread's process, which the first's does not have */
	int space;
	uint64_t address;
	uint32_t size; /* 1 to REPLAY_CHANGE_BYTES */
	uint8_t values[REPLAY_SCHEDULES][REPLAY_CHANGE_BYTES];
	uint32_t schedules; /* bit n: values[n] is set */
};

struct replay_result {
	enum replay_verdict verdict;
	const char *failure; /* REPLAY_FAILURE: its name; static */
	/*
	 * more differs than the raced bytes: other memory, or a register that
	 * is alive at the end of a region
	 */
	bool beyond;
	bool registers; /* such a register does */
	/*
	 * What an overlap of the two regions leads to, and neither of them
	 * whole before the other. A lock around both regions would exclude it;
	 * any other difference it would leave as it is. Bit n: schedule n is
	 * such an overlap.
	 */
	uint32_t overlaps;
	/* one of these differs from each whole order by more: see above */
	bool overlap_memory, overlap_registers;
	/*
	 * One region whole before the other would be no such order: in one of
	 * the two a thread waited for the other, as for a lock, and that led to
	 * something else than the other order.
	 */
	bool waited;
	/* an access that had been made was made again */
	bool redone;
	/* bit n: schedule n is the same as another, and was not run */
	uint32_t equal;
	/* no schedule left other raced bytes than were captured */
	bool still;
	/*
	 * It is still, REPLAY_NO_CHANGE, and so are two stores that do not depend
	 * on what is there: with other bytes there every schedule leaves what
	 * there was before. Looked for where the question says that the stores
	 * vary, are the first accesses, and of values that are made there: what a
	 * function has loaded before its store, or its caller before the call, may
	 * be these bytes. So a bit that is set, or a pointer that is put into a
	 * list, is not blind.
	 */
	bool blind;
	/* REPLAY_FAULT */
	int signal;
	/* the program has a handler for it: it may go on, or say that it dies */
	bool handled;
	uint64_t fault_address; /* 0: not known */
	bool executes; /* of an instruction, as behind a jump there */
	uint32_t fault_schedules; /* bit n: schedule n */
	struct vec changes; /* struct replay_change, the raced bytes first */
};

void replay_result_init(struct replay_result *result);
void replay_result_deinit(struct replay_result *result);

/* "ab", "a(b)a", ...: for reports. */
const char *replay_schedule_name(int schedule);

/*
 * Of the instance that the processor has captured; it remains. *ret, which was
 * initialized, is set anew. What cannot be replayed is a verdict and no error;
 * "learning": capture the race again. Errors as of orders_run(); after one there is
 * no instance.
 */
struct error *replay_run(struct processor *processor,
			 const struct replay_question *question,
			 struct replay_result *ret);

#endif

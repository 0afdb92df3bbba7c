/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The virtual processor of PLDI'07, section 4.2: what was captured of two threads
 * that race (livein.h) is loaded, and their code is run in a scratch process in
 * any order (orders.h), each time from the captured state. The program, which
 * goes on meanwhile, is only read. Threads of two processes run in two scratch
 * processes, and what they write to memory that both have is seen by both.
 *
 * What a thread runs is a region: from where it was held to the return of a
 * function that the caller chooses. It runs natively. It ends early where the
 * result could not be trusted, and the stop has a name.
 *
 * A page that the code writes has to be captured while both threads are held. One
 * that is missed is remembered in the hints of the race, the instance is no good,
 * and the next one has the page if it is captured with the hints. Some races use
 * other pages each time, as by a hash table: then a region may end before the access
 * to such a page, as it does before a system call, and what the threads have done
 * and hold in registers by then is compared. Pages that the program cannot write
 * are read when they are needed.
 *
 * Not modelled, but seen by instance.h: protection keys and shadow stacks.
 *
 * All functions are for the one thread that created the processor, and wait for
 * the scratch process (scratch.h): for its CPU time, however long that takes on
 * a busy machine.
 */
#ifndef REPLAY_PROCESSOR_H
#define REPLAY_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "replay/context.h"
#include "replay/likely.h"
#include "replay/livein.h"
#include "replay/pagecache.h"
#include "replay/scratch.h"

struct error;
struct processor;

/* One of the two threads. */
struct replay_thread {
	/*
	 * The address of the return address, on its stack, of the function at
	 * whose return the region ends.
	 */
	uint64_t return_slot;
	/*
	 * The lowest address of its stack; 0: not known. What is below its
	 * stack pointer and not below this is dead.
	 */
	uint64_t stack_low;
};

/* An instance of a race. What the pointers lead to belongs to the caller. */
struct replay_instance {
	/*
	 * of both threads; valid as long as the instance is run. two: they are
	 * of two processes, and sources[1] is that of the second thread.
	 */
	struct replay_source sources[REPLAY_SPACES];
	bool two;
	/*
	 * where the second thread has the raced bytes less where the first has
	 * them, modulo 2^64; not 0 only if they are of two processes
	 */
	uint64_t shift;
	struct replay_thread threads[REPLAY_THREADS];
	struct replay_hints *hints; /* of the race; valid as long */
	bool ends_at_missed; /* a region does; else the instance is to learn from */
	/* of CPU time, for each schedule, in each process; not 0 */
	uint64_t limit_ns;
};

/*
 * Errors as of scratch_create(). End it with processor_destroy(). It serves any
 * number of instances of any programs, one after the other.
 */
struct error *processor_create(enum scratch_way way, struct processor **ret);
void processor_destroy(struct processor *processor);

/*
 * Take over what was captured, which the caller may free then. Where the page of a
 * return address is not in it, the instance is one to learn from.
 * ERROR_OTHER: a return address cannot be read, ERROR_NOMEM. After an error there
 * is no instance.
 */
struct error *processor_load(struct processor *processor,
			     const struct replay_capture *capture,
			     const struct replay_instance *instance);

/*
 * Make the scratch process ready for the captured instance. Not urgent; the
 * first schedule does it otherwise. ERROR_OTHER and the like: as scratch.h has
 * them; the next processor_load() starts another one.
 */
struct error *processor_prepare(struct processor *processor);

/* Nanoseconds of CPU time that its scratch processes have used so far. */
uint64_t processor_cpu_ns(const struct processor *processor);

/* The captured pages of the thread's process, and those read since. */
const struct pagecache *processor_pages(const struct processor *processor,
					int thread);
/* The thread's. NULL when it has been ended by an error. */
const struct scratch *processor_scratch(const struct processor *processor,
					int thread);

#endif

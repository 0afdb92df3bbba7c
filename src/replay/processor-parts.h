/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the sources of the virtual processor share; private to src/replay.
 */
#ifndef REPLAY_PROCESSOR_PARTS_H
#define REPLAY_PROCESSOR_PARTS_H

#include "base/vec.h"
#include "replay/hazard.h"
#include "replay/processor.h"
#include "replay/region.h"
#include "replay/space-parts.h"
#include "replay/twins.h"

struct decoder;

/*
 * Where a region ends: an int3 is in the copy of the text. At the return address,
 * or where the thread comes to its access again.
 */
struct region_end {
	uint64_t address; /* 0: nowhere */
	uint64_t rsp; /* there; less: a deeper call */
};

enum { REPLAY_ENDS = 2 * REPLAY_THREADS };

/*
 * The access of a thread that races. Zeroed: an instruction that is not split.
 */
struct thread_access {
	/* instructions from a load to its store; 0 and 1: one instruction */
	unsigned int length;
	/* of one instruction that loads and stores: what; size 0: no such */
	struct mem_access update;
};

enum { REPLAY_FUTEXES = 8 };

/* Memory as space_canonical() has it. */
struct replay_word {
	int space;
	uint64_t address;
};

struct processor {
	enum scratch_way way;
	uint64_t ended_cpu_ns; /* CPU time of earlier scratch processes */
	struct decoder *decoder;
	struct space spaces[REPLAY_SPACES];
	struct twins twins; /* of two spaces */
	int current; /* the space whose code ran last */
	struct replay_instance instance;
	uint64_t
		missed; /* the first access that needs to be learned; 0: none */
	bool guesses; /* schedules are complete all the same */
	bool gone; /* the program, as a question about it has shown */
	bool captured;
	bool prepared;
	struct replay_context starts[REPLAY_THREADS];
	/* replay_hint(): pages that were not there when it was captured */
	uint64_t absent[LIKELY_MAX];
	size_t absent_count;
	/* of returns, by thread, and then of arrivals */
	struct region_end ends[REPLAY_ENDS];
	/* the thread has run in this schedule; it may arrive where it was */
	bool begun[REPLAY_THREADS];
	struct thread_access accesses[REPLAY_THREADS];
	/* words that threads wait on; the first ones only */
	struct replay_word futexes[REPLAY_FUTEXES];
	size_t futex_count;
};

/*
 * The same error, after which the scratch process and the instance are ended;
 * NULL stays NULL. error_gone is then of the program, not of the scratch process.
 */
struct error *processor_fail(struct processor *processor, struct error *err);

/* Is there an int3 of ours at the address of the space? */
bool processor_has_end(const struct processor *processor, int space,
		       uint64_t address);

/* Let the regions end at the threads' starts too. */
struct error *processor_add_arrivals(struct processor *processor);

/* The hazard at the address, on which an int3 of ours is; NULL: none is. */
const struct hazard *processor_hazard(const struct space *space,
				      uint64_t address);

/* Install a page that is in the cache of the space, with our int3s. */
struct error *processor_install(struct processor *processor, int space,
				const struct cached_page *page);

/* The same of one that is installed: undo what was written. */
struct error *processor_restore(struct processor *processor, int space,
				const struct cached_page *page);

/*
 * The code of the thread stopped at an access to an address: install what is
 * missing. *ret_again: it may go on. Else *ret_stop is why not.
 */
struct error *processor_fault(struct processor *processor, int thread,
			      uint64_t rip, uint64_t address, bool *ret_again,
			      struct replay_stop *ret_stop);

/*
 * The code of the thread stopped before a system call. *ret_again: it was
 * answered. Else *ret_stop is what is to become of it.
 */
struct error *processor_call(struct processor *processor, int thread,
			     uint64_t number, bool *ret_again,
			     struct replay_stop *ret_stop);

/* Memory as the space's code sees it now; false: some of it was not captured. */
bool processor_read(const struct space *space, uint64_t address, void *bytes,
		    size_t size);

/*
 * Copy what the program has at the address and cannot write, or was captured;
 * returns how many bytes, up to the first page that is neither.
 */
size_t processor_read_text(struct space *space, uint64_t address,
			   uint8_t *bytes, size_t size);

/*
 * Is the address below the stack pointer, in the dead part of that thread's
 * stack?
 */
bool replay_is_dead(const struct replay_thread *thread, uint64_t rsp,
		    uint64_t address);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One thread of the captured instance runs in the virtual processor: one
 * instruction, or to the end of its region (processor.h), until it stops for a
 * reason that has a name.
 */
#ifndef REPLAY_REGION_H
#define REPLAY_REGION_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct processor;
struct replay_context;

enum replay_stop_kind {
	/* as it should */
	REPLAY_RETURNED, /* at the end of the region */
	REPLAY_ARRIVED, /* at its access again, where that is an end too */
	REPLAY_STEPPED, /* behind one instruction */
	/* the code did what the program would have died of, or handled */
	REPLAY_SIGNAL,
	/* before an access to a page that was not captured; processor.h */
	REPLAY_UNCAPTURED,
	/* replay failures (PLDI'07, section 4.2.1) */
	REPLAY_SYSTEM_CALL, /* before it, not executed */
	REPLAY_TIME_STAMP, /* before rdtsc or rdtscp */
	/* of hazard.h: before the instruction */
	REPLAY_RANDOM,
	REPLAY_CPUID,
	REPLAY_KEYS,
	/* of orders_run(): a writable page was not captured; now it is a hint */
	REPLAY_LEARNING,
	/* a page that the program has and that we cannot read, as far as known: */
	REPLAY_SECRET, /* of memfd_secret(2) */
	REPLAY_CLOCK, /* of the vDSO's data */
	REPLAY_SERVED, /* of a file that a process or another machine provides */
	REPLAY_USERFAULTFD, /* of memory that userfaultfd(2) may provide */
	REPLAY_UNFETCHABLE, /* any other */
	REPLAY_LIMIT, /* of CPU time */
	/* the code waits for the other thread: behind a futex(2) for an equal value */
	REPLAY_WAITS,
	REPLAY_YIELDED, /* behind sched_yield(2) */
	REPLAY_STOPS, /* count */
};

struct replay_stop {
	enum replay_stop_kind kind;
	int signal; /* REPLAY_SIGNAL; SIGSEGV for all accesses that fail */
	/*
	 * REPLAY_SIGNAL with it, REPLAY_LEARNING, REPLAY_UNCAPTURED,
	 * REPLAY_SECRET to REPLAY_UNFETCHABLE
	 */
	bool has_address;
	uint64_t address; /* of the access that failed */
	/* of REPLAY_SIGNAL with it: of an instruction, as behind a jump there */
	bool executes;
	uint64_t number; /* REPLAY_SYSTEM_CALL */
	/*
	 * REPLAY_SYSTEM_CALL, REPLAY_WAITS: the instruction behind it;
	 * REPLAY_UNCAPTURED: the instruction
	 */
	uint64_t rip;
};

/* "returned", "system-call", ...: for reports and counters. */
const char *replay_stop_name(enum replay_stop_kind kind);

/*
 * System calls are not executed. Of the synchronization between threads, waking
 * others (futex(2), FUTEX_WAKE) is answered by 0: whom it would wake runs when
 * its turn comes.
 */
enum region_extent {
	REGION_INSTRUCTION, /* all repetitions of a string instruction */
	REGION_REST, /* to the end of the region */
};

/* Instructions of one round of a loop that waits. */
enum { REGION_ROUND_MAX = 256 };

/*
 * Run the thread on from *context, which becomes what its registers are then. A
 * thread at the end of its region has returned already. until_cpu_ns: by
 * scratch_cpu() of the thread's scratch process. Errors as of processor_prepare(); error_gone: the program has
 * ended.
 */
struct error *region_run(struct processor *processor, int thread,
			 enum region_extent extent, uint64_t until_cpu_ns,
			 struct replay_context *context,
			 struct replay_stop *ret);

/*
 * Run on by single instructions, up to REGION_ROUND_MAX. *ret_spins: the thread came
 * back to where it was with the same general registers: it goes round a loop
 * that only the other thread can end. Else *ret is its last stop.
 */
struct error *region_round(struct processor *processor, int thread,
			   uint64_t until_cpu_ns,
			   struct replay_context *context,
			   struct replay_stop *ret, bool *ret_spins);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Watching bytes in all threads except the stalled ones: what each of the four
 * debug-register slots watches (x86/dregs), and the interface of the back-ends
 * that set it in threads (watch-update.h). Every use of a slot has its own
 * generation number, so that a late trap of a watch that has ended is
 * recognized.
 */
#ifndef TRACEE_WATCH_H
#define TRACEE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/trace.h"
#include "tracee/sharing.h"
#include "x86/dregs.h"

struct addrspace;
struct perfring_sample;
struct program_text;
struct thread;
struct thread_place;
struct tracees;
struct watch;

/* A record of an access by a thread that runs on. */
struct watch_sample {
	int slot;
	uint64_t generation; /* of the slot's use */
	const struct perfring_sample *sample; /* until the next one is taken */
};

/* A back-end. Slots and generations wanted are in struct watch. */
struct watch_ops {
	const char *name;
	/* updates need no stopped thread */
	bool live;
	/* sees no access at all: values are read again and again */
	bool blind;
	/* each type of watch has its half of the slots (x86/dregs.h) */
	bool halves;
	/* the slots changed: update a running thread, or ask it to stop */
	void (*update)(struct tracees *tracees, struct thread *thread);
	/* the stopped thread is about to run: update it */
	void (*prepare)(struct tracees *tracees, struct thread *thread);
	/* take every watch out of the stopped or dead thread */
	void (*clear)(struct tracees *tracees, struct thread *thread);
	/*
	 * The slots whose watch stopped the thread, as a bit set with their
	 * generations in gens; 0 if the trap is not of this back-end.
	 */
	uint8_t (*trapped)(struct thread *thread, const struct trap_info *info,
			   uint64_t gens[DREGS_SLOTS]);
	/* back-ends that watch the whole process at once; else NULL */
	void (*update_all)(struct tracees *tracees);
	/* what it has recorded of running threads, one at a time */
	bool (*next_sample)(struct tracees *tracees, struct watch_sample *ret);
	void (*shut)(struct tracees *tracees);
};

extern const struct watch_ops watch_by_registers; /* "ptrace" */
extern const struct watch_ops watch_by_perf; /* "perf" */
extern const struct watch_ops watch_by_cpu; /* "perf-cpu" */
extern const struct watch_ops watch_by_value; /* "value" */

/*
 * perf-cpu: begin to open its first events, which takes tens of milliseconds in a thread
 * of ours; no register of a thread of the program may be in use. Meanwhile
 * watch_cpu_opens(), and nothing is to be watched: the kernel lets any other
 * breakpoint wait too.
 */
struct error *watch_cpu_open(struct tracees *tracees);
bool watch_cpu_opens(const struct watch *watch);
/*
 * The same of those that a stall has lacked, between two stalls; false: it has
 * lacked none.
 */
bool watch_cpu_open_more(struct tracees *tracees);
/* Why they could not be; the watch's own. NULL: they could, or were not yet. */
const struct error *watch_cpu_refused(const struct watch *watch);

/* Whose bytes a slot watches. */
struct watch_owner {
	uint16_t tag; /* of the address space that has them at the address */
	bool shared; /* others may have them too: */
	struct shared_place place;
	/* execution of an instruction of that program, wherever it runs */
	const struct program_text *text;
	/* of that, by the thread in this place alone; NULL: by any */
	const struct thread_place *thread;
	/* of that, each of this number by one thread; 0: each (perf alone) */
	uint64_t period;
};

struct watch {
	const struct watch_ops *ops;
	bool kernel; /* accesses by the kernel are seen too */
	/* no execution may be missed: those that sleep are told too (hunt.h) */
	bool exact;
	/*
	 * Addresses have their address space's tag in the upper bits;
	 * watch_view() gives the contents for the registers of a thread.
	 */
	struct dregs dregs;
	struct watch_owner owners[DREGS_SLOTS];
	uint64_t generation
		[DREGS_SLOTS]; /* of the slot's present use; 0: free */
	uint64_t last_generation;
	uint32_t pending; /* threads asked to stop for an update */
	uint64_t refused; /* registers of threads that others had then */
	/* registers of threads may hold ended watches until then; 0: none do */
	uint64_t clean_at_ns;
	void *state; /* of the back-end, or of perf-cpu, which is to be it */
	bool opening; /* watch_is_changing() */
	/*
	 * with more threads than this, or than watch_many() says, perf-cpu takes
	 * perf's place, with fewer than half as many perf that of perf-cpu; 0:
	 * never
	 */
	uint32_t many;
	uint64_t change_ns; /* not tried again before */
	/* processes have much shared memory at several addresses, as last checked */
	bool scattered;
	uint64_t scattered_ns; /* when to look again; 0: at once */
	uint32_t processors; /* of the machine; 0: not known yet */
};

/* What a claim got: the slots and the generation of each. */
struct watch_claim {
	struct dregs_claim claim;
	uint64_t generation[DREGS_SLOTS];
};

/*
 * Watch [address, +size) of the space, and, where that is shared memory, the
 * same bytes wherever other processes have them; false if not even a part can
 * be. The bytes covered are claim.covered, from the start. watch_publish()
 * (watch-update.h) updates the threads.
 */
bool watch_claim(struct watch *watch, const struct addrspace *space,
		 uint64_t address, uint32_t size, enum dregs_type type,
		 struct watch_claim *ret);
/* Is a trap of these slots, which had these generations, one of the claim? */
bool watch_claim_traps(const struct watch_claim *claim, uint8_t slots,
		       const uint64_t gens[DREGS_SLOTS]);
/* A slot for the instruction at that address of a program; see execpoint.h. */
bool watch_claim_execution(struct watch *watch, const struct program_text *text,
			   uint64_t address, struct watch_claim *ret);
/*
 * Before the threads are updated: the claim, which no other has the slot of, is
 * for the thread in this place alone (NULL: for any), and traps at each execution
 * of that number (0: at each). place must live as long as the claim.
 */
void watch_narrow(struct watch *watch, const struct watch_claim *claim,
		  const struct thread_place *place, uint64_t period);
void watch_release(struct watch *watch, const struct watch_claim *claim);

/* The slot's address, in the address space of the thread that is stalled. */
uint64_t watch_slot_address(const struct watch *watch, int slot);

/* What threads of one address space are to have in their registers. */
struct watch_view {
	/* with addresses of that space, and no users where there are none */
	struct dregs dregs;
	uint64_t generation[DREGS_SLOTS]; /* 0: nothing to watch there */
};

void watch_view(const struct watch *watch, const struct addrspace *space,
		struct watch_view *ret);
/* The same of one thread, for which not all of that may be. */
void watch_view_thread(const struct watch *watch, const struct thread *thread,
		       struct watch_view *ret);

/* The thread needs no update any more (it had it, died or was detached). */
void watch_settled(struct watch *watch, struct thread *thread);

/* What trapped() says of a trap of ours whose watch has ended: a slot with no
 * generation. */
uint8_t watch_trap_of_the_past(uint64_t gens[DREGS_SLOTS]);

/* Does the thread hold exactly what it is to hold? */
bool watch_current(const struct watch_view *view, const struct thread *thread);

#endif

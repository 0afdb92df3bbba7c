/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints in the text of address spaces.
 *
 * Every address that ever held a breakpoint keeps its record until the
 * program is replaced (exec) or the text goes away: a thread may carry the
 * trap of a location lifted long ago, and a fork child may hold a copy of it.
 */
#ifndef TRACEE_BREAKPOINT_H
#define TRACEE_BREAKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracee/addrspace.h"
#include "wire/message.h"

struct error;
struct thread;

/*
 * BREAKPOINT_SPACES busy processes reach a location about as soon as all do.
 * One breakpoint in BREAKPOINT_QUIET may be in any process.
 */
enum { BREAKPOINT_SPACES = 2, BREAKPOINT_QUIET = 8 };

enum breakpoint_policy {
	/* lifted when it is hit (DataCollider 3.1.1) */
	BREAKPOINT_ONE_SHOT,
	/* stays; threads that hit it are stepped over it */
	BREAKPOINT_PERSISTENT,
};

/* Does this hit count? Called with the thread stopped at the location. */
typedef bool breakpoint_predicate(struct thread *thread,
				  const struct x86_registers *regs, void *data);

struct breakpoint {
	struct wire_site site;
	bool armed; /* int3, in some spaces or all; or program_text.execpoints */
	bool fired; /* has been hit at least once */
	uint64_t armed_ns; /* when it was set last, not counting pauses */
	uint64_t lifted_ns; /* when it was last taken out of every text */
	/* in the list of those that are armed, or have been */
	struct breakpoint *previous, *next;
	/* threads that were resumed here, and not yet seen to have run */
	uint32_t parked;
	/* threads being taken over it; it is lifted for them, not for good */
	uint32_t passing;
	uint32_t guardian_entry; /* the guardian's entry; 0: none */
	/*
	 * where it may be: among set_count of program_text.spaces from set_first
	 * on, by the bits of set_mask if there are at most 64 of them
	 */
	size_t set_first, set_count;
	uint64_t set_mask;
	uint64_t set_generation; /* another one now: it may be anywhere */
	enum breakpoint_policy policy;
	breakpoint_predicate *predicate; /* NULL: every hit counts */
	void *predicate_data;
};

/* The record of this address, armed or not; NULL: it never had one. */
struct breakpoint *breakpoint_find(const struct addrspace *space,
				   uint64_t address);

/* An armed one is for this site from now on, which is at the same address. */
void breakpoint_replace(struct addrspace *space, struct breakpoint *breakpoint,
			const struct wire_site *site);

/*
 * Arm a one-shot breakpoint for the site, in every space whose text has its
 * bytes. If the site is one of the pool or the entry of a function, arm it only
 * in BREAKPOINT_SPACES busy ones, each time in others: few are hit, and each
 * space takes three system calls. *ret_armed is false when no space has the
 * bytes, it is armed, or the guardian has no room, and where there is no code of a
 * file (code.h). ERROR_REFUSED: some space takes no writes without a stopped
 * thread; its memory.refused is set then.
 */
struct error *breakpoint_arm(struct addrspace *space,
			     const struct wire_site *site, bool *ret_armed);

/* Does the space's text have the bytes of the site? */
bool breakpoint_text_matches(const struct addrspace *space,
			     const struct wire_site *site);

/*
 * Remove it from the text. A byte that is no longer int3 is not ours, and is
 * left. stopped_tid, of `space`: see memory_write_text().
 */
struct error *breakpoint_lift(struct addrspace *space, pid_t stopped_tid,
			      struct breakpoint *breakpoint);

/* Put a lifted one back (persistent ones, after stepping over). */
struct error *breakpoint_rearm(struct addrspace *space,
			       struct breakpoint *breakpoint);

/*
 * Lift up to `most` armed breakpoints (if not all, only those of the pool) in
 * [start, end); append the sites' ids to returned (of uint64_t; may be NULL).
 * Continues after errors; the first is returned. After ERROR_REFUSED all count
 * as armed.
 */
struct error *breakpoint_lift_range(struct addrspace *space, pid_t stopped_tid,
				    uint64_t start, uint64_t end, size_t most,
				    struct vec *returned);

/*
 * Remove breakpoints from the memory of a process that is a copy of `space` (a
 * fork child, stopped), made at since_ns or later: those that are armed, and
 * those lifted since then. 0: all that ever were armed. On error some may stay.
 */
struct error *breakpoint_clean_copy(struct addrspace *space,
				    const struct memory *copy, pid_t tid,
				    uint64_t since_ns);

/*
 * How many are in the text of some space still. After breakpoint_lift_range() of
 * everything: those that could not be lifted.
 */
size_t breakpoint_count_left(const struct addrspace *space);

/*
 * Forget all records in [start, end): that text is no longer mapped, or its
 * breakpoints were lifted. Those that could not be lifted are remembered; and all,
 * as not set any more, while program_text.copied.
 */
void breakpoint_forget_range(struct addrspace *space, uint64_t start,
			     uint64_t end);

#endif

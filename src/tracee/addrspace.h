/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Address spaces. An address space is an object apart from the process: threads,
 * vfork children and CLONE_VM processes share one. Those made from one another by
 * fork(2) hold the same program at the same addresses (struct program_text): a
 * breakpoint (breakpoint.h) is set in all of them at once, or in some, and lifted
 * in all of them.
 */
#ifndef TRACEE_ADDRSPACE_H
#define TRACEE_ADDRSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "sys/mapping.h"
#include "sys/memory.h"

struct breakpoint;
struct error;
struct execpoints;
struct guardian;
struct startup;

struct program_text {
	uint32_t program; /* its number; see wire/message.h */
	struct vec spaces; /* of struct addrspace *; one at least */
	struct vec code; /* of struct mapping; code.h */
	uint64_t generation; /* of spaces: changes with them */
	size_t turn, turn_any, turns; /* next at work, next of all; choices */
	struct startup *startup; /* the tracer's; free(3)d with this */
	/* not NULL: the text is not written to, debug registers are used */
	struct execpoints *execpoints;
	struct map index; /* address to position in breakpoints */
	struct vec breakpoints; /* of struct breakpoint * */
	/* by breakpoint.next: armed now; lifted, the last one first */
	struct breakpoint *first_armed, *first_lifted;
	size_t armed; /* all of them */
	size_t armed_once; /* of them, those beside the pool */
	/* some process holds a copy of them: their records are not forgotten */
	bool copied;
	size_t cursor; /* where the next partial lift begins to look */
	struct guardian *guardian; /* NULL: nobody stands behind us */
	uint32_t guardian_text; /* its number with the guardian */
};

/* Memory of the program for copies of its instructions; see displaced.h. */
struct displaced_area {
	uint64_t start;
	uint32_t used; /* places in it */
};

struct displaced_places {
	struct vec areas; /* of struct displaced_area */
	struct map copies; /* address to that of its copy */
	bool refused; /* there is no more memory for them */
};

struct addrspace {
	struct program_text *text;
	/* upper bits of an address: tells it from the same in other spaces */
	uint16_t tag;
	/* struct wire_shared[], by address, as the front end told */
	struct vec shared;
	/* opened while that is allowed, and good from then on (copy.h) */
	struct memory memory;
	struct mappings mappings; /* for code.h and displaced.h */
	struct displaced_places displaced;
	/* a thread stopped for writes (writer.h); 0: there is none */
	pid_t writer;
	unsigned int users; /* processes */
	bool quiet; /* they hardly run (load.c) */
	bool is_protected;
	uint32_t guardian_space; /* with the guardian */
};

/* An address space with a program of its own. */
struct error *addrspace_create(pid_t pid, struct addrspace **ret);

/*
 * The space of a process that has the same program at the same addresses
 * (sys/layout.h) and none of its breakpoints: nothing is armed yet.
 */
struct error *addrspace_join(const struct addrspace *sibling, pid_t pid,
			     struct addrspace **ret);

/*
 * The space of a fork child, stopped and not resumed yet. Its text gets the
 * breakpoints that are armed now, whatever was armed when it was copied: at
 * since_ns (clock_now_ns()) or later; 0: at any time.
 */
struct error *addrspace_fork(const struct addrspace *parent, pid_t pid,
			     uint64_t since_ns, struct addrspace **ret);

/*
 * Register the space's breakpoints with the guardian, or NULL: before the first
 * is armed, or after addrspace_fork(). It must outlive the space.
 */
struct error *addrspace_protect(struct addrspace *space,
				struct guardian *guardian);

/*
 * The process has another program now, or is about to have a space of its own:
 * if no other process uses the space, remove it from the guardian.
 */
void addrspace_unprotect(struct addrspace *space);

/*
 * The process, which uses the space, is in a group-stop now, or is no longer:
 * told to the guardian, if it knows the space by this process.
 */
void addrspace_note_stopped(const struct addrspace *space, pid_t pid,
			    bool stopped);

/* One user less; the last one frees it. The text is left as it is. */
void addrspace_release(struct addrspace *space);

#endif

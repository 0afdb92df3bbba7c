/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sides of a hunt, one after the other: WIRE_HUNT says where a thread is to be
 * held, WIRE_HUNTED what came of it (wire/message.h). What a side is:
 * report/target-record.h.
 */
#ifndef WIRE_HUNT_H
#define WIRE_HUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/conflict.h"
#include "wire/site.h"

enum {
	WIRE_HUNT_SIDES = 64, /* of a run */
	WIRE_HUNT_STACK = 8,
	WIRE_HUNT_PARTNERS = 8,
	/* at most, of a side that waits at an INT3: each execution is a stop */
	WIRE_HUNT_TEXT_ORDINAL = 32,
	WIRE_HUNT_OTHERS = 4,
	WIRE_HUNT_WAIT_STACK = 2048,
};

/* The place of a thread, as struct thread_place (tracee/thread.h) has it. */
struct wire_place {
	uint32_t path[WIRE_PATH_MAX];
	uint32_t length;
};

/* A side, in a program in which its instruction was found. */
struct wire_hunt {
	uint32_t side; /* its number among those of the run, from 0 */
	/* any thread may be held; else the one in the place that `path' says */
	bool any;
	uint32_t path[WIRE_PATH_MAX]; /* as in struct thread_place (thread.h) */
	uint32_t path_length;
	/* executions before it by such a thread with such a stack */
	uint64_t ordinal;
	uint64_t hold_ns; /* for how long the thread is held at most */
	/* it is one of many: it may wait in the text, where registers are few */
	bool by_text;
	/*
	 * The hold does not end when one has come: in its time, all partners are
	 * waited for; where none is known, whoever comes
	 */
	bool until_all;
	/* it has partners that are not among `partners', as in the kernel */
	bool unlisted;
	/* run-time return addresses on the stack, the innermost first */
	uint64_t stack[WIRE_HUNT_STACK];
	uint32_t stack_count;
	uint32_t partner_count;
	/*
	 * Of these, the first ones. The others are in code that many execute, for
	 * other bytes: they have breakpoints only while a thread is held.
	 */
	uint32_t early_count;
	/* threads of which WIRE_HUNT_WAIT is told, if none could run */
	struct wire_place others[WIRE_HUNT_OTHERS];
	uint32_t other_count;
	struct wire_site site;
	struct wire_site partners[WIRE_HUNT_PARTNERS];
};

enum wire_hunt_end {
	WIRE_HUNT_MET, /* a conflict, which was told before, has ended the hold */
	WIRE_HUNT_QUIET, /* it was held to the end */
	WIRE_HUNT_ALONE, /* no other thread could run */
	WIRE_HUNT_LOST, /* the thread has died, or the watching ended */
	WIRE_HUNT_UNREACHED, /* none came so far as to be held */
	/*
	 * It was not tried: no register was free in time, others had one, or
	 * another thread was held when one came.
	 */
	WIRE_HUNT_UNTRIED,
};

struct wire_hunted {
	uint32_t side;
	uint32_t end; /* enum wire_hunt_end */
	uint64_t reached; /* executions by one thread that counted, at most */
	uint64_t held_ns;
	/* before that, by which other threads got on in other holds of the run */
	uint64_t before_ns;
	/* the conflict is of this side (WIRE_HUNT_MET), and the hold goes on */
	bool more;
};

enum wire_hunt_other {
	WIRE_OTHER_UNBORN, /* it was not created yet */
	WIRE_OTHER_ENDED,
	WIRE_OTHER_WAITS,
};

/*
 * What one of the others did when a hold ended with WIRE_HUNT_ALONE, told before
 * that.
 */
struct wire_hunt_wait {
	uint32_t side;
	struct wire_place other;
	uint32_t
		state; /* enum wire_hunt_other; the rest is of one that waits */
	int32_t pid, tid;
	uint32_t program;
	int32_t call; /* number of its system call; -1: not known */
	uint64_t argument; /* the first; of futex(2) the address */
	uint64_t pc, sp;
	uint32_t stack_size; /* bytes from sp on */
	uint8_t stack[WIRE_HUNT_WAIT_STACK];
};

#endif

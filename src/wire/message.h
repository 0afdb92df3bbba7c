/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The messages between the front end and the tracer, two processes of one
 * program on one machine, so plain structures are sent as they lie in memory.
 * Each message is a struct wire_header followed by `size` bytes of payload:
 * the structure named beside its type, plus what that structure says follows.
 *
 * Front end to tracer: SITES, PARAMS, FORGET, SIGNAL, STOP.
 * Tracer to front end: everything else.
 */
#ifndef WIRE_MESSAGE_H
#define WIRE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/access.h"

enum wire_type {
	WIRE_SITES = 1, /* struct wire_site[]: candidates, in order */
	WIRE_PARAMS, /* struct wire_params */
	WIRE_FORGET, /* struct wire_range: text that is gone or left out */
	WIRE_SIGNAL, /* struct wire_signal: send it to the target */
	WIRE_STOP, /* nothing: restore, detach, then wait for a child's end */

	WIRE_STARTED = 32, /* struct wire_started: the target is watched */
	WIRE_FAILED, /* struct wire_failed: it will not be; nothing follows */
	WIRE_EXEC, /* struct wire_exec: a new program in the process */
	WIRE_THREADS, /* struct wire_threads: their number changed */
	WIRE_RETURNED, /* struct wire_returned[]: sites no longer armed */
	WIRE_SAMPLE, /* struct wire_sample: a stall has ended */
	WIRE_CONFLICT, /* struct wire_conflict, then stack bytes of sides 0, 1 */
	WIRE_STATS, /* struct wire_stats: about every 20 ms, and before an end */
	WIRE_DETACHED, /* nothing: text and registers are restored */
	WIRE_EXITED, /* struct wire_exited: the target's end */
	WIRE_NOTE, /* text, not terminated: a warning for the user */
};

struct wire_header {
	uint32_t type;
	uint32_t size;
};

enum { WIRE_SIZE_MAX = 1 << 20, WIRE_STACK_MAX = 64 << 10 };

/* A decoded sampling site: all the tracer needs to know of an instruction. */
struct wire_site {
	uint64_t id; /* never 0; chosen by the front end */
	uint64_t address; /* run-time */
	uint64_t function; /* where its function begins, run-time */
	/* id of a queued site to arm while this one stalls; 0: none */
	uint64_t pair;
	uint8_t bytes[X86_INSN_MAX + 1]; /* what the text must hold */
	struct insn_access insn;
};

struct wire_params {
	uint32_t pool; /* breakpoints to keep armed */
	uint32_t rate; /* stalls a second at most; 0: arm nothing */
	uint64_t stall_max_ns;
};

struct wire_range {
	uint64_t start, end;
};

struct wire_signal {
	int32_t signal;
};

enum { WIRE_NAME = 16 };

struct wire_started {
	int32_t pid;
	char backend[WIRE_NAME];
	bool kernel_accesses; /* the back-end sees accesses by the kernel */
	char reason[128]; /* why a better back-end was not taken, or "" */
};

struct wire_failed {
	int32_t kind; /* enum error_kind */
	int32_t code; /* errno or 0 */
	char message[512];
};

struct wire_exec {
	int32_t pid;
};

struct wire_threads {
	uint32_t count;
};

enum wire_returned_why {
	WIRE_FIRED, /* hit (sample or not) */
	WIRE_LIFTED, /* the pool was made smaller, or an exec, fork... */
	WIRE_REFUSED, /* the text there is not what the site says */
	WIRE_DEFERRED, /* a thread stands there; try again later */
};

struct wire_returned {
	uint64_t id;
	uint32_t why; /* enum wire_returned_why */
	uint32_t reserved;
};

enum wire_outcome {
	WIRE_QUIET, /* the deadline came */
	WIRE_RACED, /* a conflict ended the stall */
	WIRE_ALONE, /* ended early or not begun: nobody else can run */
	WIRE_ABANDONED, /* the thread died or the watching ended */
};

struct wire_sample {
	uint64_t id;
	int32_t tid;
	uint32_t outcome; /* enum wire_outcome */
	struct mem_access access;
	uint64_t stalled_ns;
};

enum wire_evidence { WIRE_WATCHPOINT, WIRE_COLLISION, WIRE_VALUE_CHANGE };

enum { WIRE_PATH_MAX = 16 };

struct wire_side {
	bool present; /* false: unknown origin */
	bool before; /* stands before its access (stalled, collision) */
	int32_t pid, tid;
	char name[WIRE_NAME];
	uint64_t site; /* id when known (stalled, collision), else 0 */
	struct x86_registers regs;
	struct mem_access access; /* kind ACCESS_NONE when not known */
	/* the kernel made the access in this call; -1: it did not; -2: it did,
	 * in a call that is not known */
	int32_t syscall;
	uint32_t path_length;
	uint32_t path[WIRE_PATH_MAX];
	uint64_t stack_address;
	uint32_t stack_size; /* bytes of it that follow the structure */
};

struct wire_conflict {
	uint32_t evidence; /* enum wire_evidence */
	uint32_t watched; /* of the stalled access: which bytes were watched */
	uint64_t wall_ns;
	uint64_t stall_ns; /* length drawn */
	uint64_t elapsed_ns; /* from its begin to the conflict */
	uint64_t trap_address; /* of the watchpoint that fired, or 0 */
	uint8_t before[X86_ACCESS_MAX], after[X86_ACCESS_MAX];
	struct wire_side sides[2]; /* [0] was stalled */
};

struct wire_stats {
	uint64_t hits, samples, quiet, alone, unaffordable;
	uint64_t watch_traps, stale_traps, collisions, value_changes;
	uint64_t out_of_registers, arms, arms_refused, arms_deferred, dropped;
	uint64_t stops; /* of all threads, for any reason */
	uint64_t stalled_ns; /* union of stall intervals */
	uint64_t busy_ns; /* CPU time of the tracer */
	uint32_t armed; /* breakpoints now in the text */
	uint32_t queued; /* sites waiting */
	uint32_t threads;
	uint32_t stalls; /* running now */
};

struct wire_exited {
	int32_t pid;
	int32_t status; /* as wait(2) gives it */
};

#endif

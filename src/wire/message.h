/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The messages between the front end and the tracer, two processes of one
 * program on one machine, so plain structures are sent as they lie in memory.
 * Each message is a struct wire_header followed by `size` bytes of payload:
 * the structure named beside its type, plus what that structure says follows.
 *
 * Front end to tracer: the types before STARTED. Tracer to front end: the rest.
 *
 * Several processes may be watched. Those that were forked from one another and
 * executed nothing since have one program, which has a number that sites name.
 */
#ifndef WIRE_MESSAGE_H
#define WIRE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/conflict.h"
#include "wire/hunt.h"
#include "wire/instance.h"
#include "wire/params.h"
#include "wire/provoke.h"
#include "wire/site.h"
#include "wire/stats.h"
#include "x86/access.h"

enum wire_type {
	WIRE_SITES = 1, /* struct wire_site[]: candidates, in order */
	WIRE_SUPPLY, /* struct wire_supply (params.h): it has changed */
	WIRE_FORGET, /* struct wire_range: text that is gone or left out */
	WIRE_SHARED, /* struct wire_shared_head, wire_shared[], by address */
	WIRE_SIGNAL, /* struct wire_signal: send it to the target */
	WIRE_STOP, /* nothing: restore, detach, then wait for a child's end */
	WIRE_JUDGED, /* struct wire_judged: of a conflict that is held */
	WIRE_STARTUP_SENT, /* struct wire_startup: what it asked for was sent */
	WIRE_REPLAY, /* struct wire_replay: answers WIRE_INSTANCE */
	WIRE_HUNT, /* struct wire_hunt (hunt.h): hold a thread there */
	WIRE_RECORD, /* struct wire_site[]: of one program, to be recorded */

	WIRE_STARTED = 32, /* struct wire_started: the target is watched */
	WIRE_FAILED, /* struct wire_failed: it will not be; nothing follows */
	WIRE_PROCESS, /* struct wire_process: it, or a new program, is watched */
	WIRE_PROCESS_ENDED, /* struct wire_process: it is watched no more */
	WIRE_THREADS, /* struct wire_threads: their number changed */
	WIRE_STARTUP, /* struct wire_startup: its first threads wait; startup.h */
	WIRE_RETURNED, /* struct wire_returned[]: sites no longer armed */
	WIRE_SAMPLE, /* struct wire_sample: a stall has ended, or was not begun */
	/*
	 * struct wire_conflict; stack bytes: of side 0, side 1, their births;
	 * vectors and windows of side 0, side 1
	 */
	WIRE_CONFLICT,
	WIRE_CRASH, /* struct wire_crash, stack bytes: before PROCESS_ENDED */
	WIRE_STATS, /* struct wire_stats: each tick, and before an end */
	WIRE_STOPPED, /* struct wire_stopped: WIRE_DETACHED follows */
	WIRE_DETACHED, /* nothing: text and registers are restored */
	WIRE_EXITED, /* struct wire_exited: the target's end */
	WIRE_NOTE, /* text, not terminated: a warning for the user */
	WIRE_RUNNING, /* struct wire_running[] (running.h): code that was seen to run */
	WIRE_PROVOKED, /* struct wire_provoked (provoke.h): something has changed */
	WIRE_CALLERS, /* struct wire_callers, then uint64_t[] (running.h) */
	/*
	 * struct wire_instance; vectors of both threads; uint64_t[]: addresses of
	 * pages; the pages. Right behind its WIRE_CONFLICT, which announces it.
	 */
	WIRE_INSTANCE,
	WIRE_HUNTED, /* struct wire_hunted (hunt.h): what came of a WIRE_HUNT */
	WIRE_HUNT_WAIT, /* struct wire_hunt_wait (hunt.h): before its WIRE_HUNTED */
	WIRE_RECORDED, /* struct wire_recorded (record.h); stack bytes */
};

struct wire_header {
	uint32_t type;
	uint32_t size;
};

enum { WIRE_SIZE_MAX = 1 << 20, WIRE_STACK_MAX = 64 << 10 };

struct wire_range {
	uint64_t start, end;
	uint32_t program;
};

/* Memory that another process may have mapped too, at an address of its own. */
struct wire_shared {
	uint64_t start, end;
	uint64_t offset; /* in what is mapped, which is told by: */
	uint64_t device, inode;
};

/* Replaces what was said of the process before. */
struct wire_shared_head {
	int32_t pid;
	uint32_t count;
};

struct wire_signal {
	int32_t signal;
};

struct wire_judged {
	uint32_t freeze; /* of the conflict's message */
	bool stop; /* leave everything stopped there; else go on */
};

/* Processes left stopped at a conflict. */
struct wire_stopped {
	int32_t pids[2]; /* 0: none */
};

/* Which processes made by those watched are watched too. */
enum wire_follow {
	WIRE_FOLLOW_NONE,
	WIRE_FOLLOW_FORK, /* those that run the same program */
	WIRE_FOLLOW_ALL, /* and those that have become another by exec(2) */
};

struct wire_started {
	int32_t pid;
	uint64_t begun_ns; /* clock_now_ns() then */
	char backend[WIRE_NAME];
	bool kernel_accesses; /* the back-end sees accesses by the kernel */
	char reason[128]; /* why a better back-end was not taken, or "" */
};

struct wire_failed {
	int32_t kind; /* enum error_kind */
	int32_t code; /* errno or 0 */
	char message[512];
};

/*
 * WIRE_PROCESS is sent of a process that was asked for at once, of a child when it
 * has lived for a moment (announce.h), and of each when it has its second thread.
 */
struct wire_process {
	int32_t pid;
	int32_t parent; /* 0: not one of those watched */
	uint32_t program;
	uint32_t threads; /* that run it, most at a time so far */
	bool exec; /* it was watched before, with another program */
};

struct wire_threads {
	uint32_t count;
};

struct wire_startup {
	uint64_t begun_ns; /* of WIRE_STARTUP: since then they wait */
	uint32_t program, unused;
};

enum wire_returned_why {
	WIRE_FIRED, /* hit */
	WIRE_MISSED, /* hit, and no stall could be had */
	WIRE_LIFTED, /* the pool was made smaller, or an exec, fork... */
	WIRE_REFUSED, /* the text there is not what the site says */
	WIRE_DEFERRED, /* a thread stands there; try again later */
	WIRE_IDLE, /* nobody can race with any process that runs the program */
};

static inline bool wire_was_hit(enum wire_returned_why why)
{
	return why == WIRE_FIRED || why == WIRE_MISSED;
}

struct wire_returned {
	uint64_t id;
	uint32_t program;
	uint32_t why; /* enum wire_returned_why */
};

enum wire_outcome {
	WIRE_QUIET, /* the deadline came */
	WIRE_RACED, /* a conflict ended the stall */
	WIRE_ALONE, /* ended early or not begun: nobody else can run */
	WIRE_ABANDONED, /* the thread died or the watching ended */
	WIRE_PASSED, /* a hit, but no stall: there was no room or no token */
	WIRE_PRIVATE, /* the same: no other process has these bytes */
};

struct wire_sample {
	uint64_t id;
	uint32_t program;
	int32_t pid, tid;
	uint32_t outcome; /* enum wire_outcome */
	bool stalled; /* another thread could run meanwhile */
	struct mem_access access;
	uint64_t stalled_ns;
};

struct wire_exited {
	int32_t pid;
	int32_t status; /* as wait(2) gives it */
	uint64_t ended_ns; /* clock_now_ns() then */
};

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints that leave the text as it is (--text-untouched): perf execution
 * breakpoints in the debug registers of every thread, which stop a thread
 * before the instruction. They use the slots of the watch (watch.h), so the
 * back-end "perf" updates running threads, new threads and forked processes,
 * and removes them from a thread that is detached.
 *
 * Four locations can be set, one for each register. When a stall begins, all of
 * them are removed: this frees the registers for its watch, and the other
 * threads run undisturbed. They are set again when no stall runs. Moving a
 * register's event from a location to the bytes is one system call, as arming
 * the watch alone is, and no register lies idle between stalls.
 *
 * A location keeps its register for a short time only; then another is drawn.
 */
#ifndef TRACEE_EXECPOINT_H
#define TRACEE_EXECPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "tracee/watch.h"

struct program_text;

enum {
	/* locations set at a time */
	EXECPOINT_MAX = DREGS_SLOTS,
	/* and one more for the second half of a pair, during a stall */
	EXECPOINT_PLACES = EXECPOINT_MAX + 1,
};

struct execpoint {
	const struct program_text *text; /* NULL: the place is free */
	uint64_t address;
	bool claimed; /* has a register; while a stall runs it has none */
	struct watch_claim claim;
	uint64_t since_ns; /* has had it since then, */
	uint64_t left_ns; /* and may have it so long from then on */
};

struct execpoints {
	struct watch *watch; /* NULL: breakpoints are int3 in the text */
	struct execpoint points[EXECPOINT_PLACES];
	bool changed; /* threads have not been updated yet */
	uint64_t cost_ns; /* CPU time of doing that, the last time */
	uint64_t stay_ns; /* for which a location has its register, at least */
};

/* Begin to use them; the watch's back-end is "perf". */
void execpoints_begin(struct execpoints *execpoints, struct watch *watch);

/* About how many locations are to be set in a second, of all registers. */
void execpoints_set_rate(struct execpoints *execpoints, uint32_t rate);

/* Is there a place and a register for one more? */
bool execpoints_has_room(const struct execpoints *execpoints);

/*
 * Set or remove a location of the program. execpoints_resume() updates the
 * threads, or an earlier update of the watch does.
 */
bool execpoint_set(struct execpoints *execpoints,
		   const struct program_text *text, uint64_t address);
void execpoint_unset(struct execpoints *execpoints,
		     const struct program_text *text, uint64_t address);
/* All of the program's. */
void execpoints_forget(struct execpoints *execpoints,
		       const struct program_text *text);

/* A stall is about to claim registers: give up those of the locations. */
void execpoints_suspend(struct execpoints *execpoints);

/* What is to be done about the threads. */
enum execpoints_news {
	EXECPOINTS_SAME, /* nothing */
	EXECPOINTS_SET, /* watch_publish(): registers are in use */
	EXECPOINTS_NONE, /* watch_retire(): none is any more */
};

/*
 * Unless a stall runs, give the locations their registers back. The caller sets
 * cost_ns to the time that the update of the threads takes.
 */
enum execpoints_news execpoints_resume(struct execpoints *execpoints,
				       bool stalled);

/*
 * The location that one of these slots, trapped in a thread of the program,
 * is for; NULL: none now.
 */
const struct execpoint *execpoint_of_trap(const struct execpoints *execpoints,
					  const struct program_text *text,
					  uint8_t slots,
					  const uint64_t gens[DREGS_SLOTS]);

/* A location that has had its register long enough; NULL: none. */
const struct execpoint *execpoints_due(const struct execpoints *execpoints,
				       uint64_t now);
/* When there is one; UINT64_MAX: not by time alone. */
uint64_t execpoints_next_ns(const struct execpoints *execpoints);

#endif

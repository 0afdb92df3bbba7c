/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The target record (racewatch-json(5)): a side, which is one access of a
 * recorded run that another thread's access conflicts with, and what came of
 * holding a thread there in later runs.
 *
 * A side is RaceHunter's memory access descriptor (Programming and Computer
 * Software 50(6), 2024, definition 11): a thread or any, an instruction, the top
 * of the stack that tells its executions apart, and an ordinal among those. The
 * paper's target is a pair of descriptors; here one held side serves all its
 * partners.
 */
#ifndef REPORT_TARGET_RECORD_H
#define REPORT_TARGET_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "report/hand-over.h"
#include "report/place.h"
#include "report/recorded.h"

struct strbuf;

/* An access that conflicts with the side, of another thread. */
struct hunt_partner {
	struct hunt_place place;
	char *thread_path; /* as recorded */
	uint32_t size; /* bytes */
	bool writes, atomic;
	bool syscall; /* the kernel's, in a system call: no place to stop at */
	/*
	 * The string function of the C library that it is in; NULL: none. The
	 * place is in the variant of it that glibc chooses as hunt/variants.h
	 * has it.
	 */
	char *string_function;
	char *function; /* that the instruction is in; NULL: unknown */
	uint64_t distance_ns; /* between the two, in the recording */
};

struct hunt_side {
	uint64_t id; /* from 1, of the hunt */
	char fingerprint[33]; /* of the descriptor; the same in each hunt */
	char *program; /* path of the executable of its process */
	/*
	 * "0": the initial thread; "0.1": the second thread that it created.
	 * NULL: any thread.
	 */
	char *thread_path;
	struct hunt_place place;
	/*
	 * Return addresses, innermost first (struct hunt_place). A stack
	 * matches if it begins with these; empty: any does.
	 */
	struct vec stack;
	/*
	 * Of the executions of this instruction in that thread with such a
	 * stack: from 0. Of any thread: among its own executions. In a string
	 * function, of one instruction of it, which each call may execute never
	 * or many times.
	 */
	uint64_t ordinal;
	uint32_t size; /* bytes */
	bool writes, atomic;
	char *string_function; /* as in struct hunt_partner */
	bool locked; /* a lock that a partner also held was held */
	bool locks_unknown; /* whether one was, is not known */
	struct vec partners; /* of struct hunt_partner, the nearest first */
	/* how long to hold the thread for the partners recorded to come */
	uint64_t hold_ns;
	double rank; /* 0..1; the higher, the earlier it is tried */
	char *variable; /* name of the bytes; NULL: unknown */
	char *function; /* that the instruction is in; NULL: unknown */
	struct recorded recorded; /* of its bytes */
	/*
	 * Of struct hunt_hand_over, from the first sender to the last receiver:
	 * what has ordered it with a partner in the recording. Empty: nothing.
	 */
	struct vec hand_overs;
	/*
	 * The two accesses of the recording that these have ordered, as struct
	 * recorded_access, the earlier one first; both or none.
	 */
	struct vec ordered_pair;
	/*
	 * Of the code of that function and of the partners', with their callers,
	 * and where in them the accesses are; the same in another build if these
	 * are. "": unknown.
	 */
	char code_hash[33];
};

enum target_result {
	TARGET_PENDING, /* not tried, or not to the end */
	TARGET_PROVOKED, /* another thread accessed the held bytes */
	/* none could: all others waited, or had ended */
	TARGET_ORDERED,
	TARGET_UNREACHED, /* no thread came to the side */
	TARGET_TIMEOUT, /* a thread was held for hold_ns, and none came */
	TARGET_UNCHANGED, /* its function is as in an older hunt, not tried */
	TARGET_RESULTS
};

struct target_outcome {
	unsigned int result; /* enum target_result */
	uint64_t runs; /* in which it was tried */
	uint64_t reached; /* most executions that were counted in a run */
	uint64_t hold_ns; /* the longest hold, 0: none */
	char *ordered_by; /* what put it in order; NULL: not known */
	char race[33]; /* fingerprint by names of what it met; "": none */
};

struct target_record {
	uint64_t time; /* of the outcome: wall clock, ns; 0: pending */
	struct hunt_side side;
	struct target_outcome outcome;
	uint64_t race_id; /* in this report, of what it met; 0: unknown */
};

/* All zero and empty; end with the _deinit(). */
void target_record_init(struct target_record *record);
void target_record_deinit(struct target_record *record);
void hunt_side_init(struct hunt_side *side);
void hunt_side_deinit(struct hunt_side *side);
void hunt_partner_init(struct hunt_partner *partner);
void target_outcome_deinit(struct target_outcome *outcome);

/* "pending", "provoked", ... */
const char *target_result_name(unsigned int result);
/* False: there is none of that name. */
bool target_result_parse(const char *name, unsigned int *ret);

/*
 * "thread 0.1 WRITES 8 bytes, used, at cache+0x1179 (shard_add), execution 4";
 * executions count from 1 here, as people count.
 */
void target_say_side(struct strbuf *line, const struct hunt_side *side);
/* "thread 0.1 READS 8 bytes at cache+0x1216 (shard_evict)" */
void target_say_partner(struct strbuf *line,
			const struct hunt_partner *partner);
/* "unreached: 2 of 4 executions in 3 runs" */
void target_say_outcome(struct strbuf *line,
			const struct target_record *record);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the recording of a hunt knows of raced bytes: their heap block, and who
 * accessed them, with which locks (racewatch-json(5)). Addresses and
 * thread paths are those of the recorded run. Each struct owns what it has.
 */
#ifndef REPORT_RECORDED_H
#define REPORT_RECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct fields;
struct race_side;

enum recorded_lock_kind {
	RECORDED_MUTEX,
	RECORDED_RWLOCK,
	RECORDED_SPIN,
	RECORDED_LOCK_KINDS
};

struct recorded_lock {
	char *name; /* of its variable; NULL: unknown */
	uint64_t address;
	unsigned int kind; /* enum recorded_lock_kind */
	bool shared; /* for reading */
	struct vec taken; /* of struct race_frame: the call that took it */
};

/* The accesses of an instruction with one stack in one thread. */
struct recorded_access {
	/*
	 * Where the first and the last are among all recorded accesses, from 1;
	 * the last one is up to 255 too low. 0: was not recorded.
	 */
	uint64_t first, last;
	uint64_t count;
	char *thread_path; /* as in report/target-record.h */
	unsigned int access; /* enum access_kind */
	uint32_t size; /* bytes */
	bool atomic, syscall; /* as in struct race_side */
	char *string_function; /* of the C library, that it is in; NULL: none */
	bool held; /* it is the side, before which a thread is held */
	struct vec locks; /* of struct recorded_lock: at the first one */
	bool locks_unknown; /* which it held was not recorded: none are there */
	struct vec frames; /* of struct race_frame, innermost first */
};

struct recorded_block {
	uint64_t address, size; /* bytes; size 0: in no block that is known */
	char *thread_path; /* that allocated it */
	struct vec allocated; /* of struct race_frame: the call */
};

struct recorded {
	int pid; /* of the recorded process */
	uint64_t address; /* of the side's bytes; 0: nothing is known of them */
	uint32_t size;
	struct recorded_block block;
	/*
	 * The recorder's numbers are in order within each thread only, not across
	 * threads: it does not know which of two threads came first.
	 */
	bool order_unknown;
	struct vec accesses; /* of struct recorded_access, by `first' */
	uint64_t
		left_out; /* accesses as those, before, between or after them */
};

extern const struct fields recorded_fields, recorded_access_fields;
extern const struct fields recorded_lock_fields;

/* "mutex", "rwlock", "spinlock" */
const char *recorded_lock_kind_name(unsigned int kind);

/*
 * Which of the accesses the race's side made, by the instruction and its
 * callers; the one that is held is preferred, or with `other' is not. NULL: none.
 */
const struct recorded_access *recorded_find(const struct recorded *recorded,
					    const struct race_side *side,
					    bool other);

#endif

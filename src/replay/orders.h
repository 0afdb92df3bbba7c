/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Schedules: the two threads of the captured instance run in an order, always
 * from the captured state (PLDI'07, section 4.2: "two possible orders"), and what
 * they have written is kept.
 */
#ifndef REPLAY_ORDERS_H
#define REPLAY_ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "replay/processor.h"
#include "replay/region.h"

/*
 * One step of a schedule: so much of one thread. A thread that waits for the other
 * one, on a futex(2), by sched_yield(2) or in a loop, lets that one run to the end
 * of its region first, whatever the steps say.
 */
enum replay_extent {
	/* the access: an instruction, or all from a load to its store */
	REPLAY_ACCESS,
	REPLAY_REST, /* to the end of the region, the access first if need be */
	/* the access in two parts; only where orders_can_split() */
	REPLAY_LOAD,
	REPLAY_STORE,
};

struct replay_step {
	uint8_t thread; /* 0 or 1 */
	uint8_t extent; /* enum replay_extent */
};

/* The regions whole: the first thread's, then the other's. */
enum { ORDERS_WHOLE_STEPS = 2 };
extern const struct replay_step orders_ab[ORDERS_WHOLE_STEPS];
extern const struct replay_step orders_ba[ORDERS_WHOLE_STEPS];

struct outcome_page {
	int space; /* 1: of the second thread's process alone */
	uint64_t address; /* of its first byte */
	uint8_t bytes[REPLAY_PAGE];
};

/* What a schedule led to. Zeroed by outcome_init(). */
struct replay_outcome {
	/*
	 * all steps were made, and nothing stopped a thread before its end: a
	 * return, an arrival or a system call
	 */
	bool complete;
	/* a thread waited for the other one or yielded, which went on instead */
	bool waited;
	/* how the last step ended, and whose it was */
	struct replay_stop stop;
	int stopped;
	struct replay_stop ends[REPLAY_THREADS]; /* the last of each thread */
	struct replay_context contexts[REPLAY_THREADS];
	struct vec pages; /* struct outcome_page: those that differ */
};

void outcome_init(struct replay_outcome *outcome);
void outcome_deinit(struct replay_outcome *outcome);

/* *ret is set anew; false: out of memory. */
bool outcome_copy(const struct replay_outcome *outcome,
		  struct replay_outcome *ret);

/* The page if it differs, NULL otherwise. */
const struct outcome_page *outcome_page(const struct replay_outcome *outcome,
					int space, uint64_t address);

/*
 * Run a schedule. A step that stops a thread before its end is the last. Once a page
 * was missed that the code can write, the stop of all schedules of the instance is
 * REPLAY_LEARNING, and none is complete: capture it again. *ret is set anew.
 * Errors as of region_run(); after one there is no instance any more, and *ret
 * means nothing.
 */
struct error *orders_run(struct processor *processor,
			 const struct replay_step *steps, size_t count,
			 struct replay_outcome *ret);

/*
 * Can the thread's access be split, so that the other may run between its load and
 * its store?
 */
bool orders_can_split(const struct processor *processor, int thread);

/*
 * Copy bytes as the schedule left them, by their address in the first thread's
 * process (space 0) or the second's (1, if that is another); false: some of them
 * were never there.
 */
bool outcome_read(const struct replay_outcome *outcome,
		  const struct processor *processor, int space,
		  uint64_t address, void *bytes, size_t size);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory live-outs of two schedules of one instance, compared (PLDI'07,
 * section 4.3). Registers are in the outcomes; which of them are alive is the
 * caller's to know.
 */
#ifndef REPLAY_LIVEOUT_H
#define REPLAY_LIVEOUT_H

#include <stdint.h>

#include "base/vec.h"

struct error;
struct processor;
struct replay_outcome;

/* Bytes that differ, all of them. Within one page. */
struct liveout {
	int space; /* as struct outcome_page has it */
	uint64_t address;
	uint64_t size;
};

/*
 * Append to `ret', a vector of struct liveout, what differs between the two,
 * ascending by address within each page. Left out is what is dead in both: below
 * the stack pointer of a thread (struct replay_thread, stack_low; 64 KiB where
 * that is not known). Both are of the instance that the processor has.
 * ERROR_NOMEM only.
 */
struct error *liveout_compare(const struct processor *processor,
			      const struct replay_outcome *a,
			      const struct replay_outcome *b, struct vec *ret);

#endif

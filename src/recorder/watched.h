/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a watched function does: blocks come and go, locks are held, threads are
 * joined.
 */
#ifndef RECORDER_WATCHED_H
#define RECORDER_WATCHED_H

#include <stdint.h>

struct recorder;
struct thread;

/*
 * The current thread enters a watched function: its first three arguments, and
 * where its return address is.
 */
void watched_enter(struct recorder *recorder, uint32_t function, uint64_t sp,
		   const uint64_t arguments[3]);
/* The stack pointer is sp, after a return with a result. */
void watched_return(struct recorder *recorder, struct thread *thread,
		    uint64_t sp, uint64_t result);

#endif

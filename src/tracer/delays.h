/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long threads have had to wait for a processor while another one was held.
 * In that time they could not come to it; so a hold that is to meet them lasts so
 * much longer. On a busy machine, or with several runs at a time, they would be
 * missed otherwise.
 *
 * The kernel counts a thread's waits when it runs again (proc(5), schedstat). One
 * that is ready to run and has not run at all has waited all the time.
 */
#ifndef TRACER_DELAYS_H
#define TRACER_DELAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct thread;
struct tracees;

/* The number of threads that are looked at, of all processes together. */
enum { DELAYS_THREADS = 128 };

struct delays {
	struct vec threads; /* of struct delays_thread */
	bool begun;
	uint64_t begun_ns;
	uint64_t given_ns; /* by delays_more(), in all */
};

/*
 * Begin anew, with all threads of watched programs but `held'. Out of memory, some
 * are not looked at.
 */
void delays_begin(struct delays *delays, const struct tracees *tracees,
		  const struct thread *held, uint64_t now);
void delays_deinit(struct delays *delays);

/*
 * The longest wait of one of the threads since the beginning, in nanoseconds,
 * `most_ns' at most; less what has been given before. A thread that was created
 * since counts from its creation.
 */
uint64_t delays_more(struct delays *delays, const struct tracees *tracees,
		     const struct thread *held, uint64_t most_ns, uint64_t now);

/*
 * How far the one that came furthest has got since the beginning: the time that it
 * did not have to wait for a processor. seen_ns is how long after the beginning
 * one of them was last seen able to run: of what is after that, only computed time
 * counts.
 */
uint64_t delays_moved(const struct delays *delays,
		      const struct tracees *tracees, const struct thread *held,
		      uint64_t seen_ns, uint64_t now);

#endif

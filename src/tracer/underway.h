/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Births that were under way when a process was attached to. What a thread creates
 * by a system call that it entered before it was seized is not traced: a thread
 * that no scan of /proc/PID/task has seen yet, a child with a copy of the memory,
 * or one in the memory itself, as of vfork(2). None of them would live through a
 * breakpoint of ours. So none is set before
 *
 *	each thread was seen once, seized, not to be in the middle of such a call:
 *	in another one, where it sleeps, or at a stop;
 *	after that, two scans have shown no thread that is not traced (the kernel
 *	leaves one out of a scan when another ends at that moment);
 *	no child in the memory of the process is without a tracer.
 *
 * A thread that runs whenever it is looked at is stopped once: whether it runs in
 * such a call is not told. Scans go on for a second, and less often for as long as
 * that is not known of some thread; after 5 s the user gets a note. (A kernel
 * without CONFIG_PROC_CHILDREN does not say what a thread waits for in vfork(2).)
 */
#ifndef TRACER_UNDERWAY_H
#define TRACER_UNDERWAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct engine;

struct underway {
	uint64_t begun_ns; /* when all was seized; 0: nothing was attached to */
	uint64_t due_ns; /* of the next scan; 0: there is none */
	unsigned int looks, quiet; /* scans; in a row, that showed nobody new */
	pid_t unknown; /* a thread that the others wait for; 0: there was none */
	bool told; /* of it */
};

enum { UNDERWAY_QUIET = 2 };

/* The processes have been attached to. */
void underway_begin(struct engine *engine, uint64_t now);

/* Look again, if it is time. Without a right to trace what is found, all end. */
void underway_tick(struct engine *engine, uint64_t now);

/* When underway_tick() is to be called; UINT64_MAX: never again. */
uint64_t underway_next_ns(const struct underway *underway);

/* May breakpoints be set? */
static inline bool underway_is_over(const struct underway *underway)
{
	return underway->begun_ns == 0 || underway->quiet >= UNDERWAY_QUIET;
}

#endif

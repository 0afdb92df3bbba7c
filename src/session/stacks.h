/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds code that is about to run, by the stacks of threads that sleep: the
 * functions that a sleeping thread will return to. A server's threads sleep
 * most of the time, and run so briefly that samples by a clock
 * (tracer/profile.h) find few of them. No thread is stopped, and no page is
 * read that a process would have to provide (sys/memory.h).
 *
 * A stack also has addresses of calls that have ended, whose functions ran not
 * long ago. A value that only looks like a return address does little harm: a
 * function that does not run is sampled. Stacks of threads that do not sleep
 * are read by the tracer while it has them stopped (tracer/profile-stops.h).
 */
#ifndef SESSION_STACKS_H
#define SESSION_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct image;
struct memory;
struct watched;

enum {
	STACKS_THREADS = 32, /* looked at in one go, others the next time */
	STACKS_BYTES = 2048, /* of each stack, from its top */
};

struct stacks {
	uint64_t due_ns; /* when to look again */
	uint64_t step_ns; /* from one look to the next */
	size_t next; /* thread to begin with, where there are many */
};

void stacks_init(struct stacks *stacks);

/*
 * Code at the address runs, in the program of that image. An error ends the
 * look.
 */
typedef struct error *stacks_found(void *data, const struct image *image,
				   uint64_t address);

/* Is there watched text at the address, and can a call end right before it? */
bool stacks_is_return(const struct image *image, uint64_t address);

/* Of one thread of the image's program; nothing where it does not sleep. */
struct error *stacks_look_at(const struct image *image,
			     const struct memory *memory, pid_t tid,
			     stacks_found *found, void *data);

/* Of threads of all processes of programs in which threads can race. */
struct error *stacks_look(struct stacks *stacks, const struct watched *watched,
			  stacks_found *found, void *data);

/*
 * A look has been taken: after one that found something new the next is soon,
 * after others later and later.
 */
void stacks_looked(struct stacks *stacks, uint64_t now_ns, bool found);

#endif

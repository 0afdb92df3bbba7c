/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a program does first, it may do only once: its threads set up what they
 * share. A breakpoint takes some milliseconds to come there, since what is to
 * be armed must be read first. So where every location that has not run yet is
 * to be armed (wire_params.startup_ns), the first two threads of a program
 * wait, the one before it returns from clone(2) and the other before its first
 * instruction, until the front end has sent them all (WIRE_STARTUP_SENT) and
 * they are in the text, and no longer than that time.
 *
 * It is not a stall: nothing is watched. The time counts as lost, but is not to
 * be earned before the first stalls, which it is for. Each program has one of
 * its own (program_text.startup); several may wait at a time.
 */
#ifndef TRACER_STARTUP_H
#define TRACER_STARTUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracee/hold.h"

struct core;
struct load;
struct pool;
struct provoke;
struct program_text;
struct thread;

struct startup {
	struct hold creator, newborn;
	bool had; /* it has begun, or is over */
	uint64_t begun_ns; /* 0: nobody waits */
	uint64_t recent_ns; /* the program is still beginning until then */
	uint64_t patience_ns; /* startup_patience_ns() */
	pid_t maker; /* the creator, also when it waits no more */
	int births; /* of threads since then that had sites armed again */
	uint64_t born_ns; /* the last of these */
	bool sent; /* all sites are with us */
	bool delayed; /* startup_delay() */
};

/* Those of all programs. */
struct startups {
	struct core *core;
	struct load *load;
	struct pool *pool;
	const struct provoke *provoke;
	uint32_t waiting; /* programs whose first threads wait */
};

/* That of the program, which owns it; NULL: out of memory. */
struct startup *startup_of(struct program_text *text);

/*
 * The thread, stopped in clone(2), has made another. If that is the second of
 * its process, the first with two to run its program, both wait from now on.
 * For the next few, what has run before is to be armed again, since none of these
 * was there to race with it: true then.
 */
bool startup_begin(struct startups *startups, struct thread *creator);

/*
 * For a hunt: the only thread of its process is stopped before the first
 * instruction of its program, the libraries of which are there. It waits, as
 * those do, and its second thread will not.
 */
void startup_enter(struct startups *startups, struct thread *thread);
/*
 * The same, later: the thread has loaded a library. False: it does not wait, since
 * another one does, or nobody would answer.
 */
bool startup_again(struct startups *startups, struct thread *thread);
/* Breakpoints that do not come from the pool are still to be set, or are set. */
void startup_delay(struct program_text *text, bool delayed);

/* Does anybody wait? */
bool startup_waits(const struct program_text *text);

/*
 * A newborn is in its first stop: it stays there if its creator waits. Where a
 * thread waits at the loader, it goes on.
 */
void startup_newborn(struct startups *startups, struct thread *thread);

/* Have the first threads of the program begun to run only lately? */
bool startup_is_recent(const struct program_text *text, uint64_t now);
/*
 * Until when all programs that can be sampled are so; 0: one of them is not, or
 * there is none.
 */
uint64_t startup_all_until(const struct startups *startups, uint64_t now);

/*
 * Does it make the program's first threads? Its stall does not end that of one
 * that it has made, which waits to meet those that it will make.
 */
bool startup_makes(const struct thread *thread, uint64_t now);

/*
 * For so long a stall does not give way to what another thread runs for the first
 * time, while the program begins. It is drawn for each program, as neither finds
 * all: where it is 0, more locations have a stall, and else one that is held
 * where another comes round soon may meet it. So runs differ in what they find.
 */
uint64_t startup_patience_ns(const struct program_text *text);

/*
 * How long a stall at a site that is armed once may be now; UINT64_MAX: as long as
 * others. While the program begins, that follows from its age since its last
 * thread was made (lengths_young()). The first one that it makes is held for longer:
 * it waits to meet the next.
 */
uint64_t startup_stall_ns(const struct program_text *text, uint64_t now);

/* WIRE_STARTUP_SENT. */
void startup_sent(struct startups *startups, const void *payload, size_t size);

/* Let them go when everything is armed, or the time is over. */
void startup_tick(struct startups *startups, uint64_t now);
/* When that is needed by time alone; UINT64_MAX: never. */
uint64_t startup_next_ns(const struct startups *startups);

/* Everything is being released: nobody is held any more. */
void startup_end(struct startups *startups);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which code of the watched program runs. Most of a large text never does, so
 * sites are to be drawn from what does. Threads are sampled by the clock of
 * their CPU time (sys/cpuclock.h), a few at a time and each in turn, those that
 * were never looked at first; where they were seen goes to the front end
 * (running.h). No thread is stopped for it.
 *
 * It costs the program an interrupt for each sample, and some microseconds each
 * time that a thread which is sampled is put on a processor. Both are counted,
 * and are at most one part in PROFILE_PART of the time that the program may
 * lose; beyond that nothing is sampled for a while. The same is paid for by the
 * budget of stalls (budget.h). As long as there is new code, all the time is
 * sampled; later PROFILE_LOOK_NS of each second, so that new code is seen within
 * a second of its first run.
 *
 * Where perf is refused, threads are stopped for it, and those that are stopped
 * for other reasons tell too: profile-stops.h. Nothing is sampled where nothing
 * is armed: at a rate of 0, and in a process whose threads can race with no
 * other.
 */
#ifndef TRACER_PROFILE_H
#define TRACER_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/cpuclock.h"
#include "tracer/running.h"

struct core;
struct load;
struct pool;
struct stalls;
struct startups;
struct thread;

enum {
	PROFILE_CLOCKS = 16, /* threads that are sampled at a time */
	/*
	 * The same where there is little to lose: more would soon use up what
	 * may be spent, and most of that for being opened.
	 */
	PROFILE_LOW_CLOCKS = 4,
	PROFILE_PART = 8,
	PROFILE_LOOK_NS = 100 * 1000 * 1000,
};

struct profile_clock {
	struct thread *thread; /* NULL: not in use */
	struct cpuclock clock;
	uint32_t program;
	uint32_t switches; /* of the clock, when it was last read */
	uint64_t opened_ns;
	bool ran; /* since it was opened */
};

struct profile {
	struct core *core;
	struct load *load;
	const struct pool *pool;
	const struct stalls *stalls;
	const struct startups *startups;
	struct profile_clock clocks[PROFILE_CLOCKS];
	struct running running;
	unsigned int open; /* clocks in use */
	bool worked; /* one could be opened */
	bool refused; /* none can be */
	bool resting, looking; /* looks are for when it rests */
	bool broke; /* credit is being saved */
	/* since phase_ns; fresh: of them, in blocks that are new since then */
	uint32_t samples, fresh;
	uint64_t phase_ns; /* when learning, the rest or the look began */
	uint32_t racing; /* processes that can be sampled, when last counted */
	double credit_ns; /* what may be spent */
	uint64_t earned_ns; /* when it was last computed */
	uint64_t read_ns; /* when clocks were last read, ... */
	uint64_t read_gap_ns; /* and when again, where little may be lost */
	uint64_t fill_ns; /* threads are not looked for before */
	uint64_t stack_ns; /* no stack is read before (profile-stops.h) */
};

void profile_init(struct profile *profile);
void profile_deinit(struct profile *profile);

/* Read what was sampled, sample others, tell the front end. */
void profile_tick(struct profile *profile, uint64_t now);
/* When that is needed between the tracer's ticks; UINT64_MAX: not. */
uint64_t profile_next_ns(const struct profile *profile);

/* The thread is being forgotten: what was sampled of it stays. */
void profile_forget(struct profile *profile, struct thread *thread);
/* It has become another program: what was sampled is of no use. */
void profile_exec(struct profile *profile, struct thread *thread);

/* Stop sampling. */
void profile_end(struct profile *profile);

#endif

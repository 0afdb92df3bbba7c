/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which code runs, where perf is refused (profile.h): containers, seccomp,
 * kernel.perf_event_paranoid. Where a thread stands that is stopped, for whatever
 * reason, is told as a sample is. So are the words on top of its stack, among
 * which the front end finds return addresses (WIRE_CALLERS). Threads that run
 * and that nothing else stops are stopped for it, a few at a time, as often as
 * profile.h would sample them by a clock. A thread that sleeps in a system call
 * is left alone: the call might end early, and the front end looks at its stack
 * without a stop (session/stacks.h).
 *
 * A stop costs the program some 50 us. What is spent on these is part of what
 * profile.h may spend, and is paid for by the budget of stalls as any stop.
 */
#ifndef TRACER_PROFILE_STOPS_H
#define TRACER_PROFILE_STOPS_H

#include <stdint.h>

struct profile;
struct thread;
struct x86_registers;

/* Bytes of a stack that are read, from its top. */
enum { PROFILE_STACK_BYTES = 1024 };

/*
 * A thread was stopped with these registers; NULL: they are read if they are of
 * use. Does nothing where threads are sampled by clocks.
 */
void profile_stopped(struct profile *profile, const struct thread *thread,
		     const struct x86_registers *regs);

/* Stop threads that run. For profile_tick(), where perf is refused. */
void profile_stops_fill(struct profile *profile, uint64_t now);

#endif

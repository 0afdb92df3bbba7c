/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The breakpoints of a provocation: they stay, whoever comes by (provoke.h).
 */
#ifndef TRACER_PROVOKE_SITES_H
#define TRACER_PROVOKE_SITES_H

#include <stdbool.h>

struct breakpoint;
struct engine;
struct thread;
struct x86_registers;

/* Set those that are not set, as far as that may be done now. */
void provoke_sites_arm(struct engine *engine);

/*
 * The thread, stopped at a breakpoint that stays, is to go over it. The caller
 * resumes it. A thread of a program that was attached to is not stepped (see
 * step.h): the breakpoint is lifted, and provoke_tick() sets it again.
 */
void provoke_sites_pass(struct engine *engine, struct thread *thread,
			struct breakpoint *breakpoint,
			const struct x86_registers *regs);

/*
 * A thread is held. In a program that was attached to it does not stand on a
 * breakpoint, unless that is of both sides: it would run into it if the tracer
 * died. Until the hold ends only those of the other side are armed.
 */
void provoke_sites_free(struct engine *engine);

/* May the breakpoint, if it is not armed, be lifted only for that? */
bool provoke_sites_returns(const struct engine *engine,
			   const struct breakpoint *breakpoint);

/* Lift all; for good: nothing that is still on its way sets one again. */
void provoke_sites_lift(struct engine *engine, bool for_good);

#endif

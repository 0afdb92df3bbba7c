/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bringing one race about (RaceHunter's provocation; racewatch-provoke(1)). The
 * first thread that comes to one of the two instructions is held before it, for
 * longer than any stall, and outside of the budget, until another comes to the
 * other instruction with the same bytes. Both are held then. The one whose access
 * is to go first makes it, by a single step, and stays; the other makes its own
 * and runs on for PROVOKE_AHEAD_NS, and the first goes on after that. So the two
 * orders differ in the order of the two accesses, and hardly in luck. After that
 * nothing is armed any more, and WIRE_PROVOKED says so.
 *
 * Breakpoints at both instructions stay all the time: who is not the other of a
 * pair is stepped over them. In a program that was attached to nobody but the
 * two is stepped (step.h): there a breakpoint is lifted for a moment, and who
 * comes by meanwhile is missed.
 */
#ifndef TRACER_PROVOKE_H
#define TRACER_PROVOKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "tracee/hold.h"
#include "tracee/step.h"
#include "tracee/watch.h"
#include "wire/provoke.h"
#include "wire/site.h"

struct breakpoint;
struct core;
struct engine;
struct thread;
struct wire_range;

enum provoke_state {
	PROVOKE_OFF, /* nothing is to be provoked */
	PROVOKE_WAITING, /* for the first thread, or for the end of a pause */
	PROVOKE_HOLDING, /* members[0] is held, and waits for the other */
	PROVOKE_FIRST, /* both are held; the first makes its access */
	PROVOKE_SETTLING, /* it has made it, and is to stop again (step.h) */
	PROVOKE_SECOND, /* the first is held behind it; the second makes its own */
	PROVOKE_AHEAD, /* the second has gone on, the first is still held */
	PROVOKE_DONE,
};

struct provoke;

/* One of the two threads. */
struct provoke_member {
	struct step step; /* first: it is what the callback gets */
	struct engine *engine;
	struct hold hold;
	struct wire_site site;
	int steps; /* left, of an instruction that repeats itself */
	bool raised; /* the instruction has raised a signal */
	struct x86_registers regs;
	struct mem_access accesses[X86_OPERANDS_MAX];
	int access_count;
};

struct provoke {
	struct core *core;
	enum provoke_state state;
	struct wire_provoke params;
	struct vec sites; /* of struct wire_site: to be armed, or armed */
	size_t unset; /* of them, those that are not */
	bool deferred; /* of these, one is to be tried again soon */
	uint64_t rearm_ns; /* one was lifted for a moment, until then; 0: no */
	struct provoke_member members[WIRE_PROVOKE_SIDES];
	struct watch_claim claims[X86_OPERANDS_MAX]; /* of members[0] */
	uint32_t claimed; /* bits of those that are there */
	int first; /* the member that goes first */
	bool made; /* it has made its access */
	pid_t settling; /* its thread */
	bool touched; /* the held bytes, while they were watched */
	uint64_t since_ns; /* when the member was held */
	uint64_t until_ns; /* of the state; 0: no pause */
	uint64_t look_ns; /* next, for whether others can run */
	struct wire_provoked news;
};

/* Nothing is provoked until provoke_begin(); the parameters are copied. */
void provoke_init(struct provoke *provoke, struct core *core);
void provoke_deinit(struct provoke *provoke);
void provoke_begin(struct provoke *provoke, const struct wire_provoke *params);

/* WIRE_SITES: those of the two sides. Armed as soon as that may be done. */
void provoke_take(struct provoke *provoke, const struct wire_site *sites,
		  size_t count);
/* The range of the program's text has gone. */
void provoke_forget(struct provoke *provoke, const struct wire_range *range);
/* Is one of the program's still to be armed? */
bool provoke_waits(const struct provoke *provoke, uint32_t program);

/*
 * The thread is stopped at a breakpoint of one of the sides, rip on it. True: it
 * is held now. False: it has nothing to wait for, and is to go over it.
 */
bool provoke_hit(struct engine *engine, struct thread *thread,
		 const struct breakpoint *breakpoint,
		 const struct x86_registers *regs);

/* A watch has trapped. False: it was none of a held member's bytes. */
bool provoke_trap(struct engine *engine, uint8_t slots,
		  const uint64_t gens[DREGS_SLOTS]);

/* The stepped member's instruction raises a signal, which is delivered now. */
void provoke_raised(struct engine *engine, const struct thread *thread);
/* The thread has ended: of its access, if that raised a signal. */
void provoke_ended(struct engine *engine, const struct thread *thread);
/* The thread has stopped after an interrupt, and is to be resumed. */
void provoke_stopped(struct engine *engine, struct thread *thread);

/* The thread of the hold has gone. False: it was no member. */
bool provoke_lose(struct engine *engine, const struct hold *hold);

/* Arm what is not, and go on to the next state when it is time. */
void provoke_tick(struct engine *engine, uint64_t now);
/* When that is needed; UINT64_MAX: not by time alone. */
uint64_t provoke_next_ns(const struct engine *engine);

/* Everything is being released: nobody is held any more. */
void provoke_end(struct engine *engine);

#endif

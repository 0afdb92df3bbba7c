/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stepping a thread; see step.h.
 */
#include "target/step.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "target/breakpoint.h"
#include "target/engine.h"
#include "target/thread.h"

void step_begin(struct step *step, struct thread *thread)
{
	step->thread = thread;
	thread->step = step;
}

static void step_end(struct step *step)
{
	step->thread->step = NULL;
	step->thread = NULL;
}

bool step_trapped(struct engine *engine, struct thread *thread)
{
	struct step *step = thread->step;

	if (!step)
		return false;
	if (!step->stepped(engine, step) && thread->step == step)
		step_end(step);
	return true;
}

void step_lost(struct engine *engine, struct thread *thread)
{
	struct step *step = thread->step;

	if (!step)
		return;
	step_end(step);
	if (step->lost)
		step->lost(engine, step);
}

/* One thread on its way over one persistent breakpoint. */
struct step_over {
	struct step step;
	struct addrspace *space;
	uint64_t address;
};

static void step_over_rearm(struct engine *engine, struct step_over *over)
{
	struct breakpoint *breakpoint =
		breakpoint_find(over->space, over->address);

	if (breakpoint && engine->phase == ENGINE_WATCHING)
		engine_note(engine, breakpoint_rearm(over->space, breakpoint));
	addrspace_release(over->space);
	free(over);
}

static bool step_over_stepped(struct engine *engine, struct step *step)
{
	step_end(step);
	step_over_rearm(engine, (struct step_over *)step);
	return false;
}

static void step_over_lost(struct engine *engine, struct step *step)
{
	step_over_rearm(engine, (struct step_over *)step);
}

void step_over_breakpoint(struct engine *engine, struct thread *thread,
			  struct breakpoint *breakpoint)
{
	struct step_over *over = calloc(1, sizeof(*over));

	/*
	 * without memory the breakpoint stays lifted: the thread matters more
	 */
	if (over) {
		over->step.stepped = step_over_stepped;
		over->step.lost = step_over_lost;
		over->space = thread->process->space;
		over->space->users++;
		over->address = breakpoint->site.address;
		step_begin(&over->step, thread);
	}
	thread_resume(engine, thread);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loaders; see hunt-loader.h.
 */
#include "tracer/hunt-loader.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "sys/loader.h"
#include "sys/memory.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracer/announce.h"
#include "tracer/arm.h"
#include "tracer/engine.h"
#include "tracer/hunt.h"
#include "tracer/startup.h"

/*
 * All waits at a loader together last no longer than this many of the longest: a
 * program that loads thousands of libraries goes on.
 */
enum { HUNT_LOADER_WAITS = 2 };

/* Not that of a site: these are counted from the lowest (sampling/sampleset.h). */
static const uint64_t HUNT_LOADER_ID = WIRE_AIMED | (WIRE_AIMED - 1) >> 8;

static struct hunt_loader *hunt_loader_at(const struct hunt *hunt, size_t i)
{
	return vec_at(&hunt->loaders, i);
}

/* As an instruction of one byte: what it is does not matter. */
static struct error *hunt_loader_site(const struct process *process,
				      const struct loader_debug *debug,
				      struct wire_site *ret)
{
	size_t size = 0;

	*ret = (struct wire_site){
		.id = HUNT_LOADER_ID,
		.address = debug->function,
		.function = debug->function,
		.program = process->space->text->program,
		.hunt = true,
		.insn.length = 1,
	};
	return memory_read(&process->space->memory, debug->function, ret->bytes,
			   1, &size);
}

static void hunt_loader_stand(struct engine *engine, struct hunt_loader *loader)
{
	enum wire_returned_why why;

	if (loader->stands || loader->refused)
		return;
	why = arm_standing(engine, &loader->site);
	loader->stands = why == WIRE_FIRED;
	loader->refused = why == WIRE_REFUSED;
	if (loader->refused)
		core_note(&engine->core,
			  error_create(ERROR_UNSUPPORTED,
				       "process %d does not wait for libraries "
				       "that it loads: there can be no "
				       "breakpoint in its loader",
				       (int)loader->pid));
}

void hunt_loader_begin(struct engine *engine, const struct process *process)
{
	struct hunt_loader loader = { .pid = process->pid };
	struct error *err = loader_find(&process->space->memory, &loader.debug);

	if (!err)
		err = hunt_loader_site(process, &loader.debug, &loader.site);
	if (err) {
		/* as in a program that is linked statically */
		log_debug(LOG_TARGET, "no loader: %s", error_message(err));
		error_free(err);
		return;
	}
	hunt_loader_stand(engine, &loader);
	if (!vec_push(&engine->hunt.loaders, &loader))
		core_note(&engine->core, error_nomem);
}

void hunt_loader_end(struct engine *engine, const struct program_text *text)
{
	struct hunt *hunt = &engine->hunt;

	for (size_t i = hunt->loaders.count; i-- > 0;) {
		if (hunt_loader_at(hunt, i)->site.program == text->program)
			vec_remove_swap(&hunt->loaders, i);
	}
}

void hunt_loader_tick(struct engine *engine)
{
	for (size_t i = 0; i < engine->hunt.loaders.count; i++)
		hunt_loader_stand(engine, hunt_loader_at(&engine->hunt, i));
}

/*
 * What comes is to be read before it runs, and what goes before that: where a
 * conflict was told, it names what is about to be unmapped.
 */
static bool hunt_loader_is_news(const struct hunt *hunt,
				const struct hunt_loader *loader,
				const struct thread *thread)
{
	switch (loader_state(&thread->process->space->memory, &loader->debug)) {
	case LOADER_AT_REST:
		return true;
	case LOADER_UNMAPS:
		return hunt->met;
	case LOADER_MAPS:
		break;
	}
	return false;
}

static bool hunt_loader_may_wait(struct engine *engine,
				 struct hunt_loader *loader)
{
	uint64_t most = engine->pool.params.startup_ns * HUNT_LOADER_WAITS;

	if (loader->waited_ns < most)
		return true;
	if (!loader->over)
		core_note(&engine->core,
			  error_create(
				  ERROR_OTHER,
				  "process %d waits no more for libraries "
				  "that it loads: it has waited for %.1f s",
				  (int)loader->pid,
				  (double)loader->waited_ns / CLOCK_NS_PER_S));
	loader->over = true;
	return false;
}

/* The thread stands at the INT3. */
static void hunt_loader_wait(struct engine *engine, struct hunt_loader *loader,
			     struct thread *thread)
{
	struct hunt *hunt = &engine->hunt;

	/* it has waited, and comes again */
	if (loader->waited == thread->tid) {
		loader->waited = 0;
		loader->waited_ns += clock_now_ns() - loader->begun_ns;
		return;
	}
	if (!hunt_loader_is_news(hunt, loader, thread) ||
	    !hunt_loader_may_wait(engine, loader) ||
	    !startup_again(&engine->startups, thread))
		return;
	loader->waited = thread->tid;
	loader->begun_ns = clock_now_ns();
	hunt->met = false;
}

bool hunt_loader_hit(struct engine *engine, struct thread *thread,
		     const struct wire_site *site)
{
	const struct hunt *hunt = &engine->hunt;

	for (size_t i = 0; i < hunt->loaders.count; i++) {
		struct hunt_loader *loader = hunt_loader_at(hunt, i);

		if (!wire_site_is(&loader->site, site))
			continue;
		hunt_loader_wait(engine, loader, thread);
		return true;
	}
	return false;
}

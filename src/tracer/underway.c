/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Births under way at an attach; see underway.h.
 */
#include "tracer/underway.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "sys/procfs.h"
#include "sys/wait.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracer/birth.h"
#include "tracer/engine.h"
#include "tracer/launch.h"

enum {
	/* between two scans while breakpoints wait for them, and later */
	UNDERWAY_SOON_NS = 2 * 1000 * 1000,
	UNDERWAY_LATER_NS = 100 * 1000 * 1000,
	/* one that runs in so many scans is stopped */
	UNDERWAY_LOOKS = 5,
};

/*
 * The system call that the thread sleeps in; negative: it sleeps in none. False:
 * it runs, or that cannot be read.
 */
static bool underway_call(pid_t tid, long *ret_number)
{
	char text[256];
	char *end;
	struct error *err = procfs_text(tid, "syscall", text, sizeof(text));

	if (err) {
		error_free(err);
		return false;
	}
	*ret_number = strtol(text, &end, 10);
	return end != text;
}

static bool underway_is_birth(long number)
{
	return number == SYS_clone || number == SYS_clone3 ||
	       number == SYS_fork || number == SYS_vfork;
}

/* A thread whose children are looked at. */
struct underway_creator {
	struct engine *engine;
	const struct process *process;
	enum stop_kind kind; /* as its call would be announced */
	bool found; /* a child that was not known */
	bool waited; /* one that was: if it is in a call, it waits for that */
	struct error *err;
};

/* Its announcement is on its way, then; or it has ended. */
static bool underway_is_ours(pid_t pid)
{
	struct thread_status status;
	struct error *err = procfs_status(pid, &status);

	error_free(err);
	return err || status.tracer == getpid();
}

static bool underway_visit(pid_t pid, void *data)
{
	struct underway_creator *creator = data;
	const struct process *known =
		tracees_process(&creator->engine->core.tracees, pid);
	struct error *err;

	creator->waited |= known && known->role == PROCESS_GUEST;
	if (known || underway_is_ours(pid) ||
	    !birth_shares_memory(creator->process->pid, pid, creator->kind))
		return true;
	err = launch_guest(creator->engine, creator->process, pid);
	if (err == error_gone)
		return true;
	creator->found = true;
	creator->err = err;
	return !err;
}

/*
 * The thread's children without a tracer in its memory become ours. waits: it is
 * in a call that makes one, and maybe for as long as that lives (vfork(2)).
 */
static struct error *underway_take_children(struct engine *engine,
					    const struct process *process,
					    struct thread *thread, bool waits)
{
	struct underway_creator creator = {
		.engine = engine,
		.process = process,
		.kind = waits ? STOP_VFORK : STOP_FORK,
	};

	/* it has ended, or this kernel has no such file */
	error_free(procfs_children(process->pid, thread->tid, underway_visit,
				   &creator));
	thread->births_known = !waits || (creator.waited && !creator.found);
	return creator.err;
}

/* A thread that was seized: is it in a call that it had begun before? */
static struct error *underway_look(struct engine *engine,
				   const struct process *process,
				   struct thread *thread)
{
	uint64_t now = clock_now_ns();
	bool waits = false;
	long number;

	if (thread->unforked_ns == 0) {
		if (!underway_call(thread->tid, &number)) {
			if (engine->underway.looks >= UNDERWAY_LOOKS)
				thread_interrupt(thread);
			return NULL;
		}
		waits = underway_is_birth(number);
		if (!waits)
			thread->unforked_ns = now;
	}
	return underway_take_children(engine, process, thread, waits);
}

static bool underway_is_known(const struct thread *thread)
{
	return thread->births_known || thread->newborn ||
	       thread->state == THREAD_GONE;
}

/* *ret_quiet: nobody new has been found, and nobody may be on the way. */
static struct error *underway_scan_process(struct engine *engine,
					   struct process *process,
					   bool *ret_quiet)
{
	bool known = true, grew = false;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < process->threads.count; i++) {
		struct thread *thread = process_thread(process, i);

		if (!underway_is_known(thread))
			err = underway_look(engine, process, thread);
		known &= underway_is_known(thread);
	}
	/* the scan that counts begins when all are known */
	if (!err)
		err = launch_seize_new(engine, process, &grew);
	*ret_quiet = known && !grew;
	return err == error_gone ? NULL : err;
}

static struct error *underway_scan(struct engine *engine)
{
	struct tracees *tracees = &engine->core.tracees;
	size_t known = tracees->processes.count;
	struct error *err = NULL;
	bool quiet = true, one;

	/* those that are found on the way are looked at as well */
	for (size_t i = 0; !err && i < tracees->processes.count; i++) {
		struct process *process = tracees_process_at(tracees, i);

		if (process->role == PROCESS_COPY)
			continue;
		err = underway_scan_process(engine, process, &one);
		quiet &= one;
	}
	quiet &= tracees->processes.count == known;
	engine->underway.looks++;
	engine->underway.quiet = quiet ? engine->underway.quiet + 1 : 0;
	return err;
}

void underway_begin(struct engine *engine, uint64_t now)
{
	engine->underway = (struct underway){ .begun_ns = now, .due_ns = now };
}

void underway_tick(struct engine *engine, uint64_t now)
{
	struct underway *underway = &engine->underway;
	struct error *err;

	if (underway->due_ns == 0 || now < underway->due_ns)
		return;
	if (engine->core.phase != PHASE_WATCHING ||
	    (underway_is_over(underway) &&
	     now >= underway->begun_ns + CLOCK_NS_PER_S)) {
		underway->due_ns = 0;
		return;
	}
	err = underway_scan(engine);
	underway->due_ns = now + (underway_is_over(underway)
					  ? UNDERWAY_LATER_NS
					  : UNDERWAY_SOON_NS);
	if (!err)
		return;
	/* it would die of a breakpoint: none is set, and what is set is lifted */
	core_note(&engine->core, err);
	engine_release(engine);
}

uint64_t underway_next_ns(const struct underway *underway)
{
	return underway->due_ns != 0 ? underway->due_ns : UINT64_MAX;
}

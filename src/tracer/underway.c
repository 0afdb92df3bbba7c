/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Births under way at an attach; see underway.h.
 */
#include "tracer/underway.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "sys/memory.h"
#include "sys/procfs.h"
#include "sys/wait.h"
#include "tracee/addrspace.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracer/birth.h"
#include "tracer/engine.h"
#include "tracer/launch.h"

enum {
	/* between two scans while breakpoints wait for them, and later */
	UNDERWAY_SOON_NS = 2 * 1000 * 1000,
	UNDERWAY_LATER_NS = 100 * 1000 * 1000,
	/* a thread that runs in this number of scans is stopped */
	UNDERWAY_LOOKS = 5,
	/* after so long the user is told what breakpoints wait for */
	UNDERWAY_PATIENCE_S = 5,
};

/* The system call that a thread sleeps in. */
struct underway_call {
	long number; /* negative: it sleeps in none */
	uint64_t argument; /* the first */
};

/* False: it runs, or that cannot be read. */
static bool underway_read_call(pid_t tid, struct underway_call *ret)
{
	char text[256];
	char *end;
	struct error *err = procfs_text(tid, "syscall", text, sizeof(text));

	if (err) {
		error_free(err);
		return false;
	}
	ret->number = strtol(text, &end, 10);
	ret->argument = strtoull(end, NULL, 16);
	return end != text;
}

static bool underway_is_birth(long number)
{
	return number == SYS_clone || number == SYS_clone3 ||
	       number == SYS_fork || number == SYS_vfork;
}

/*
 * Does it wait for its child there (CLONE_VFORK)? The flags of clone3(2) begin the
 * structure that it is given.
 */
static bool underway_is_vfork(const struct process *process,
			      const struct underway_call *call)
{
	uint64_t flags = call->number == SYS_clone ? call->argument : 0;
	struct error *err = NULL;
	size_t size;

	if (call->number == SYS_clone3)
		err = memory_read(&process->space->memory, call->argument,
				  &flags, sizeof(flags), &size);
	error_free(err);
	return call->number == SYS_vfork || (!err && (flags & CLONE_VFORK));
}

/* A thread whose children are looked at. */
struct underway_creator {
	struct engine *engine;
	const struct process *process;
	enum stop_kind kind; /* as its call would be announced */
	bool found; /* a child that was not known */
	bool waited; /* one that was: if it is in a call, it waits for that */
	bool unread; /* something could not be read that counts */
	/* the last of which only the kind of call tells; 0: none */
	pid_t likely;
	struct error *err;
};

/* Its announcement is on its way, then; or it has ended. */
static bool underway_is_ours(struct underway_creator *creator, pid_t pid)
{
	struct thread_status status;
	struct error *err = procfs_status(pid, &status);

	creator->unread |= err && err != error_gone;
	error_free(err);
	return err || status.tracer == getpid();
}

static bool underway_take(struct underway_creator *creator, pid_t pid)
{
	struct error *err =
		launch_guest(creator->engine, creator->process, pid);

	if (err == error_gone)
		return true;
	creator->found = true;
	creator->err = err;
	return !err;
}

static bool underway_visit(pid_t pid, void *data)
{
	struct underway_creator *creator = data;
	pid_t parent = creator->process->pid;
	const struct process *known =
		tracees_process(&creator->engine->core.tracees, pid);

	creator->waited |= known && known->role == PROCESS_GUEST;
	if (known || underway_is_ours(creator, pid))
		return true;
	/* the kernel says so */
	if (birth_shares_memory(parent, pid, STOP_FORK))
		return underway_take(creator, pid);
	if (birth_shares_memory(parent, pid, creator->kind))
		creator->likely = pid;
	return true;
}

/*
 * The thread's children without a tracer in its memory become ours. kind: of the
 * call that it is in, which makes one; STOP_VFORK: maybe for as long as that lives.
 * Where the kernel does not tell whose memory is whose (kcmp(2)), the youngest is
 * the one that it waits for. waits: it is in such a call.
 */
static struct error *underway_take_children(struct engine *engine,
					    const struct process *process,
					    struct thread *thread, bool waits,
					    enum stop_kind kind)
{
	struct underway_creator creator = {
		.engine = engine,
		.process = process,
		.kind = kind,
	};
	struct error *err = procfs_children(process->pid, thread->tid,
					    underway_visit, &creator);

	/* else it has ended, or this kernel has no such file */
	creator.unread |= err && err != error_gone;
	error_free(err);
	if (creator.likely != 0 && !creator.waited && !creator.err)
		underway_take(&creator, creator.likely);
	thread->births_known = !creator.unread &&
			       (!waits || (creator.waited && !creator.found));
	return creator.err;
}

/* A thread that was seized: is it in a call that it had begun before? */
static struct error *underway_look(struct engine *engine,
				   const struct process *process,
				   struct thread *thread)
{
	enum stop_kind kind = STOP_FORK;
	uint64_t now = clock_now_ns();
	struct underway_call call;
	bool waits = false;

	if (thread->unforked_ns == 0) {
		if (!underway_read_call(thread->tid, &call)) {
			if (engine->underway.looks >= UNDERWAY_LOOKS)
				thread_interrupt(thread);
			return NULL;
		}
		waits = underway_is_birth(call.number);
		if (!waits)
			thread->unforked_ns = now;
		else if (underway_is_vfork(process, &call))
			kind = STOP_VFORK;
	}
	return underway_take_children(engine, process, thread, waits, kind);
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
		if (underway_is_known(thread))
			continue;
		known = false;
		engine->underway.unknown = thread->tid;
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

/* Once, when it takes long: nothing is set until it is over. */
static void underway_tell(struct engine *engine, uint64_t now)
{
	struct underway *underway = &engine->underway;

	if (underway_is_over(underway) || underway->told ||
	    underway->unknown == 0 ||
	    now < underway->begun_ns + UNDERWAY_PATIENCE_S * CLOCK_NS_PER_S)
		return;
	underway->told = true;
	core_note(&engine->core,
		  error_create(ERROR_OTHER,
			       "no breakpoint is set yet: thread %d may have "
			       "made a process in its memory before it was "
			       "attached to",
			       (int)underway->unknown));
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
	underway_tell(engine, now);
	underway->due_ns = now + (underway_is_over(underway) || underway->told
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

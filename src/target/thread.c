/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One traced thread; see thread.h.
 */
#include "target/thread.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/map.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "target/breakpoint.h"
#include "target/creation.h"
#include "target/engine.h"
#include "target/release.h"
#include "target/step.h"
#include "target/watch-update.h"

enum {
	/* stops in a row at one location without a sign of having run */
	PARKING_MAX = 3,
};

struct error *thread_create(struct process *process, pid_t tid,
			    struct thread **ret)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return error_nomem;
	if (!vec_push(&process->threads, &thread)) {
		free(thread);
		return error_nomem;
	}
	thread->process = process;
	thread->tid = tid;
	thread->index = process->threads.count - 1;
	for (int i = 0; i < DREGS_SLOTS; i++)
		thread->watch.fds[i] = -1;
	*ret = thread;
	return NULL;
}

/* The last of them takes its place. */
void thread_unlist(const struct thread *thread)
{
	struct vec *threads = &thread->process->threads;

	vec_remove_swap(threads, thread->index);
	if (thread->index < threads->count)
		process_thread(thread->process, thread->index)->index =
			thread->index;
}

void thread_destroy(struct engine *engine, struct thread *thread)
{
	release_take_back(engine, thread);
	thread_unpark(thread);
	watch_settled(&engine->tracees.watch, thread);
	watch_ops_of(&engine->tracees.watch, thread)
		->clear(&engine->tracees, thread);
	thread->state = THREAD_GONE;
	profile_forget(engine, thread);
	hold_lose(engine, thread);
	step_lost(engine, thread);
	creation_forget(engine, thread);
	map_remove(&engine->tracees.threads, (uint64_t)thread->tid);
	thread_unlist(thread);
	free(thread);
}

void thread_set_path(struct thread *child, struct thread *creator)
{
	uint32_t length = creator->path_length;

	/* deeper families share the path of their last known ancestor */
	memcpy(child->path, creator->path, sizeof(child->path));
	if (length < WIRE_PATH_MAX)
		child->path[length++] = creator->births;
	child->path_length = length;
	creator->births++;
}

bool thread_ok(struct thread *thread, struct error *err)
{
	if (!err)
		return true;
	if (err == error_gone)
		thread->state = THREAD_GONE;
	else
		log_debug(LOG_TARGET, "%s", error_message(err));
	error_free(err);
	return false;
}

bool thread_must(struct engine *engine, struct thread *thread,
		 struct error *err)
{
	if (!err || err == error_gone)
		return thread_ok(thread, err);
	engine_note(engine, err);
	engine->tracees.stuck = true;
	return false;
}

void thread_interrupt(struct thread *thread)
{
	if (thread->interrupting || thread->newborn ||
	    thread->state == THREAD_STOPPED || thread->state == THREAD_GONE)
		return;
	if (thread_ok(thread, trace_interrupt(thread->tid)))
		thread->interrupting = true;
}

void thread_resume(struct engine *engine, struct thread *thread)
{
	int signal = thread->deliver;

	if (thread->state != THREAD_STOPPED || thread->hold)
		return;
	if (thread->step && thread->step->resuming)
		thread->step->resuming(engine, thread->step);
	watch_ops_of(&engine->tracees.watch, thread)
		->prepare(&engine->tracees, thread);
	watch_settled(&engine->tracees.watch, thread);
	thread->stepping = thread->step != NULL;
	if (!thread_must(engine, thread,
			 thread->step ? trace_step(thread->tid, signal)
				      : trace_continue(thread->tid, signal)))
		return;
	thread->deliver = 0;
	thread->state = THREAD_RUNNING;
}

bool thread_blocks_trap(const struct thread *thread)
{
	return thread->signals.known &&
	       (thread->signals.mask & UINT64_C(1) << (SIGTRAP - 1));
}

void thread_unpark(struct thread *thread)
{
	struct thread_parking *parking = &thread->parking;
	struct breakpoint *breakpoint;

	if (parking->blocks) {
		breakpoint = breakpoint_find(thread->process->space,
					     parking->address);
		if (breakpoint && breakpoint->parked > 0)
			breakpoint->parked--;
	}
	memset(parking, 0, sizeof(*parking));
}

/* 0 where the kernel does not tell. */
static uint64_t thread_cpu_ns(const struct thread *thread)
{
	uint64_t ns = 0;

	error_free(procfs_cpu_time(thread->process->pid, thread->tid, &ns));
	return ns;
}

/*
 * Not by CPU time: to be trapped again takes some of it too. A thread that
 * has moved and come back has other registers, but for loops that only wait.
 */
static bool thread_stood_still(const struct thread_parking *parking,
			       const struct x86_registers *regs)
{
	return memcmp(parking->regs.gpr, regs->gpr, sizeof(regs->gpr)) == 0 &&
	       parking->regs.rflags == regs->rflags;
}

void thread_park(struct thread *thread, uint64_t address,
		 const struct x86_registers *regs)
{
	struct thread_parking *parking = &thread->parking;
	struct breakpoint *breakpoint;

	if (parking->address != address || !thread_stood_still(parking, regs)) {
		thread_unpark(thread);
		parking->address = address;
		parking->regs = *regs;
	}
	if (++parking->times < PARKING_MAX)
		return;
	parking->cpu_ns = thread_cpu_ns(thread);
	breakpoint = breakpoint_find(thread->process->space, address);
	if (breakpoint && !parking->blocks) {
		breakpoint->parked++;
		parking->blocks = true;
	}
}

bool thread_has_left(struct thread *thread, uint64_t address)
{
	const struct thread_parking *parking = &thread->parking;

	if (!parking->blocks || parking->address != address)
		return true;
	/* stopped, it may stand there again */
	if (thread->state == THREAD_STOPPED ||
	    thread_cpu_ns(thread) == parking->cpu_ns)
		return false;
	thread_unpark(thread);
	return true;
}

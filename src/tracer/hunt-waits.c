/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What others waited for; see hunt-waits.h. They wait in system calls, so that
 * /proc/TID/syscall has their stack pointers, and their stacks do not change.
 */
#include "tracer/hunt-waits.h"

#include <string.h>

#include "base/error.h"
#include "sys/memory.h"
#include "sys/procfs.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracer/engine.h"
#include "tracer/hunt.h"

static const struct thread *hunt_thread_at(const struct process *process,
					   const struct thread_place *place)
{
	for (size_t i = 0; i < process->threads.count; i++) {
		const struct thread *thread = process_thread(process, i);

		if (thread_is_at(thread, place))
			return thread;
	}
	return NULL;
}

bool hunt_has_created(const struct process *process,
		      const struct thread_place *place)
{
	struct thread_place creators = *place;

	while (creators.length > 0) {
		uint32_t number = creators.path[--creators.length];
		const struct thread *creator =
			hunt_thread_at(process, &creators);

		if (creator)
			return number < creator->threads_made;
	}
	return true;
}

static void hunt_wait_read(const struct thread *thread,
			   struct wire_hunt_wait *wait)
{
	const struct memory *memory = &thread->process->space->memory;
	struct procfs_wait at;
	size_t size = 0;

	wait->pid = thread->process->pid;
	wait->tid = thread->tid;
	wait->program = thread->process->space->text->program;
	if (!procfs_wait(thread->tid, &at))
		return;
	wait->call = at.number;
	wait->argument = at.args[0];
	wait->pc = at.pc;
	wait->sp = at.sp;
	/* without it there are no callers */
	error_free(memory_read(memory, at.sp, wait->stack, sizeof(wait->stack),
			       &size));
	wait->stack_size = (uint32_t)size;
}

void hunt_waits_take(struct hunt_target *target, const struct process *process)
{
	for (uint32_t i = 0; i < target->wire.other_count; i++) {
		struct wire_hunt_wait *wait = vec_append(&target->waits);
		struct thread_place place = { .deep = false };
		const struct thread *thread;

		if (!wait)
			return;
		*wait = (struct wire_hunt_wait){ .side = target->wire.side,
						 .other =
							 target->wire.others[i],
						 .state = WIRE_OTHER_WAITS,
						 .call = -1 };
		place.length = wait->other.length;
		memcpy(place.path, wait->other.path, sizeof(place.path));
		thread = hunt_thread_at(process, &place);
		if (thread)
			hunt_wait_read(thread, wait);
		else
			wait->state = hunt_has_created(process, &place)
					      ? WIRE_OTHER_ENDED
					      : WIRE_OTHER_UNBORN;
	}
}

bool hunt_waits_tell(struct engine *engine, struct hunt_target *target)
{
	while (target->waits.count > 0) {
		if (!channel_send(&engine->core.channel, WIRE_HUNT_WAIT,
				  vec_at(&target->waits, 0),
				  sizeof(struct wire_hunt_wait)))
			return false;
		vec_remove_first(&target->waits, 1);
	}
	return true;
}

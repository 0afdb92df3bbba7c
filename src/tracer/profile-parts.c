/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which threads are to be looked at, and what was seen; see profile-parts.h.
 */
#include "tracer/profile-parts.h"

#include <stddef.h>

#include "tracee/thread.h"
#include "tracer/core.h"
#include "tracer/load.h"

enum {
	/* between looks for threads, and what each of them adds to that */
	PROFILE_FILL_NS = 20 * 1000 * 1000,
	PROFILE_FILL_THREAD_NS = 20 * 1000,
};

bool profile_is_low(const struct profile *profile)
{
	return budget_is_small(&profile->load->budget);
}

void profile_note(struct profile *profile, uint32_t program, uint64_t address,
		  uint64_t now)
{
	uint64_t born = running_note(&profile->running, program, address, now);

	profile->samples++;
	profile->fresh += born != 0 && born >= profile->phase_ns;
}

static void profile_queue_add(struct profile_queue *queue,
			      struct thread *thread)
{
	unsigned int i = queue->count;

	if (i == PROFILE_CLOCKS &&
	    queue->threads[i - 1]->profile_due_ns <= thread->profile_due_ns)
		return;
	if (i == PROFILE_CLOCKS)
		i--;
	else
		queue->count++;
	for (; i > 0 &&
	       queue->threads[i - 1]->profile_due_ns > thread->profile_due_ns;
	     i--)
		queue->threads[i] = queue->threads[i - 1];
	queue->threads[i] = thread;
}

void profile_queue_fill(const struct profile *profile,
			struct profile_queue *queue, uint64_t now)
{
	queue->count = 0;
	for (size_t i = 0; i < profile->core->tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&profile->core->tracees, i);

		if (process->role != PROCESS_WATCHED ||
		    !core_may_race(profile->core, process))
			continue;
		for (size_t j = 0; j < process->threads.count; j++) {
			struct thread *thread = process_thread(process, j);

			if (!thread->profiled &&
			    thread->profile_due_ns <= now &&
			    (thread->state == THREAD_RUNNING ||
			     thread->state == THREAD_STOPPED))
				profile_queue_add(queue, thread);
		}
	}
}

bool profile_fill_is_due(struct profile *profile, uint64_t now)
{
	if (now < profile->fill_ns)
		return false;
	profile->fill_ns =
		now + PROFILE_FILL_NS +
		PROFILE_FILL_THREAD_NS * profile->core->tracees.threads.count;
	return true;
}

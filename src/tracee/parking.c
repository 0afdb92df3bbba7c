/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that are resumed on a lifted location; see parking.h.
 */
#include "tracee/parking.h"

#include <string.h>

#include "base/error.h"
#include "sys/procfs.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/thread.h"

enum {
	/* stops in a row at one location without a sign of having run */
	PARKING_MAX = 3,
};

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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The "perf" back-end: one perf breakpoint event per thread and slot, with
 * sigtrap, so that running threads are armed without being stopped and the
 * one that touches the bytes is held at once, also when the kernel touched
 * them for it. Events are opened when first needed and closed when the
 * watch has been idle, since an open one costs at each context switch.
 */
#include "tracee/watch.h"

#include <stddef.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/perfwatch.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"

/* Marks our cookies among those of events that the program itself opens. */
static const uint64_t perf_cookie_mark = UINT64_C(0x7261636500000000);
static const uint64_t perf_cookie_mask = UINT64_C(0xffffffff00000000);

static uint64_t perf_count(int fd)
{
	uint64_t count = UINT64_MAX;

	error_free(perfwatch_count(fd, &count));
	return count;
}

/*
 * An access by the kernel traps when its system call returns, and does so
 * even if the event has been closed by then.
 */
static void perf_unset(struct thread *thread, int slot)
{
	int fd = thread->watch.fds[slot];

	if (fd >= 0) {
		if (thread->watch.generation[slot] != 0)
			error_free(perfwatch_disable(fd));
		if (thread->watch.periods[slot] <= 1 &&
		    perf_count(fd) != thread->watch.told[slot])
			thread->watch.trap_pending = true;
		close(fd);
	}
	thread->watch.fds[slot] = -1;
	thread->watch.generation[slot] = 0;
	thread->watch.address[slot] = 0;
}

static struct error *perf_set(const struct tracees *tracees,
			      struct thread *thread,
			      const struct watch_view *view, int slot)
{
	const struct dregs_slot *want = &view->dregs.slots[slot];
	struct perfwatch_spec spec = {
		.address = want->address,
		.length = want->length,
		.write_only = want->type == DREGS_WRITE,
		.execute = want->type == DREGS_EXECUTE,
		.kernel = tracees->watch.kernel,
		.period = tracees->watch.owners[slot].text
				  ? tracees->watch.owners[slot].period
				  : 0,
		/*
		 * the low half of the generation is enough to tell them apart
		 */
		.cookie = perf_cookie_mark | (uint32_t)view->generation[slot],
	};
	int *fd = &thread->watch.fds[slot];

	/* the period of an open one stays */
	if (spec.period > 1 || thread->watch.periods[slot] > 1)
		perf_unset(thread, slot);
	if (*fd >= 0)
		return perfwatch_move(*fd, &spec);
	thread->watch.told[slot] = 0;
	thread->watch.periods[slot] = spec.period;
	return perfwatch_open(thread->tid, &spec, fd);
}

static void perf_update(struct tracees *tracees, struct thread *thread)
{
	struct watch_view view;

	if (thread->process->role != PROCESS_WATCHED)
		return;
	watch_view_thread(&tracees->watch, thread, &view);
	for (int i = 0; i < DREGS_SLOTS; i++) {
		struct error *err = NULL;

		if (thread->watch.generation[i] == view.generation[i])
			continue;
		if (view.generation[i] != 0)
			err = perf_set(tracees, thread, &view, i);
		else if (thread->watch.fds[i] >= 0)
			err = perfwatch_disable(thread->watch.fds[i]);
		thread->watch.generation[i] = view.generation[i];
		thread->watch.address[i] = view.dregs.slots[i].address;
		if (!err)
			continue;
		perf_unset(thread, i);
		if (err->kind == ERROR_UNSUPPORTED) {
			tracees->stats->out_of_registers++;
			tracees->watch.refused++;
		}
		thread_ok(thread, err);
	}
}

static void perf_clear(struct tracees *tracees, struct thread *thread)
{
	(void)tracees;
	for (int i = 0; i < DREGS_SLOTS; i++)
		perf_unset(thread, i);
}

/*
 * Told of one trap, the thread is at the end of a system call or in none: all
 * that was counted so far is told now, or queued and told before it goes on.
 */
static void perf_told(struct thread_watch *watch)
{
	watch->trap_pending = false;
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if (watch->fds[i] >= 0)
			watch->told[i] = perf_count(watch->fds[i]);
	}
}

static uint8_t perf_trapped(struct thread *thread, const struct trap_info *info,
			    uint64_t gens[DREGS_SLOTS])
{
	uint8_t slots = 0;

	if (info->code != TRAP_CODE_PERF ||
	    (info->perf_data & perf_cookie_mask) != perf_cookie_mark)
		return 0;
	perf_told(&thread->watch);
	for (int i = 0; i < DREGS_SLOTS; i++) {
		gens[i] = thread->watch.generation[i];
		/*
		 * the event may have been moved since it fired: both must fit
		 */
		if (gens[i] && (uint32_t)gens[i] == (uint32_t)info->perf_data &&
		    thread->watch.address[i] == info->address)
			slots |= (uint8_t)(1u << i);
	}
	return slots ? slots : watch_trap_of_the_past(gens);
}

const struct watch_ops watch_by_perf = {
	.name = "perf",
	.live = true,
	.update = perf_update,
	.prepare = perf_update,
	.clear = perf_clear,
	.trapped = perf_trapped,
};

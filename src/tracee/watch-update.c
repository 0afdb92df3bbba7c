/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bringing threads into line with the watch; see watch-update.h.
 */
#include "tracee/watch-update.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"

enum {
	/* an ended watch may stay in a thread this long; the next stall
	 * usually comes sooner and stops the threads anyway */
	WATCH_LINGER_NS = 3 * 1000 * 1000,
	/* an open perf event costs at each context switch of its thread */
	WATCH_IDLE_NS = 1000 * 1000,
	WATCH_CHANGE_NS = 1000 * 1000 * 1000,
	WATCH_REFUSED_NS = 2000 * 1000 * 1000,
	/* the gap between two looks at what processes share grows by this... */
	WATCH_SCATTERED_NS = 1000 * 1000 * 1000,
	/* ...for this many pairs of processes */
	WATCH_PAIRS = 4096,
};

const struct watch_ops *watch_ops_of(const struct watch *watch,
				     const struct thread *thread)
{
	return thread->watch.by_registers ? &watch_by_registers : watch->ops;
}

void watch_choose(struct tracees *tracees, struct thread *thread)
{
	if (tracees->watch.ops != &watch_by_perf || !thread->signals.lasting ||
	    thread->watch.by_registers || !thread_blocks_trap(thread))
		return;
	watch_by_perf.clear(tracees, thread);
	thread->watch.by_registers = true;
	/* elsewhere, the next stall does it */
	if (tracees->watch.exact && thread->state == THREAD_RUNNING &&
	    !thread->newborn)
		watch_by_registers.update(tracees, thread);
}

bool watch_next_sample(struct tracees *tracees, struct watch_sample *ret)
{
	const struct watch_ops *ops = tracees->watch.ops;

	return ops->next_sample && ops->next_sample(tracees, ret);
}

typedef void watch_action(struct tracees *tracees, struct thread *thread);

static void watch_update_one(struct tracees *tracees, struct thread *thread)
{
	if (thread->state == THREAD_RUNNING && !thread->newborn)
		watch_ops_of(&tracees->watch, thread)->update(tracees, thread);
}

static void watch_close_one(struct tracees *tracees, struct thread *thread)
{
	if (!thread->watch.by_registers)
		tracees->watch.ops->clear(tracees, thread);
}

static void watch_each_thread(struct tracees *tracees, watch_action *action)
{
	for (size_t i = 0; i < tracees->processes.count; i++) {
		struct process *process = tracees_process_at(tracees, i);

		if (process->role != PROCESS_WATCHED)
			continue;
		for (size_t j = 0; j < process->threads.count; j++)
			action(tracees, process_thread(process, j));
	}
}

/* The events of threads are gone, or those of processors. */
static void watch_change(struct tracees *tracees, const struct watch_ops *ops)
{
	struct watch *watch = &tracees->watch;

	watch_each_thread(tracees, watch_close_one);
	if (watch->ops->shut)
		watch->ops->shut(tracees);
	watch->ops = ops;
	watch_each_thread(tracees, watch_choose);
	watch->clean_at_ns = 0;
}

/* Has a process much memory that another one has at another address? */
static bool watch_is_scattered(const struct tracees *tracees)
{
	const struct vec *processes = &tracees->processes;

	for (size_t i = 0; i < processes->count; i++) {
		const struct process *one = tracees_process_at(tracees, i);

		for (size_t j = 0; j < i; j++) {
			const struct process *other =
				tracees_process_at(tracees, j);

			if (one->role == PROCESS_WATCHED &&
			    other->role == PROCESS_WATCHED &&
			    !sharing_is_alike(one->space, other->space))
				return true;
		}
	}
	return false;
}

static uint64_t watch_scattered_gap(const struct tracees *tracees)
{
	uint64_t count = tracees->processes.count;

	return WATCH_SCATTERED_NS * (1 + count * count / WATCH_PAIRS);
}

uint32_t watch_many(struct watch *watch, bool little)
{
	long processors;

	if (!little)
		return watch->many;
	if (watch->processors == 0) {
		processors = sysconf(_SC_NPROCESSORS_ONLN);
		watch->processors = processors < 1 ? 1 : (uint32_t)processors;
	}
	return WATCH_MANY_PER_CPU_LOW * watch->processors;
}

bool watch_is_changing(const struct watch *watch)
{
	return watch->opening;
}

void watch_shut(struct tracees *tracees)
{
	/* of perf-cpu, which may not have become the back-end yet */
	if (tracees->watch.state)
		watch_by_cpu.shut(tracees);
	tracees->watch.opening = false;
}

/* Its events could not be had. */
static void watch_refuse_cpu(struct tracees *tracees, const char *why,
			     uint64_t now)
{
	struct watch *watch = &tracees->watch;

	log_debug(LOG_TARGET, "perf-cpu: %s", why);
	watch->change_ns = now + WATCH_REFUSED_NS;
	watch_shut(tracees);
}

/* idle as they are, the events of threads hold registers */
static void watch_open_cpu(struct tracees *tracees, uint64_t now)
{
	struct error *err;

	watch_each_thread(tracees, watch_close_one);
	err = watch_cpu_open(tracees);
	if (err)
		watch_refuse_cpu(tracees, error_message(err), now);
	else
		tracees->watch.opening = true;
	error_free(err);
}

/* Are events of processors open now? Then they are used from now on. */
static bool watch_take_cpu(struct tracees *tracees, uint64_t now)
{
	struct watch *watch = &tracees->watch;

	if (watch_cpu_opens(watch))
		return false;
	watch->opening = false;
	/* it has what it needs most */
	if (watch->ops == &watch_by_cpu)
		return false;
	if (watch_cpu_refused(watch)) {
		watch_refuse_cpu(tracees,
				 error_message(watch_cpu_refused(watch)), now);
		return false;
	}
	log_debug(LOG_TARGET, "perf-cpu: its events are open");
	watch_change(tracees, &watch_by_cpu);
	/* to open the events of threads again takes time */
	watch->change_ns = now + WATCH_CHANGE_NS;
	return true;
}

/* Threads, as far as events of processors can watch them. */
static uint32_t watch_threads(struct tracees *tracees, uint32_t many,
			      uint64_t now)
{
	struct watch *watch = &tracees->watch;
	uint32_t threads = tracees_thread_count(tracees);

	if (threads >= many / 2 && now >= watch->scattered_ns) {
		watch->scattered = watch_is_scattered(tracees);
		watch->scattered_ns = now + watch_scattered_gap(tracees);
	}
	return watch->scattered ? 0 : threads;
}

/*
 * An event of each thread is set in 5 to 8 us, those of all processors in 20 to
 * 50 us, however many threads there are. But they cannot watch memory where
 * another process has it at another address (watch_sees_all()).
 */
bool watch_suit(struct tracees *tracees, bool little, uint64_t now)
{
	struct watch *watch = &tracees->watch;
	const struct watch_ops *before = watch->ops;
	uint32_t threads, many;

	if (watch->opening)
		return watch_take_cpu(tracees, now);
	if (watch->ops == &watch_by_cpu)
		watch->opening = watch_cpu_open_more(tracees);
	if (watch->opening)
		return false;
	if (watch->many == 0 || now < watch->change_ns)
		return false;
	many = watch_many(watch, little);
	threads = watch_threads(tracees, many, now);
	if (watch->ops == &watch_by_cpu && threads < many / 2)
		watch_change(tracees, &watch_by_perf);
	if (watch->ops == &watch_by_perf && threads > many)
		watch_open_cpu(tracees, now);
	return watch->ops != before;
}

/* Has the space a slot's bytes at another address? */
static bool watch_is_elsewhere(const struct watch *watch,
			       const struct watch_claim *claim,
			       const struct addrspace *space)
{
	struct watch_view view;

	watch_view(watch, space, &view);
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if ((claim->claim.slots & (1u << i)) &&
		    view.generation[i] != 0 &&
		    view.dregs.slots[i].address != watch_slot_address(watch, i))
			return true;
	}
	return false;
}

bool watch_sees_all(const struct tracees *tracees,
		    const struct watch_claim *claim)
{
	if (tracees->watch.ops != &watch_by_cpu)
		return true;
	for (size_t i = 0; i < tracees->processes.count; i++) {
		const struct process *process = tracees_process_at(tracees, i);

		if (process->role == PROCESS_WATCHED &&
		    watch_is_elsewhere(&tracees->watch, claim, process->space))
			return false;
	}
	return true;
}

void watch_publish(struct tracees *tracees)
{
	tracees->watch.clean_at_ns = 0;
	if (tracees->watch.ops->update_all)
		tracees->watch.ops->update_all(tracees);
	watch_each_thread(tracees, watch_update_one);
}

/*
 * Where the program would outlive us, a watch that stays in a thread kills it
 * if the tracer is killed meanwhile: it does not stay.
 */
static uint64_t watch_linger(const struct tracees *tracees)
{
	return tracees->guardian ? 0 : WATCH_LINGER_NS;
}

void watch_retire(struct tracees *tracees)
{
	const struct watch_ops *ops = tracees->watch.ops;
	bool live = ops->live;

	if (live)
		watch_publish(tracees);
	/* threads have nothing of their own to be closed: nobody wakes up for it */
	if (ops->update_all)
		return;
	tracees->watch.clean_at_ns =
		clock_now_ns() + (live ? WATCH_IDLE_NS : watch_linger(tracees));
}

static bool watch_in_use(const struct watch *watch)
{
	uint64_t any = 0;

	for (int i = 0; i < DREGS_SLOTS; i++)
		any |= watch->generation[i];
	return any != 0;
}

void watch_tick(struct tracees *tracees, uint64_t now)
{
	struct watch *watch = &tracees->watch;

	if (watch->clean_at_ns == 0 || now < watch->clean_at_ns)
		return;
	watch->clean_at_ns = 0;
	if (watch->ops->live && watch_in_use(watch))
		watch->clean_at_ns = now + WATCH_IDLE_NS;
	else
		watch_each_thread(tracees, watch->ops->live ? watch_close_one
							    : watch_update_one);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The watch: which slots watch what, and keeping threads in line; see
 * watch.h.
 */
#include "target/watch.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "target/breakpoint.h"
#include "target/engine.h"
#include "target/selftest.h"
#include "target/sigstate.h"
#include "target/thread.h"

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
	/* addresses of programs have no more bits (x86-64, four levels) */
	WATCH_TAG_SHIFT = 48,
};

uint64_t watch_slot_address(const struct watch *watch, int slot)
{
	return watch->dregs.slots[slot].address &
	       ((UINT64_C(1) << WATCH_TAG_SHIFT) - 1);
}

static void watch_own(struct watch *watch, int slot,
		      const struct addrspace *space)
{
	struct watch_owner *owner = &watch->owners[slot];

	owner->text = NULL;
	owner->tag = space->tag;
	owner->shared = sharing_place(space, watch_slot_address(watch, slot),
				      watch->dregs.slots[slot].length,
				      &owner->place);
	watch->generation[slot] = ++watch->last_generation;
}

bool watch_claim(struct watch *watch, const struct addrspace *space,
		 uint64_t address, uint32_t size, enum dregs_type type,
		 struct watch_claim *ret)
{
	uint8_t used = 0;

	if (watch->ops->blind || address >> WATCH_TAG_SHIFT)
		return false;
	address |= (uint64_t)space->tag << WATCH_TAG_SHIFT;
	for (int i = 0; i < DREGS_SLOTS; i++)
		used |= (uint8_t)((watch->dregs.slots[i].users > 0) << i);
	if (!dregs_claim(&watch->dregs, address, size, type, true, &ret->claim))
		return false;
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if (!(ret->claim.slots & (1u << i)))
			continue;
		if (!(used & (1u << i)))
			watch_own(watch, i, space);
		ret->generation[i] = watch->generation[i];
	}
	return true;
}

bool watch_claim_execution(struct watch *watch, const struct program_text *text,
			   uint64_t address, struct watch_claim *ret)
{
	/* any of the spaces: its tag tells programs apart */
	const struct addrspace *space =
		*(struct addrspace **)vec_at(&text->spaces, 0);

	if (address >> WATCH_TAG_SHIFT)
		return false;
	address |= (uint64_t)space->tag << WATCH_TAG_SHIFT;
	if (!dregs_claim(&watch->dregs, address, 1, DREGS_EXECUTE, false,
			 &ret->claim))
		return false;
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if (!(ret->claim.slots & (1u << i)))
			continue;
		watch->owners[i] = (struct watch_owner){ .text = text };
		watch->generation[i] = ++watch->last_generation;
		ret->generation[i] = watch->generation[i];
	}
	return true;
}

void watch_release(struct watch *watch, const struct watch_claim *claim)
{
	dregs_release(&watch->dregs, &claim->claim);
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if (watch->dregs.slots[i].users == 0)
			watch->generation[i] = 0;
	}
}

static bool watch_applies(const struct watch *watch, int slot,
			  const struct addrspace *space, uint64_t *ret)
{
	const struct watch_owner *owner = &watch->owners[slot];

	if (watch->generation[slot] == 0 ||
	    (owner->text && owner->text != space->text))
		return false;
	if (owner->text || owner->tag == space->tag) {
		*ret = watch_slot_address(watch, slot);
		return true;
	}
	return owner->shared &&
	       sharing_address(space, &owner->place,
			       watch->dregs.slots[slot].length, ret);
}

void watch_view(const struct watch *watch, const struct addrspace *space,
		struct watch_view *ret)
{
	ret->dregs = watch->dregs;
	for (int i = 0; i < DREGS_SLOTS; i++) {
		struct dregs_slot *slot = &ret->dregs.slots[i];

		ret->generation[i] = watch->generation[i];
		if (watch_applies(watch, i, space, &slot->address))
			continue;
		*slot = (struct dregs_slot){ .users = 0 };
		ret->generation[i] = 0;
	}
}

const struct watch_ops *watch_ops_of(const struct watch *watch,
				     const struct thread *thread)
{
	return thread->watch.by_registers ? &watch_by_registers : watch->ops;
}

void watch_settled(struct watch *watch, struct thread *thread)
{
	if (!thread->watch.dirty)
		return;
	thread->watch.dirty = false;
	watch->pending--;
}

uint8_t watch_trap_of_the_past(uint64_t gens[DREGS_SLOTS])
{
	gens[0] = 0;
	return 1;
}

bool watch_current(const struct watch_view *view, const struct thread *thread)
{
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if (thread->watch.generation[i] != view->generation[i])
			return false;
	}
	return true;
}

typedef void watch_action(struct engine *engine, struct thread *thread);

static void watch_update_one(struct engine *engine, struct thread *thread)
{
	if (thread->state == THREAD_RUNNING && !thread->newborn)
		watch_ops_of(&engine->tracees.watch, thread)
			->update(engine, thread);
}

static void watch_close_one(struct engine *engine, struct thread *thread)
{
	if (!thread->watch.by_registers)
		engine->tracees.watch.ops->clear(engine, thread);
}

static void watch_each_thread(struct engine *engine, watch_action *action)
{
	for (size_t i = 0; i < engine->tracees.processes.count; i++) {
		struct process *process =
			tracees_process_at(&engine->tracees, i);

		if (process->role != PROCESS_WATCHED)
			continue;
		for (size_t j = 0; j < process->threads.count; j++)
			action(engine, process_thread(process, j));
	}
}

/* The events of threads are gone, or those of processors. */
static void watch_change(struct engine *engine, const struct watch_ops *ops)
{
	struct watch *watch = &engine->tracees.watch;

	watch_each_thread(engine, watch_close_one);
	if (watch->ops->shut)
		watch->ops->shut(engine);
	watch->ops = ops;
	watch_each_thread(engine, sigstate_choose_watch);
	watch->clean_at_ns = 0;
	engine_send_stats(engine);
}

/* Has a process memory that another one has at another address? */
static bool watch_is_scattered(const struct engine *engine)
{
	const struct vec *processes = &engine->tracees.processes;

	for (size_t i = 0; i < processes->count; i++) {
		const struct process *one =
			tracees_process_at(&engine->tracees, i);

		for (size_t j = 0; j < i; j++) {
			const struct process *other =
				tracees_process_at(&engine->tracees, j);

			if (one->role == PROCESS_WATCHED &&
			    other->role == PROCESS_WATCHED &&
			    !sharing_is_alike(one->space, other->space))
				return true;
		}
	}
	return false;
}

static uint64_t watch_scattered_gap(const struct engine *engine)
{
	uint64_t count = engine->tracees.processes.count;

	return WATCH_SCATTERED_NS * (1 + count * count / WATCH_PAIRS);
}

uint32_t watch_many(struct engine *engine)
{
	struct watch *watch = &engine->tracees.watch;
	long processors;

	if (!budget_is_small(&engine->load.budget))
		return watch->many;
	if (watch->processors == 0) {
		processors = sysconf(_SC_NPROCESSORS_ONLN);
		watch->processors = processors < 1 ? 1 : (uint32_t)processors;
	}
	return WATCH_MANY_PER_CPU_LOW * watch->processors;
}

/*
 * An event of each thread is set in 5 to 8 us, those of all processors in 20 to
 * 50 us, however many threads there are. But they cannot watch memory where
 * another process has it at another address.
 */
void watch_suit(struct engine *engine, uint64_t now)
{
	struct watch *watch = &engine->tracees.watch;
	uint32_t threads, many;
	struct error *err;

	if (watch->many == 0 || now < watch->change_ns)
		return;
	many = watch_many(engine);
	threads = tracees_thread_count(&engine->tracees);
	if (threads >= many / 2 && now >= watch->scattered_ns) {
		watch->scattered = watch_is_scattered(engine);
		watch->scattered_ns = now + watch_scattered_gap(engine);
	}
	if (watch->scattered)
		threads = 0;
	if (watch->ops == &watch_by_cpu && threads < many / 2)
		watch_change(engine, &watch_by_perf);
	if (watch->ops != &watch_by_perf || threads <= many)
		return;
	/* idle as they are, the events of threads hold registers */
	watch_each_thread(engine, watch_close_one);
	err = selftest_cpu_once();
	log_debug(LOG_TARGET, "%u threads: perf-cpu: %s", threads,
		  err ? error_message(err) : "works");
	if (!err)
		watch_change(engine, &watch_by_cpu);
	/* to open the events of threads again takes time */
	watch->change_ns = now + (err ? WATCH_REFUSED_NS : WATCH_CHANGE_NS);
	error_free(err);
}

void watch_publish(struct engine *engine)
{
	engine->tracees.watch.clean_at_ns = 0;
	if (engine->tracees.watch.ops->update_all)
		engine->tracees.watch.ops->update_all(engine);
	watch_each_thread(engine, watch_update_one);
}

/*
 * Where the program would outlive us, a watch that stays in a thread kills it
 * if the tracer is killed meanwhile: it does not stay.
 */
static uint64_t watch_linger(const struct engine *engine)
{
	return engine->tracees.guardian ? 0 : WATCH_LINGER_NS;
}

void watch_retire(struct engine *engine)
{
	bool live = engine->tracees.watch.ops->live;

	if (live)
		watch_publish(engine);
	engine->tracees.watch.clean_at_ns =
		clock_now_ns() + (live ? WATCH_IDLE_NS : watch_linger(engine));
}

static bool watch_in_use(const struct watch *watch)
{
	uint64_t any = 0;

	for (int i = 0; i < DREGS_SLOTS; i++)
		any |= watch->generation[i];
	return any != 0;
}

void watch_tick(struct engine *engine, uint64_t now)
{
	struct watch *watch = &engine->tracees.watch;

	if (watch->ops->poll)
		watch->ops->poll(engine);
	if (watch->clean_at_ns == 0 || now < watch->clean_at_ns)
		return;
	watch->clean_at_ns = 0;
	if (watch->ops->live && watch_in_use(watch))
		watch->clean_at_ns = now + WATCH_IDLE_NS;
	else
		watch_each_thread(engine, watch->ops->live ? watch_close_one
							   : watch_update_one);
}

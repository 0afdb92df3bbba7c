/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Objects whose address one thread hands over to another, by each of the ways of
 * the ATDetector paper (MICRO 2011, sections 2.2 and 2.3). CASE_before() is what
 * the sender does with the object before that, CASE_after() what the receiver does
 * with it: these never race. CASE_late() is what the sender still does with it
 * afterwards: that and CASE_after() race.
 *
 *	handed_over
 *
 * swap       a slot, by compare-and-swap
 * lock       a slot and a lock of one's own
 * exchange   a slot, by xchg
 * ring       a ring of slots with counters
 * pipe       the address is written to a pipe
 * task       the address of a task that has that of the object
 * recycle    a list of free objects
 * relay      a third thread hands it on
 * failed     a slot that has the object already: the compare-and-swap of
 *            failed_early() sends nothing, so that races with failed_after()
 * index      no address is handed over, but a number that selects one of the
 *            objects, modulo how many there are: index_before() and index_after()
 *            race
 */
#include "target.h"

#include <sched.h>
#include <stdatomic.h>

struct object {
	long value;
	struct object *next;
};

struct task {
	struct object *object;
};

enum { RING = 4, ITEMS = 12, POOL = 3 };

#define ACCESS(name)                                     \
	NOINLINE static void name(struct object *object) \
	{                                                \
		object->value++;                         \
	}

#define ACCESSES(name)        \
	ACCESS(name##_before) \
	ACCESS(name##_after)  \
	ACCESS(name##_late)

ACCESSES(swap)
ACCESSES(lock)
ACCESSES(exchange)
ACCESSES(ring)
ACCESSES(pipe)
ACCESSES(task)
ACCESSES(recycle)
ACCESSES(relay)
ACCESS(failed_early)
ACCESS(failed_after)
ACCESS(index_before)
ACCESS(index_after)

static _Atomic(struct object *) slot, second_slot, list;
static _Atomic(struct task *) tasks;
static struct object *plain_slot;
static atomic_flag held = ATOMIC_FLAG_INIT;
static _Atomic(struct object *) ring[RING];
static atomic_uint ring_in, ring_out;
static atomic_uint index_next;
static atomic_int failed;
static struct object pool[POOL];
static int ends[2];

static struct object *object_new(void)
{
	struct object *object = calloc(1, sizeof(*object));

	target_check(object != NULL, "calloc");
	return object;
}

static struct object *await(_Atomic(struct object *) *from)
{
	struct object *object;

	while (!(object = atomic_exchange(from, NULL)))
		sched_yield();
	return object;
}

static void *swap_sender(void *unused)
{
	struct object *object = object_new(), *empty = NULL;

	swap_before(object);
	atomic_compare_exchange_strong(&slot, &empty, object);
	swap_late(object);
	return unused;
}

static void *swap_receiver(void *unused)
{
	struct object *object;

	do {
		object = atomic_load(&slot);
		if (!object)
			sched_yield();
	} while (!object ||
		 !atomic_compare_exchange_strong(&slot, &object, NULL));
	swap_after(object);
	return unused;
}

static void enter(void)
{
	while (atomic_flag_test_and_set(&held))
		sched_yield();
}

static void *lock_sender(void *unused)
{
	struct object *object = object_new();

	lock_before(object);
	enter();
	plain_slot = object;
	atomic_flag_clear(&held);
	lock_late(object);
	return unused;
}

static void *lock_receiver(void *unused)
{
	struct object *object = NULL;

	while (!object) {
		enter();
		object = plain_slot;
		plain_slot = NULL;
		atomic_flag_clear(&held);
		sched_yield();
	}
	lock_after(object);
	return unused;
}

static void *exchange_sender(void *unused)
{
	struct object *object = object_new();

	exchange_before(object);
	atomic_exchange(&slot, object);
	exchange_late(object);
	return unused;
}

static void *exchange_receiver(void *unused)
{
	exchange_after(await(&slot));
	return unused;
}

static void *ring_sender(void *unused)
{
	for (unsigned int i = 0; i < ITEMS; i++) {
		struct object *object = object_new();

		while (i - atomic_load(&ring_out) >= RING)
			sched_yield();
		ring_before(object);
		atomic_store_explicit(&ring[i % RING], object,
				      memory_order_release);
		atomic_store(&ring_in, i + 1);
		ring_late(object);
	}
	return unused;
}

static void *ring_receiver(void *unused)
{
	for (unsigned int i = 0; i < ITEMS; i++) {
		while (atomic_load(&ring_in) == i)
			sched_yield();
		ring_after(atomic_load_explicit(&ring[i % RING],
						memory_order_acquire));
		atomic_store(&ring_out, i + 1);
	}
	return unused;
}

static void *pipe_sender(void *unused)
{
	struct object *object = object_new();

	pipe_before(object);
	target_check(write(ends[1], &object, sizeof(object)) == sizeof(object),
		     "write");
	pipe_late(object);
	return unused;
}

static void *pipe_receiver(void *unused)
{
	struct object *object;

	target_check(read(ends[0], &object, sizeof(object)) == sizeof(object),
		     "read");
	pipe_after(object);
	return unused;
}

static void *task_sender(void *unused)
{
	struct task *task = calloc(1, sizeof(*task));

	target_check(task != NULL, "calloc");
	task->object = object_new();
	task_before(task->object);
	atomic_store(&tasks, task);
	task_late(task->object);
	return unused;
}

static void *task_receiver(void *unused)
{
	struct task *task;

	while (!(task = atomic_load(&tasks)))
		sched_yield();
	task_after(task->object);
	return unused;
}

static void *recycle_sender(void *unused)
{
	struct object *object = object_new();

	recycle_before(object);
	object->next = atomic_load(&list);
	while (!atomic_compare_exchange_weak(&list, &object->next, object))
		;
	recycle_late(object);
	return unused;
}

static void *recycle_receiver(void *unused)
{
	struct object *object;

	do {
		object = atomic_load(&list);
		if (!object)
			sched_yield();
	} while (!object ||
		 !atomic_compare_exchange_weak(&list, &object, object->next));
	recycle_after(object);
	return unused;
}

static void *relay_sender(void *unused)
{
	struct object *object = object_new();

	relay_before(object);
	atomic_store(&slot, object);
	relay_late(object);
	return unused;
}

static void *relay_between(void *unused)
{
	atomic_store(&second_slot, await(&slot));
	return unused;
}

static void *relay_receiver(void *unused)
{
	relay_after(await(&second_slot));
	return unused;
}

/* It does not wait for the other thread in a way that orders the accesses. */
static void *failed_sender(void *object)
{
	struct object *empty = NULL;

	failed_early(object);
	target_check(!atomic_compare_exchange_strong(&slot, &empty,
						     (struct object *)object),
		     "the slot is empty");
	atomic_store_explicit(&failed, 1, memory_order_relaxed);
	return NULL;
}

static void *failed_receiver(void *unused)
{
	while (!atomic_load_explicit(&failed, memory_order_relaxed))
		sched_yield();
	failed_after(atomic_load(&slot));
	return unused;
}

static void *failed_first(void *object)
{
	atomic_store(&slot, (struct object *)object);
	return NULL;
}

static void *index_taker(void *unused)
{
	for (int i = 0; i < ITEMS; i++)
		index_before(&pool[atomic_fetch_add(&index_next, 1) % POOL]);
	return unused;
}

static void *index_other(void *unused)
{
	while (atomic_load_explicit(&index_next, memory_order_relaxed) < ITEMS)
		sched_yield();
	for (int i = 0; i < ITEMS; i++)
		index_after(&pool[atomic_fetch_add(&index_next, 1) % POOL]);
	return unused;
}

int main(void)
{
	struct object *shared = object_new();
	pthread_t between;

	target_check(pipe(ends) == 0, "pipe");
	target_race(swap_sender, swap_receiver);
	target_race(lock_sender, lock_receiver);
	target_race(exchange_sender, exchange_receiver);
	target_race(ring_sender, ring_receiver);
	target_race(pipe_sender, pipe_receiver);
	target_race(task_sender, task_receiver);
	target_race(recycle_sender, recycle_receiver);
	between = target_thread(relay_between, NULL);
	target_race(relay_sender, relay_receiver);
	pthread_join(between, NULL);
	pthread_join(target_thread(failed_first, shared), NULL);
	between = target_thread(failed_receiver, NULL);
	pthread_join(target_thread(failed_sender, shared), NULL);
	pthread_join(between, NULL);
	target_race(index_taker, index_other);
	puts("handed_over: done");
	return 0;
}

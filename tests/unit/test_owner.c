/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/conflict/owner.c: whose stack an address of this very process is on, and
 * whose thread-local variable.
 */
#include "conflict/owner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "conflict/conflict.h"
#include "image/image.h"
#include "sys/procfs.h"

static __thread long own_variable;

/* A thread that shows where its memory is, and then sleeps. */
struct sleeper {
	pthread_t thread;
	sem_t ready, end;
	int tid;
	uint64_t local, stack_pointer, own, thread_pointer;
};

static void *sleep_well(void *arg)
{
	struct sleeper *sleeper = arg;
	long local = 0;

	sleeper->tid = (int)syscall(SYS_gettid);
	sleeper->local = (uintptr_t)&local;
	sleeper->own = (uintptr_t)&own_variable;
	sleeper->stack_pointer = (uintptr_t)__builtin_frame_address(0) - 64;
	__asm__("mov %%fs:0, %0" : "=r"(sleeper->thread_pointer));
	sem_post(&sleeper->ready);
	while (sem_wait(&sleeper->end) != 0)
		;
	return NULL;
}

static void sleeper_start(struct sleeper *sleeper)
{
	uint64_t sp;

	memset(sleeper, 0, sizeof(*sleeper));
	sem_init(&sleeper->ready, 0, 0);
	sem_init(&sleeper->end, 0, 0);
	assert_int_equal(
		pthread_create(&sleeper->thread, NULL, sleep_well, sleeper), 0);
	while (sem_wait(&sleeper->ready) != 0)
		;
	while (!procfs_stack_pointer(sleeper->tid, &sp))
		sched_yield();
}

static void sleeper_end(struct sleeper *sleeper)
{
	sem_post(&sleeper->end);
	pthread_join(sleeper->thread, NULL);
}

struct fixture {
	struct image *image;
	struct conflict_context context;
	struct conflict conflict;
	struct owner owner;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	bool changed;

	if (!fixture || image_create(getpid(), &fixture->image) ||
	    image_refresh(fixture->image, &changed))
		return -1;
	fixture->context.homes[0].image = fixture->image;
	fixture->context.homes[1].image = fixture->image;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	image_destroy(fixture->image);
	free(fixture);
	return 0;
}

static void side(struct fixture *fixture, int i, const struct sleeper *sleeper)
{
	struct wire_side *wire = &fixture->conflict.wire.sides[i];

	memset(wire, 0, sizeof(*wire));
	wire->pid = getpid();
	wire->present = sleeper != NULL;
	if (!sleeper)
		return;
	wire->tid = sleeper->tid;
	wire->regs.gpr[X86_RSP] = sleeper->stack_pointer;
	wire->regs.fs_base = sleeper->thread_pointer;
}

static const struct owner *owner_of(struct fixture *fixture, uint64_t address)
{
	fixture->conflict.overlap =
		(struct mem_access){ address, 8, ACCESS_WRITE };
	assert_null(owner_find(&fixture->context, &fixture->conflict,
			       &fixture->owner));
	return &fixture->owner;
}

static void stacks_of_the_two_threads(void **state)
{
	struct fixture *fixture = *state;
	struct sleeper one, two;

	sleeper_start(&one);
	sleeper_start(&two);
	side(fixture, 0, &one);
	side(fixture, 1, &two);
	assert_int_equal(owner_of(fixture, one.local)->tid, one.tid);
	assert_int_equal(fixture->owner.side, 0);
	assert_false(fixture->owner.tls);
	assert_int_equal(owner_of(fixture, two.local)->tid, two.tid);
	assert_int_equal(fixture->owner.side, 1);
	sleeper_end(&one);
	sleeper_end(&two);
}

static void the_stack_of_a_thread_that_sleeps(void **state)
{
	struct fixture *fixture = *state;
	struct sleeper one, other;

	sleeper_start(&one);
	sleeper_start(&other);
	side(fixture, 0, &one);
	side(fixture, 1, NULL);
	assert_int_equal(owner_of(fixture, other.local)->tid, other.tid);
	assert_int_equal(fixture->owner.side, -1);
	sleeper_end(&one);
	sleeper_end(&other);
}

static void the_first_threads_stack(void **state)
{
	struct fixture *fixture = *state;
	struct sleeper one;
	long local = 0;

	sleeper_start(&one);
	side(fixture, 0, &one);
	side(fixture, 1, NULL);
	assert_int_equal(owner_of(fixture, (uintptr_t)&local)->tid, getpid());
	assert_int_equal(fixture->owner.side, -1);
	sleeper_end(&one);
}

static void thread_local_variables(void **state)
{
	struct fixture *fixture = *state;
	struct sleeper one;

	sleeper_start(&one);
	side(fixture, 0, NULL);
	side(fixture, 1, &one);
	assert_int_equal(owner_of(fixture, one.own)->tid, one.tid);
	assert_true(fixture->owner.tls);
	assert_int_equal(fixture->owner.side, 1);
	sleeper_end(&one);
}

static void no_owner(void **state)
{
	struct fixture *fixture = *state;
	struct sleeper one;
	void *heap = malloc(64);

	sleeper_start(&one);
	side(fixture, 0, &one);
	side(fixture, 1, NULL);
	assert_int_equal(owner_of(fixture, (uintptr_t)heap)->tid, 0);
	assert_int_equal(owner_of(fixture, 16)->tid, 0);
	sleeper_end(&one);
	free(heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_of_the_two_threads),
		cmocka_unit_test(the_stack_of_a_thread_that_sleeps),
		cmocka_unit_test(the_first_threads_stack),
		cmocka_unit_test(thread_local_variables),
		cmocka_unit_test(no_owner),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

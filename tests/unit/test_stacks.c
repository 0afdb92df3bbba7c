/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/session/stacks.c: what a thread of this very process that sleeps will
 * return to.
 */
#include "session/stacks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sys/memory.h"
#include "sys/procfs.h"

static struct {
	sem_t ready, end;
	int tid;
} sleeper;

__attribute__((noinline)) static int sleep_deep(void)
{
	int result;

	sem_post(&sleeper.ready);
	while ((result = sem_wait(&sleeper.end)) != 0)
		;
	return result + 1;
}

__attribute__((noinline)) static void *sleep_well(void *arg)
{
	sleeper.tid = (int)syscall(SYS_gettid);
	/* used, so that neither call is the function's last instruction */
	return (char *)arg + sleep_deep();
}

struct look {
	bool deep, well; /* found in these functions */
	int count;
};

static bool is_in(const struct image *image, uint64_t address,
		  uintptr_t function)
{
	const struct module *module = image_module_at(image, address);
	const struct elf_function *holds =
		elftext_function_at(module->text, address - module->bias);

	return holds && holds->start + module->bias == function;
}

static struct error *note(void *data, const struct image *image,
			  uint64_t address)
{
	struct look *look = data;

	look->count++;
	look->deep |= is_in(image, address, (uintptr_t)sleep_deep);
	look->well |= is_in(image, address, (uintptr_t)sleep_well);
	return NULL;
}

static struct error *refuse(void *data, const struct image *image,
			    uint64_t address)
{
	(void)image;
	(void)address;
	++*(int *)data;
	return error_nomem;
}

static void functions_of_a_sleeping_thread_are_found(void **state)
{
	struct look look = { .count = 0 };
	struct image *image;
	struct memory memory;
	pthread_t thread;
	bool changed;
	uint64_t top;
	int calls = 0;

	(void)state;
	sem_init(&sleeper.ready, 0, 0);
	sem_init(&sleeper.end, 0, 0);
	assert_null(image_create(getpid(), &image));
	assert_null(image_refresh(image, &changed));
	memory_init(&memory, getpid());
	assert_int_equal(pthread_create(&thread, NULL, sleep_well, &sleeper),
			 0);
	while (sem_wait(&sleeper.ready) != 0)
		;
	while (!procfs_stack_pointer(sleeper.tid, &top))
		sched_yield();
	assert_null(stacks_look_at(image, &memory, sleeper.tid, note, &look));
	assert_true(look.deep);
	assert_true(look.well);
	/* an error ends it */
	assert_ptr_equal(stacks_look_at(image, &memory, sleeper.tid, refuse,
					&calls),
			 error_nomem);
	assert_int_equal(calls, 1);
	sem_post(&sleeper.end);
	pthread_join(thread, NULL);
	/* nothing of one that has ended */
	look.count = 0;
	assert_null(stacks_look_at(image, &memory, sleeper.tid, note, &look));
	assert_int_equal(look.count, 0);
	memory_deinit(&memory);
	image_destroy(image);
}

static void looks_are_rarer_when_nothing_is_new(void **state)
{
	struct stacks stacks;
	uint64_t first;

	(void)state;
	stacks_init(&stacks);
	stacks_looked(&stacks, 1000, true);
	first = stacks.due_ns - 1000;
	assert_true(first > 0);
	stacks_looked(&stacks, 1000, false);
	assert_int_equal(stacks.due_ns - 1000, 2 * first);
	for (int i = 0; i < 20; i++)
		stacks_looked(&stacks, 1000, false);
	assert_int_equal(stacks.due_ns - 1000, 5 * CLOCK_NS_PER_S);
	stacks_looked(&stacks, 1000, true);
	assert_int_equal(stacks.due_ns - 1000, first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_a_sleeping_thread_are_found),
		cmocka_unit_test(looks_are_rarer_when_nothing_is_new),
	};

	return cmocka_run_group_tests_name("stacks", tests, NULL, NULL);
}

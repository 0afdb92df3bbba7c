/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attaching to a process whose id has come to belong to another one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "driven.h"

#include "sys/pidref.h"

static void body(void *arg)
{
	uint32_t *words = arg;

	for (;;) {
		if (__atomic_load_n(&words[0], __ATOMIC_ACQUIRE) == 1)
			tracee_tell(&words[1], 1);
		sched_yield();
	}
}

static void work_write(struct arena *arena, struct lane *lane)
{
	(void)lane;
	do_write(&arena->data[4], 1);
}

static pid_t tracer_of(pid_t pid)
{
	struct thread_status status;

	assert_ok(procfs_status(pid, &status));
	return status.tracer;
}

/* Held when it was chosen, dead and waited for before it is seized. */
static struct pidref of_the_dead(uint32_t *words, pid_t id)
{
	pid_t dead = tracee_fork(body, words);
	struct pidref ref;

	assert_ok(pidref_open(dead, &ref));
	tracee_kill(dead);
	ref.pid = id;
	return ref;
}

/* Attach an engine to a program with one lane, beside which another one runs. */
static struct driven *start(uint32_t *words, pid_t *ret_other)
{
	static lane_work *const work[] = { work_write };
	struct driven *driven;

	driven_plan(work, 1);
	driven = driven_start(NULL);
	*ret_other = tracee_fork(body, words);
	return driven;
}

static void another_process_with_its_id_is_let_go(void **state)
{
	uint32_t *words = tracee_share(4096);
	pid_t other;
	struct driven *driven = start(words, &other);
	struct pidref meant = of_the_dead(words, other);

	(void)state;
	assert_ptr_equal(launch_attach(&driven->engine, other, &meant),
			 error_gone);
	driven_release(driven);
	assert_int_equal(tracer_of(other), 0);
	tracee_tell(&words[0], 1);
	tracee_await(&words[1], 1);
	tracee_kill(other);
	driven_end(driven);
	pidref_close(&meant);
	munmap(words, 4096);
}

static void the_one_that_was_meant_is_watched(void **state)
{
	uint32_t *words = tracee_share(4096);
	pid_t other;
	struct driven *driven = start(words, &other);
	struct pidref meant;

	(void)state;
	assert_ok(pidref_open(other, &meant));
	assert_ok(launch_attach(&driven->engine, other, &meant));
	assert_int_equal(tracer_of(other), getpid());
	driven_release(driven);
	tracee_kill(other);
	driven_end(driven);
	pidref_close(&meant);
	munmap(words, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_process_with_its_id_is_let_go),
		cmocka_unit_test(the_one_that_was_meant_is_watched),
	};

	tracee_lock_registers();
	return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}

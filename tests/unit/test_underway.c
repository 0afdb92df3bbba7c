/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was under way when a program was attached to: a vfork child that runs in
 * its text, a child by clone(2) in its memory, a thread that no scan showed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "driven.h"

#include "tracer/forget.h"
#include "tracer/underway.h"

enum { RUNS = 1, ENDS = 2, RESULT = 7, STACK = 65536 };

static char stack[STACK] __attribute__((aligned(64)));

/* It is in the text of its parent from before the attach until it is told to end. */
static int child_main(void *arg)
{
	struct arena *arena = arg;

	tracee_tell(&arena->flag, RUNS);
	while (__atomic_load_n(&arena->flag, __ATOMIC_ACQUIRE) != ENDS)
		do_write(&arena->data[4], 1);
	do_far(&arena->data[5], 2);
	_exit(RESULT);
}

static void *waiting_main(void *arg)
{
	struct arena *arena = child_plan.arena;
	const int *flags = arg;
	int status = -1;
	pid_t pid = clone(child_main, stack + STACK, *flags, arena);

	waitpid(pid, &status, __WALL);
	arena->lanes[3].result = WIFEXITED(status)
					 ? (uint64_t)WEXITSTATUS(status)
					 : 1000 + (uint64_t)status;
	return NULL;
}

static int clone_flags;

static void begin_child(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, waiting_main, &clone_flags);
	tracee_await(&child_plan.arena->flag, RUNS);
}

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[0], lane->done);
}

static struct driven *start(int flags)
{
	lane_work *const all[] = { work_write, work_write };
	struct driven *driven;

	driven_plan(all, 2);
	clone_flags = flags;
	child_plan.prepare = flags ? begin_child : NULL;
	driven = driven_start(&watch_by_value);
	underway_begin(&driven->engine, clock_now_ns());
	return driven;
}

static void settle(struct driven *driven)
{
	while (!underway_is_over(&driven->engine.underway)) {
		underway_tick(&driven->engine, clock_now_ns());
		driven_turn(driven);
	}
}

/* Nothing is armed before it is known, and it lifts what it meets. */
static void check_child(int flags)
{
	struct driven *driven = start(flags);
	struct tracees *tracees = &driven->engine.core.tracees;
	struct wire_site sites[] = { site_at(site_write, 1),
				     site_at(site_far, 2) };

	arm_queue(&driven->engine, sites, 2);
	driven_turn(driven);
	assert_int_equal(driven->engine.core.stats.arms, 0);
	settle(driven);
	assert_int_equal(tracees->processes.count, 2);
	assert_int_equal(tracees_process_at(tracees, 1)->role, PROCESS_GUEST);
	driven_until(driven, driven->engine.core.stats.arms == 2 &&
				     driven->engine.core.stats.hits == 1);
	tracee_tell(&child_plan.arena->flag, ENDS);
	driven_until(driven, tracees->processes.count == 1);
	while (!__atomic_load_n(&child_plan.arena->lanes[3].result,
				__ATOMIC_ACQUIRE))
		driven_turn(driven);
	assert_int_equal(child_plan.arena->lanes[3].result, RESULT);
	assert_int_equal(driven->engine.core.stats.hits, 2);
	assert_int_equal(driven->note_count, 0);
	driven_end(driven);
}

static void a_vfork_child_of_before_is_found(void **state)
{
	(void)state;
	check_child(CLONE_VM | CLONE_VFORK | SIGCHLD);
}

static void a_child_in_the_memory_is_found(void **state)
{
	(void)state;
	check_child(CLONE_VM | SIGCHLD);
}

/* As if it had been created by a thread that was in the middle of clone(2). */
static void a_thread_that_was_not_seen_is_found(void **state)
{
	struct driven *driven = start(0);
	const struct arena *arena = child_plan.arena;
	struct tracees *tracees = &driven->engine.core.tracees;
	struct thread *thread = tracees_thread(tracees, arena->lanes[1].tid);
	struct wire_site site = site_at(site_write, 1);
	struct stop_reason stop;

	(void)state;
	assert_ok(trace_interrupt(thread->tid));
	stop = tracee_wait(thread->tid);
	assert_ok(trace_detach(stop.tid, 0));
	thread->state = THREAD_GONE;
	forget_thread(&driven->engine, thread);
	assert_int_equal(tracees->threads.count, 1);
	settle(driven);
	assert_int_equal(tracees->threads.count, 2);
	driven->engine.pool.params.rate = 0;
	driven_arm(driven, &site);
	lane_start(1, 1);
	driven_until(driven, lane_idle(1));
	assert_int_equal(driven->engine.core.stats.hits, 1);
	driven_end(driven);
}

/* All that run are seen outside of a call; then scans go on, but not for ever. */
static void it_ends(void **state)
{
	struct driven *driven = start(0);
	struct underway *underway = &driven->engine.underway;

	(void)state;
	settle(driven);
	for (int i = 0; i < 2; i++) {
		const struct thread *thread =
			tracees_thread(&driven->engine.core.tracees,
				       child_plan.arena->lanes[i].tid);

		assert_true(thread->births_known);
		assert_int_not_equal(thread->unforked_ns, 0);
	}
	assert_int_not_equal(underway_next_ns(underway), UINT64_MAX);
	underway_tick(&driven->engine, underway->due_ns);
	assert_true(underway_is_over(underway));
	underway_tick(&driven->engine, underway->begun_ns + CLOCK_NS_PER_S);
	assert_int_equal(underway_next_ns(underway), UINT64_MAX);
	driven_end(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vfork_child_of_before_is_found),
		cmocka_unit_test(a_child_in_the_memory_is_found),
		cmocka_unit_test(a_thread_that_was_not_seen_is_found),
		cmocka_unit_test(it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

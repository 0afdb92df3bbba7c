/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints where /proc/PID/mem takes no writes: set and taken out through
 * a thread that is stopped for it. The file is closed under the engine, which
 * then has the very same means as where it is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "driven.h"

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[lane - arena->lanes], lane->done + 1);
}

static struct process *process_of(const struct driven *driven)
{
	return tracees_process(&driven->engine.core.tracees, driven->pid);
}

static struct driven *start(void)
{
	lane_work *const work[] = { work_write, work_write };
	struct driven *driven;

	driven_plan(work, 2);
	driven = driven_start(&watch_by_value);
	driven->engine.pool.params.stall_max_ns = CLOCK_NS_PER_MS;
	close(process_of(driven)->space->memory.fd);
	process_of(driven)->space->memory.fd = -1;
	return driven;
}

static void queue(struct driven *driven)
{
	struct wire_site sites[] = { site_at(site_write, 1),
				     site_at(site_far, 4) };

	arm_queue(&driven->engine, sites, 2);
}

static void nobody_is_stopped_while_the_file_serves(void **state)
{
	struct driven *driven = start();
	struct addrspace *space = process_of(driven)->space;

	(void)state;
	assert_false(space->memory.refused);
	assert_int_equal(writer_thread(&driven->engine.core.tracees, space), 0);
	assert_int_equal(driven->engine.core.tracees.early.count, 0);
	driven_end(driven);
}

static void a_thread_is_stopped_once_and_goes_on(void **state)
{
	struct driven *driven = start();
	struct addrspace *space = process_of(driven)->space;
	pid_t tid;

	(void)state;
	space->memory.refused = true;
	tid = writer_thread(&driven->engine.core.tracees, space);
	assert_true(tid > 0);
	assert_int_equal(driven->engine.core.tracees.early.count, 1);
	/* the same one serves until its stop is handled */
	assert_int_equal(writer_thread(&driven->engine.core.tracees, space),
			 tid);
	assert_int_equal(driven->engine.core.tracees.early.count, 1);
	engine_early_events(&driven->engine);
	assert_int_equal(driven->engine.core.tracees.early.count, 0);
	assert_int_equal(
		tracees_thread(&driven->engine.core.tracees, tid)->state,
		THREAD_RUNNING);
	driven_end(driven);
}

static void breakpoints_are_set_hit_and_taken_out(void **state)
{
	struct driven *driven = start();
	struct addrspace *space = process_of(driven)->space;

	(void)state;
	queue(driven);
	driven_until(driven, space->text->armed == 2);
	assert_true(space->memory.refused);
	assert_int_equal(driven->engine.core.stats.arms_refused, 0);
	lane_start(0, 3);
	driven_until(driven, driven->sample_count == 1 && lane_idle(0));
	assert_int_equal(driven->engine.core.stats.hits, 1);
	assert_int_equal(space->text->armed, 1);
	/* the other one is still in the text when it is released */
	driven_end(driven);
}

static void what_could_not_be_taken_out_still_counts_as_armed(void **state)
{
	struct driven *driven = start();
	struct addrspace *space = process_of(driven)->space;
	struct error *err;

	(void)state;
	queue(driven);
	driven_until(driven, space->text->armed == 2);
	err = breakpoint_lift_range(space, 0, 0, UINT64_MAX, SIZE_MAX, NULL);
	assert_true(error_catch(err, ERROR_REFUSED));
	assert_int_equal(space->text->armed, 2);
	driven_end(driven);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_is_stopped_while_the_file_serves),
		TEST(a_thread_is_stopped_once_and_goes_on),
		TEST(breakpoints_are_set_hit_and_taken_out),
		TEST(what_could_not_be_taken_out_still_counts_as_armed),
	};

	alarm(TRACEE_TEST_SECONDS);
	return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}

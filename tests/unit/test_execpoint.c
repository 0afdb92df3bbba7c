/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints in debug registers: a thread stops before its access, in text
 * that is never written; stalls take the registers and give them back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "driven.h"

#include <signal.h>

#include "tracee/execpoint.h"

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[lane - arena->lanes], lane->done + 1);
}

/* Writes to the word of the first lane. */
static void work_race(struct arena *arena, struct lane *lane)
{
	(void)lane;
	do_far(&arena->data[0], 99);
}

static void *born_to_write(void *arg)
{
	do_write(arg, 5);
	return NULL;
}

static void work_bear(struct arena *arena, struct lane *lane)
{
	pthread_t thread;

	(void)lane;
	pthread_create(&thread, NULL, born_to_write, &arena->data[8]);
	pthread_join(thread, NULL);
}

static void work_blocked(struct arena *arena, struct lane *lane)
{
	sigset_t trap, before;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &trap, &before);
	do_write(&arena->data[0], lane->done + 1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static struct addrspace *space_of(const struct driven *driven)
{
	return tracees_process(&driven->engine.core.tracees, driven->pid)
		->space;
}

/* Registers that hold locations now. */
static int in_registers(const struct driven *driven)
{
	const struct dregs *dregs = &driven->engine.core.tracees.watch.dregs;
	int count = 0;

	for (int i = 0; i < DREGS_SLOTS; i++)
		count += dregs->slots[i].users > 0 &&
			 dregs->slots[i].type == DREGS_EXECUTE;
	return count;
}

static struct driven *start(lane_work *first, lane_work *second)
{
	lane_work *const work[] = { first, second };
	struct error *err = selftest_execution();
	struct driven *driven;

	if (err)
		tracee_skip(err);
	driven_plan(work, 2);
	driven = driven_start(&watch_by_perf);
	execpoints_begin(&driven->engine.core.tracees.execpoints,
			 &driven->engine.core.tracees.watch);
	space_of(driven)->text->execpoints =
		&driven->engine.core.tracees.execpoints;
	return driven;
}

static void queue(struct driven *driven, const char *label, uint64_t id)
{
	struct wire_site site = site_at(label, id);

	arm_queue(&driven->engine, &site, 1);
}

static void arm(struct driven *driven, const char *label, uint64_t id)
{
	size_t armed = space_of(driven)->text->armed;

	queue(driven, label, id);
	driven_until(driven, space_of(driven)->text->armed == armed + 1);
}

/* At once: one that waits would take the place of another. */
static void arm_four(struct driven *driven)
{
	queue(driven, site_write, 1);
	queue(driven, site_read, 2);
	queue(driven, site_add, 3);
	queue(driven, site_wide, 4);
	driven_until(driven, space_of(driven)->text->armed == 4);
}

static void a_thread_stops_before_its_access_in_untouched_text(void **state)
{
	struct driven *driven = start(work_write, work_write);
	const struct engine *engine = &driven->engine;

	(void)state;
	arm(driven, site_write, 7);
	assert_int_equal(in_registers(driven), 1);
	assert_pristine(&driven->memory);
	lane_start(0, 1);
	driven_until(driven, engine->stalls.list.count == 1);
	assert_int_equal(child_plan.arena->data[0], 0);
	assert_pristine(&driven->memory);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->data[0], 1);
	assert_int_equal(driven->sample_count, 1);
	assert_int_equal(driven->samples[0].id, 7);
	assert_int_equal(engine->core.stats.hits, 1);
	/* kept for another time */
	assert_int_equal(driven->returned_count, 0);
	driven_until(driven, space_of(driven)->text->armed == 1);
	driven_end(driven);
}

static void a_stall_has_the_registers_for_its_watch(void **state)
{
	struct driven *driven = start(work_write, work_race);
	const struct engine *engine = &driven->engine;

	(void)state;
	arm_four(driven);
	assert_int_equal(in_registers(driven), 4);
	lane_start(0, 1);
	driven_until(driven, engine->stalls.list.count == 1);
	driven_prolong(driven);
	driven_turn(driven);
	assert_int_equal(in_registers(driven), 0);
	assert_int_equal(space_of(driven)->text->armed, 3);
	/* the other thread runs into the watch */
	lane_start(1, 1);
	driven_until(driven, driven->conflict_count == 1);
	assert_int_equal(driven->conflict.wire.evidence, WIRE_WATCHPOINT);
	driven_until(driven, lane_idle(0) && lane_idle(1));
	/* the one that was hit comes again */
	driven_until(driven, in_registers(driven) == 4);
	assert_int_equal(engine->core.stats.out_of_registers, 0);
	driven_end(driven);
}

static void a_location_not_reached_gives_way(void **state)
{
	struct driven *driven = start(work_write, work_write);

	(void)state;
	driven->engine.pool.params.rate = 100;
	arm_four(driven);
	queue(driven, site_far, 5);
	driven_until(driven,
		     breakpoint_find(space_of(driven), (uintptr_t)site_far));
	driven_listen(driven);
	assert_true(driven->returned_count >= 1);
	for (int i = 0; i < driven->returned_count; i++)
		assert_int_equal(driven->returned[i].why, WIRE_LIFTED);
	assert_true(space_of(driven)->text->armed <= EXECPOINT_MAX);
	/* nothing waits any more: those that are set may stay */
	assert_int_equal(pool_queued(&driven->engine.pool), 0);
	assert_int_equal(arm_next_ns(&driven->engine), UINT64_MAX);
	driven_end(driven);
}

static void threads_born_later_stop_too(void **state)
{
	struct driven *driven = start(work_write, work_bear);

	(void)state;
	arm(driven, site_write, 1);
	/* one that is slow to set itself up passes for one that blocks SIGTRAP */
	do {
		lane_start(1, 1);
		driven_until(driven, lane_idle(1));
		assert_int_equal(child_plan.arena->data[8], 5);
	} while (driven->engine.core.stats.hits == 0);
	assert_int_equal(driven->engine.core.stats.hits, 1);
	driven_end(driven);
}

static void a_thread_that_blocks_sigtrap_goes_on(void **state)
{
	struct driven *driven = start(work_blocked, work_write);

	(void)state;
	arm(driven, site_write, 1);
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->data[0], 1);
	/* what came late is no hit, and does not lift it */
	assert_int_equal(driven->engine.core.stats.hits, 0);
	assert_int_equal(space_of(driven)->text->armed, 1);
	lane_start(1, 1);
	driven_until(driven, lane_idle(1));
	assert_int_equal(driven->engine.core.stats.hits, 1);
	driven_end(driven);
}

static void forgotten_text_leaves_the_registers(void **state)
{
	const uint64_t page = (uintptr_t)site_write & ~UINT64_C(4095);
	struct wire_range range = { .start = page, .end = page + 4096 };
	struct driven *driven = start(work_write, work_write);

	(void)state;
	queue(driven, site_write, 1);
	queue(driven, site_far, 2);
	driven_until(driven, space_of(driven)->text->armed == 2);
	arm_forget(&driven->engine, &range);
	assert_int_equal(space_of(driven)->text->armed, 1);
	assert_int_equal(in_registers(driven), 1);
	driven_turn(driven);
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(driven->engine.core.stats.hits, 0);
	driven_end(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_thread_stops_before_its_access_in_untouched_text),
		cmocka_unit_test(a_stall_has_the_registers_for_its_watch),
		cmocka_unit_test(a_location_not_reached_gives_way),
		cmocka_unit_test(threads_born_later_stop_too),
		cmocka_unit_test(a_thread_that_blocks_sigtrap_goes_on),
		cmocka_unit_test(forgotten_text_leaves_the_registers),
	};

	alarm(TRACEE_TEST_SECONDS);
	tracee_lock_registers();
	return cmocka_run_group_tests_name("execpoint", tests, NULL, NULL);
}

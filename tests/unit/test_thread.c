/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first trap for the unwary: a location armed again while a thread stands
 * on it would trap it for ever. And the second: a thread that already carries
 * the trap of a location lifted meanwhile.
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

static struct driven *start(int lanes)
{
	lane_work *const work[] = { work_write, work_write, work_write };

	driven_plan(work, lanes);
	return driven_start(&watch_by_value);
}

static struct stall *running_stall(const struct driven *driven)
{
	const struct vec *list = &driven->engine.stalls.list;

	return list->count > 0 ? *(struct stall **)vec_at(list, 0) : NULL;
}

/*
 * As the second half of a pair, the location is armed while the thread stands
 * on it, at every single hit. It must get away in the end.
 */
static void a_thread_gets_away_from_where_it_is_trapped(void **state)
{
	struct wire_site site = site_at(site_write, 1);
	struct driven *driven = start(2);
	int rounds = 0;

	(void)state;
	driven_arm(driven, &site);
	lane_start(0, 1);
	while (!lane_idle(0)) {
		driven_until(driven, running_stall(driven) || lane_idle(0));
		if (!running_stall(driven))
			break;
		site.id++;
		arm_queue(&driven->engine, &site, 1);
		arm_pair(&driven->engine, site.id);
		running_stall(driven)->deadline_ns = 0;
		rounds++;
		assert_in_range(rounds, 1, 20);
		/* without a turn of the pool: it would arm it too late */
		stalls_tick(&driven->engine, clock_now_ns());
	}
	driven_turn(driven);
	assert_true(rounds > 1);
	assert_int_equal(child_plan.arena->data[0], 1);
	assert_int_equal(driven->returned[driven->returned_count - 1].why,
			 WIRE_DEFERRED);
	/* once it is known to have left, the location is to be had again */
	site.id++;
	do {
		/* its time on a processor may be told a while later */
		if (pool_queued(&driven->engine.pool) == 0)
			arm_queue(&driven->engine, &site, 1);
		driven_turn(driven);
	} while (tracees_process(&driven->engine.core.tracees, driven->pid)
			 ->space->text->armed != 1);
	driven_end(driven);
}

/* A loop that meets the location again and again is no such case. */
static void a_thread_that_comes_back_does_not_block_the_location(void **state)
{
	struct wire_site site = site_at(site_write, 1);
	struct driven *driven = start(2);

	(void)state;
	lane_start(0, 1u << 30);
	for (int i = 0; i < 20; i++) {
		const uint32_t *done = &child_plan.arena->lanes[0].done;
		uint32_t before;

		site.id++;
		arm_queue(&driven->engine, &site, 1);
		driven_until(driven, running_stall(driven));
		before = *done;
		running_stall(driven)->deadline_ns = 0;
		driven_until(driven,
			     __atomic_load_n(done, __ATOMIC_ACQUIRE) != before);
	}
	for (int i = 0; i < driven->returned_count; i++)
		assert_int_not_equal(driven->returned[i].why, WIRE_DEFERRED);
	assert_int_equal(driven->engine.core.stats.samples, 20);
	driven_end(driven);
}

/* Wait until a stop of that thread can be waited for, and leave it there. */
static void await_stop(pid_t tid)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)tid, &info,
				WSTOPPED | WNOWAIT | __WALL),
			 0);
}

static void a_second_thread_with_the_same_trap_goes_on(void **state)
{
	struct wire_site site = site_at(site_write, 1);
	struct driven *driven = start(3);
	const struct lane *lanes = child_plan.arena->lanes;

	(void)state;
	driven_arm(driven, &site);
	/* nobody waits: all three execute the same int3 */
	for (int i = 0; i < 3; i++)
		lane_start(i, 1);
	for (int i = 0; i < 3; i++)
		await_stop(lanes[i].tid);
	driven_until(driven, driven->engine.core.stats.hits == 1 &&
				     running_stall(driven));
	driven_prolong(driven);
	driven_until(driven, lane_idle(0) + lane_idle(1) + lane_idle(2) == 2);
	assert_int_equal(driven->engine.core.stats.hits, 1);
	running_stall(driven)->deadline_ns = 0;
	driven_until(driven, lane_idle(0) && lane_idle(1) && lane_idle(2));
	/* each wrote its word exactly as if nothing had been there */
	for (int i = 0; i < 3; i++)
		assert_int_equal(child_plan.arena->data[i], 1);
	driven_end(driven);
}

static void a_trap_carried_through_the_release_does_no_harm(void **state)
{
	struct wire_site site = site_at(site_write, 1);
	struct driven *driven = start(3);
	const struct lane *lanes = child_plan.arena->lanes;

	(void)state;
	driven_arm(driven, &site);
	for (int i = 0; i < 3; i++)
		lane_start(i, 1);
	for (int i = 0; i < 3; i++)
		await_stop(lanes[i].tid);
	driven_release(driven);
	for (int i = 0; i < 3; i++)
		tracee_await(&lanes[i].done, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(child_plan.arena->data[i], 1);
	driven_end(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_gets_away_from_where_it_is_trapped),
		cmocka_unit_test(
			a_thread_that_comes_back_does_not_block_the_location),
		cmocka_unit_test(a_second_thread_with_the_same_trap_goes_on),
		cmocka_unit_test(
			a_trap_carried_through_the_release_does_no_harm),
	};

	return cmocka_run_group_tests_name("thread", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Holding a thread at a side of a hunt: what becomes of the thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <unistd.h>

#include "driven.h"

#include "tracer/hunt.h"

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[0], lane->done);
	__asm__ volatile("" ::: "memory");
}

static struct driven *start(void)
{
	lane_work *const work[] = { work_write };
	struct error *err = selftest_registers();
	struct driven *driven;

	if (err)
		tracee_skip(err);
	driven_plan(work, 1);
	driven = driven_start(&watch_by_registers);
	driven->engine.hunt.on = true;
	return driven;
}

/* Any thread's first execution there, as if its program had not begun. */
static struct wire_hunt side_at_write(void)
{
	return (struct wire_hunt){
		.any = true,
		.hold_ns = CLOCK_NS_PER_S,
		.site = site_at(site_write, 5),
	};
}

static void take(struct driven *driven, const struct wire_hunt *side)
{
	const struct process *process =
		tracees_process(&driven->engine.core.tracees, driven->pid);
	struct startup *startup = startup_of(process->space->text);

	assert_non_null(startup);
	startup->begun_ns = 1;
	hunt_take(&driven->engine, side, sizeof(*side));
	startup->begun_ns = 0;
}

static const struct thread *only_thread(const struct driven *driven)
{
	return tracees_thread(&driven->engine.core.tracees, driven->pid);
}

/* Its hold ends when it begins: it runs on, and is known to. */
static void a_thread_that_is_alone_runs_on(void **state)
{
	struct driven *driven = start();
	const struct wire_hunt side = side_at_write();

	(void)state;
	take(driven, &side);
	assert_int_equal(driven->engine.hunt.targets.count, 1);
	lane_start(0, 1);
	driven_until(driven, driven->sample_count == 1);
	assert_int_equal(driven->samples[0].outcome, WIRE_ALONE);
	assert_int_not_equal(only_thread(driven)->state, THREAD_GONE);
	driven_until(driven, lane_idle(0));
	hunt_tick(&driven->engine);
	assert_int_equal(driven->engine.hunt.targets.count, 0);
	driven_end(driven);
}

static void sides_that_make_no_sense_are_none(void **state)
{
	struct driven *driven = start();
	struct wire_hunt side = side_at_write();

	(void)state;
	side.path_length = WIRE_PATH_MAX + 1;
	take(driven, &side);
	side.path_length = 0;
	side.stack_count = WIRE_HUNT_STACK + 1;
	take(driven, &side);
	side.stack_count = 0;
	side.partner_count = UINT32_MAX;
	take(driven, &side);
	assert_int_equal(driven->engine.hunt.targets.count, 0);
	driven_end(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_is_alone_runs_on),
		cmocka_unit_test(sides_that_make_no_sense_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waiting where a program's loader tells debuggers of libraries: a thread of the
 * child calls its function, as the loader does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <link.h>

#include "driven.h"

#include "tracer/hunt-loader.h"
#include "tracer/hunt-text.h"
#include "tracer/hunt.h"

static const uint64_t LONG_NS = 3600 * CLOCK_NS_PER_S;

static struct r_debug *own_debug(void)
{
	const ElfW(Dyn) *entry = _DYNAMIC;

	while (entry->d_tag != DT_DEBUG)
		entry++;
	return (struct r_debug *)entry->d_un.d_ptr;
}

/* The state is in data[2]. */
static void work_load(struct arena *arena, struct lane *lane)
{
	struct r_debug *debug = own_debug();

	debug->r_state = (int)arena->data[2];
	((void (*)(void))debug->r_brk)();
	debug->r_state = RT_CONSISTENT;
	lane->result++;
}

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[0], lane->done);
	__asm__ volatile("" ::: "memory");
}

static struct driven *start(lane_work *second)
{
	lane_work *const work[] = { work_load, second };
	struct driven *driven;

	driven_plan(work, second ? 2 : 1);
	driven = driven_start(&watch_by_value);
	driven->engine.pool.params.rate = 0;
	driven->engine.pool.params.startup_ns = LONG_NS;
	driven->engine.hunt.on = true;
	return driven;
}

static const struct process *process_of(const struct driven *driven)
{
	return tracees_process(&driven->engine.core.tracees, driven->pid);
}

static struct hunt_loader *loader_of(const struct driven *driven)
{
	assert_int_equal(driven->engine.hunt.loaders.count, 1);
	return vec_at(&driven->engine.hunt.loaders, 0);
}

static struct hunt_loader *begin(struct driven *driven)
{
	hunt_loader_begin(&driven->engine, process_of(driven));
	while (!loader_of(driven)->stands) {
		driven_turn(driven);
		hunt_loader_tick(&driven->engine);
	}
	return loader_of(driven);
}

static void load(enum loader_state loads)
{
	static const int states[] = {
		[LOADER_AT_REST] = RT_CONSISTENT,
		[LOADER_MAPS] = RT_ADD,
		[LOADER_UNMAPS] = RT_DELETE,
	};

	child_plan.arena->data[2] = (uint64_t)states[loads];
	lane_start(0, 1);
}

/* As the front end does. */
static void tell_sent(struct driven *driven)
{
	const struct wire_startup message = {
		.program = process_of(driven)->space->text->program,
	};

	startup_sent(&driven->engine.startups, &message, sizeof(message));
}

static void it_waits(struct driven *driven, enum loader_state loads)
{
	int before = driven->startup_count;

	load(loads);
	driven_until(driven, driven->startup_count > before);
	assert_true(loader_of(driven)->waited != 0);
	assert_false(lane_idle(0));
	tell_sent(driven);
	driven_until(driven, lane_idle(0));
	assert_int_equal(loader_of(driven)->waited, 0);
}

static void it_does_not_wait(struct driven *driven, enum loader_state loads)
{
	int before = driven->startup_count;

	load(loads);
	driven_until(driven, lane_idle(0));
	assert_int_equal(driven->startup_count, before);
}

static void end(struct driven *driven)
{
	hunt_end(&driven->engine);
	driven_end(driven);
}

static void a_thread_that_has_loaded_waits(void **state)
{
	struct driven *driven = start(NULL);

	(void)state;
	begin(driven);
	it_does_not_wait(driven, LOADER_MAPS);
	it_waits(driven, LOADER_AT_REST);
	it_waits(driven, LOADER_AT_REST);
	end(driven);
}

/* Else its names might be gone. */
static void what_was_met_is_named_before_it_is_unmapped(void **state)
{
	struct driven *driven = start(NULL);

	(void)state;
	begin(driven);
	it_does_not_wait(driven, LOADER_UNMAPS);
	driven->engine.hunt.met = true;
	it_does_not_wait(driven, LOADER_MAPS);
	it_waits(driven, LOADER_UNMAPS);
	assert_false(driven->engine.hunt.met);
	it_does_not_wait(driven, LOADER_UNMAPS);
	end(driven);
}

static void waits_are_limited_in_sum(void **state)
{
	struct driven *driven = start(NULL);
	struct hunt_loader *loader;

	(void)state;
	loader = begin(driven);
	it_waits(driven, LOADER_AT_REST);
	assert_int_not_equal(loader->waited_ns, 0);
	loader->waited_ns = 2 * LONG_NS - 1;
	it_waits(driven, LOADER_AT_REST);
	assert_int_equal(driven->note_count, 0);
	it_does_not_wait(driven, LOADER_AT_REST);
	it_does_not_wait(driven, LOADER_AT_REST);
	assert_int_equal(driven->note_count, 1);
	end(driven);
}

/* It is not blocked: who is held for it is not alone. */
static void one_that_waits_counts_as_running(void **state)
{
	struct driven *driven = start(NULL);

	(void)state;
	begin(driven);
	load(LOADER_AT_REST);
	driven_until(driven, driven->startup_count == 1);
	assert_true(stalls_others_run(&driven->engine));
	tell_sent(driven);
	driven_until(driven, lane_idle(0));
	end(driven);
}

/* A hold of 1 ms that nobody comes to. */
static void a_hold_lasts_while_another_thread_waits(void **state)
{
	struct driven *driven = start(work_write);
	const struct hunt *hunt = &driven->engine.hunt;
	const struct wire_hunt side = {
		.any = true,
		.by_text = true,
		.hold_ns = CLOCK_NS_PER_MS,
		.site = site_at(site_write, 5),
	};
	uint64_t until;

	(void)state;
	begin(driven);
	load(LOADER_AT_REST);
	driven_until(driven, driven->startup_count == 1);
	hunt_take(&driven->engine, &side, sizeof(side));
	while (!hunt_text_has(&driven->engine, &side.site)) {
		driven_turn(driven);
		hunt_tick(&driven->engine);
	}
	lane_start(1, 1);
	driven_until(driven, hunt->holds);
	until = clock_now_ns() + 30 * CLOCK_NS_PER_MS;
	driven_until(driven, clock_now_ns() >= until);
	assert_true(hunt->holds);
	tell_sent(driven);
	driven_until(driven, !hunt->holds);
	assert_int_equal(driven->samples[0].outcome, WIRE_QUIET);
	driven_until(driven, lane_idle(0) && lane_idle(1));
	end(driven);
}

static void a_loader_that_refuses_is_asked_once(void **state)
{
	struct driven *driven = start(NULL);
	struct hunt_loader *loader;
	uint64_t refused;

	(void)state;
	loader = begin(driven);
	/* where nothing is mapped */
	loader->stands = false;
	loader->site.address = 1;
	refused = driven->engine.core.stats.arms_refused;
	for (int i = 0; i < 3; i++) {
		hunt_loader_tick(&driven->engine);
		driven_turn(driven);
	}
	assert_true(loader->refused);
	assert_int_equal(driven->engine.core.stats.arms_refused, refused + 1);
	assert_int_equal(driven->note_count, 1);
	end(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_has_loaded_waits),
		cmocka_unit_test(what_was_met_is_named_before_it_is_unmapped),
		cmocka_unit_test(waits_are_limited_in_sum),
		cmocka_unit_test(one_that_waits_counts_as_running),
		cmocka_unit_test(a_hold_lasts_while_another_thread_waits),
		cmocka_unit_test(a_loader_that_refuses_is_asked_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

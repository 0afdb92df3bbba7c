/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first two threads of a program, which wait until what is to be armed
 * once has come.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "driven.h"

static const uint64_t LONG_NS = 3600 * CLOCK_NS_PER_S;

static void *born(void *arg)
{
	struct arena *arena = arg;

	arena->data[4]++;
	return NULL;
}

static void work_thread(struct arena *arena, struct lane *lane)
{
	pthread_t thread;

	pthread_create(&thread, NULL, born, arena);
	pthread_join(thread, NULL);
	lane->result++;
}

static void work_nothing(struct arena *arena, struct lane *lane)
{
	(void)arena;
	(void)lane;
}

/* Of the child's program. */
static struct startup *startup_of_child(struct driven *driven)
{
	return startup_of(
		tracees_process(&driven->engine.core.tracees, driven->pid)
			->space->text);
}

/* As the front end does. */
static void tell_sent(struct driven *driven)
{
	const struct process *process =
		tracees_process(&driven->engine.core.tracees, driven->pid);
	const struct wire_startup message = {
		.program = process->space->text->program
	};

	startup_sent(&driven->engine.startups, &message, sizeof(message));
}

static struct driven *start(int threads, uint64_t startup_ns)
{
	static lane_work *const all[] = { work_thread, work_nothing };
	struct driven *driven;

	driven_plan(all, threads);
	driven = driven_start(&watch_by_value);
	driven->engine.pool.params.rate = 0;
	driven->engine.pool.params.startup_ns = startup_ns;
	return driven;
}

/* A thread is born, and waits with its creator. */
static void both_wait(struct driven *driven)
{
	const struct startup *startup = startup_of_child(driven);

	lane_start(0, 1);
	driven_until(driven,
		     startup->creator.thread && startup->newborn.thread);
	assert_int_equal(startup->creator.thread->tid, driven->pid);
	assert_true(startup->creator.in_creation);
	assert_true(startup->newborn.in_creation);
	assert_int_equal(startup->newborn.thread->state, THREAD_STOPPED);
	assert_int_equal(driven->startup_count, 1);
	for (int i = 0; i < 100; i++)
		driven_turn(driven);
	assert_int_equal(child_plan.arena->data[4], 0);
}

static void they_wait_until_all_is_armed(void **state)
{
	struct wire_site site = site_at(site_write, 1);
	struct driven *driven = start(1, LONG_NS);
	struct engine *engine = &driven->engine;

	(void)state;
	site.once = true;
	both_wait(driven);
	/* sent, but not yet in the text: nothing is armed without a rate */
	arm_queue(engine, &site, 1);
	tell_sent(driven);
	for (int i = 0; i < 100; i++)
		driven_turn(driven);
	assert_int_equal(child_plan.arena->data[4], 0);
	assert_int_equal(startup_of_child(driven)->begun_ns != 0, true);
	engine->pool.params.rate = 1000;
	driven_until(driven, lane_idle(0));
	assert_int_equal(core_armed_once(&engine->core), 1);
	assert_int_equal(child_plan.arena->data[4], 1);
	/* which the summary tells from stalls */
	assert_true(engine->core.stats.startup_ns > 0);
	assert_true(engine->load.budget.lost_ns >=
		    (double)engine->core.stats.startup_ns);
	/* once for a program */
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->lanes[0].result, 2);
	assert_int_equal(driven->startup_count, 1);
	driven_end(driven);
}

/* Of a recording, which are not in the pool. */
static void they_wait_for_other_breakpoints(void **state)
{
	struct driven *driven = start(1, LONG_NS);
	struct program_text *text;

	(void)state;
	both_wait(driven);
	text = tracees_process(&driven->engine.core.tracees, driven->pid)
		       ->space->text;
	startup_delay(text, true);
	tell_sent(driven);
	for (int i = 0; i < 100; i++)
		driven_turn(driven);
	assert_true(startup_waits(text));
	assert_int_equal(child_plan.arena->data[4], 0);
	startup_delay(text, false);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->data[4], 1);
	driven_end(driven);
}

static void they_do_not_wait_for_ever(void **state)
{
	struct driven *driven = start(1, 20 * CLOCK_NS_PER_MS);

	(void)state;
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(driven->startup_count, 1);
	assert_int_equal(child_plan.arena->data[4], 1);
	assert_false(startup_of_child(driven)->sent);
	driven_end(driven);
}

static void they_are_let_go_with_everything(void **state)
{
	struct driven *driven = start(1, LONG_NS);

	(void)state;
	both_wait(driven);
	driven_release(driven);
	tracee_await(&child_plan.arena->lanes[0].done, 1);
	assert_int_equal(child_plan.arena->data[4], 1);
	driven_end(driven);
}

static void they_may_be_killed(void **state)
{
	struct driven *driven = start(1, LONG_NS);

	(void)state;
	both_wait(driven);
	assert_int_equal(driven->engine.startups.waiting, 1);
	kill(driven->pid, SIGKILL);
	driven_until(driven, driven->exited);
	assert_true(WIFSIGNALED(driven->exit.status));
	/* with the program, nobody waits any more */
	assert_int_equal(driven->engine.startups.waiting, 0);
	driven_free(driven);
}

/* Writes once and goes on; more of them are made by the first thread. */
static void *born_to_write(void *arg)
{
	struct arena *arena = arg;

	do_write(&arena->data[8], 1);
	while (!__atomic_load_n(&arena->flag, __ATOMIC_ACQUIRE))
		sched_yield();
	return NULL;
}

static void work_make(struct arena *arena, struct lane *lane)
{
	pthread_t thread;

	(void)lane;
	pthread_create(&thread, NULL, born_to_write, arena);
	pthread_detach(thread);
}

/* Each writes to a place of its own. */
static void *born_to_write_apart(void *arg)
{
	static int born;
	struct arena *arena = arg;
	int own = __atomic_fetch_add(&born, 1, __ATOMIC_RELAXED);

	do_write(&arena->data[8 * (1 + own)], 1);
	while (!__atomic_load_n(&arena->flag, __ATOMIC_ACQUIRE))
		sched_yield();
	return NULL;
}

static void work_make_apart(struct arena *arena, struct lane *lane)
{
	pthread_t thread;

	(void)lane;
	pthread_create(&thread, NULL, born_to_write_apart, arena);
	pthread_detach(thread);
}

static void work_make_or_read(struct arena *arena, struct lane *lane)
{
	if (lane->done == 0)
		work_make(arena, lane);
	else
		lane->result = do_read(&arena->data[16]);
}

/* Two threads run, and the second is stalled where it writes. */
static struct driven *start_stalled(lane_work *work)
{
	lane_work *const all[] = { work };
	struct wire_site site = site_at(site_write, 1);
	struct driven *driven;

	site.once = true;
	driven_plan(all, 1);
	driven = driven_start(&watch_by_value);
	driven->engine.pool.params.startup_ns = LONG_NS;
	lane_start(0, 1);
	driven_until(driven, startup_of_child(driven)->newborn.thread != NULL);
	arm_queue(&driven->engine, &site, 1);
	tell_sent(driven);
	driven_until(driven, driven->engine.stalls.list.count == 1);
	driven_prolong(driven);
	startup_of_child(driven)->recent_ns = UINT64_MAX;
	driven_until(driven, lane_idle(0));
	return driven;
}

static void what_ran_is_armed_again_for_the_next_thread(void **state)
{
	struct driven *driven = start_stalled(work_make);
	struct engine *engine = &driven->engine;

	(void)state;
	assert_int_equal(engine->pool.spent.count, 1);
	assert_int_equal(engine->core.stats.arms, 1);
	lane_start(0, 1);
	driven_until(driven, startup_of_child(driven)->births == 1);
	/* the stall ends, and the newborn has not run yet */
	assert_int_equal(engine->core.stats.samples, 1);
	assert_int_equal(engine->core.stats.arms, 2);
	driven_until(driven, engine->core.stats.hits >= 2);
	assert_int_equal(driven->samples[0].outcome, WIRE_QUIET);
	tracee_tell(&child_plan.arena->flag, 1);
	driven_end(driven);
}

/* Did a thread stand where a breakpoint was to be set? */
static bool was_deferred(const struct driven *driven)
{
	for (int i = 0; i < driven->returned_count; i++) {
		if (driven->returned[i].why == WIRE_DEFERRED)
			return true;
	}
	return false;
}

/*
 * The first that was made waits for the next; from then on nobody knows how long
 * they last. What had a short stall is to have a longer one.
 */
static void stalls_are_short_when_all_are_made(void **state)
{
	struct driven *driven = start_stalled(work_make_apart);
	struct engine *engine = &driven->engine;
	const struct program_text *text =
		tracees_process(&engine->core.tracees, driven->pid)
			->space->text;
	struct startup *startup = startup_of_child(driven);

	(void)state;
	assert_int_equal(startup_stall_ns(text, clock_now_ns()), UINT64_MAX);
	assert_int_equal(engine->pool.once.count, 0);
	lane_start(0, 1);
	driven_until(driven, startup->births == 1);
	assert_int_equal(engine->pool.once.count, 0);
	assert_true(startup->born_ns != 0);
	assert_int_equal(startup_stall_ns(text, startup->born_ns),
			 lengths_young(0));
	assert_true(startup_stall_ns(text, startup->born_ns + LONG_NS) >
		    startup_stall_ns(text, startup->born_ns));
	driven_until(driven, engine->core.stats.samples >= 2);
	/* or its thread was still there */
	driven_until(driven,
		     engine->core.stats.arms >= 3 || was_deferred(driven));
	/* not when the program is older */
	startup->recent_ns = 1;
	assert_int_equal(startup_stall_ns(text, clock_now_ns()), UINT64_MAX);
	tracee_tell(&child_plan.arena->flag, 1);
	driven_end(driven);
}

/* As of a script's commands, of which each is soon over. */
static void another_program_begins_while_one_is_recent(void **state)
{
	struct driven *driven = start(1, LONG_NS);

	(void)state;
	startup_of_child(driven)->recent_ns = UINT64_MAX;
	both_wait(driven);
	tell_sent(driven);
	driven_until(driven, lane_idle(0));
	driven_end(driven);
}

static void the_maker_does_not_end_a_stall(void **state)
{
	struct driven *driven = start_stalled(work_make_or_read);
	struct engine *engine = &driven->engine;
	struct wire_site site = site_at(site_read, 2);
	struct stall *stall = *(struct stall **)vec_at(&engine->stalls.list, 0);

	(void)state;
	site.once = true;
	driven_arm(driven, &site);
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(engine->core.stats.hits, 2);
	assert_int_equal(engine->stalls.list.count, 1);
	assert_ptr_equal(*(struct stall **)vec_at(&engine->stalls.list, 0),
			 stall);
	/* it waits to be armed again when nobody is stalled */
	assert_int_equal(engine->pool.once.count, 1);
	tracee_tell(&child_plan.arena->flag, 1);
	driven_end(driven);
}

/* Another thread gets somewhere new: the stall gives way, if it has had its time. */
static void a_stall_gives_way_when_it_has_had_its_time(void **state)
{
	static const uint64_t patiences[] = { LONG_NS, 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct driven *driven = start_stalled(work_make_or_read);
		struct engine *engine = &driven->engine;
		struct wire_site site = site_at(site_read, 2);
		struct stall *stall =
			*(struct stall **)vec_at(&engine->stalls.list, 0);

		startup_of_child(driven)->patience_ns = patiences[i];
		startup_of_child(driven)->maker = 0;
		site.once = true;
		driven_arm(driven, &site);
		lane_start(0, 1);
		driven_until(driven, engine->core.stats.hits == 2);
		assert_int_equal(engine->stalls.list.count, 1);
		assert_int_equal(*(struct stall **)vec_at(&engine->stalls.list,
							  0) == stall,
				 patiences[i] > 0);
		assert_int_equal(engine->pool.once.count, patiences[i] > 0);
		tracee_tell(&child_plan.arena->flag, 1);
		driven_end(driven);
	}
}

static void nobody_waits_where_it_is_not_asked_for(void **state)
{
	static const struct {
		int threads;
		uint64_t startup_ns;
	} cases[] = { { 1, 0 }, { 2, 3600 * CLOCK_NS_PER_S } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct driven *driven =
			start(cases[i].threads, cases[i].startup_ns);

		lane_start(0, 1);
		driven_until(driven, lane_idle(0));
		assert_int_equal(driven->startup_count, 0);
		driven_end(driven);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_wait_until_all_is_armed),
		cmocka_unit_test(they_wait_for_other_breakpoints),
		cmocka_unit_test(they_do_not_wait_for_ever),
		cmocka_unit_test(they_are_let_go_with_everything),
		cmocka_unit_test(they_may_be_killed),
		cmocka_unit_test(what_ran_is_armed_again_for_the_next_thread),
		cmocka_unit_test(stalls_are_short_when_all_are_made),
		cmocka_unit_test(another_program_begins_while_one_is_recent),
		cmocka_unit_test(the_maker_does_not_end_a_stall),
		cmocka_unit_test(a_stall_gives_way_when_it_has_had_its_time),
		cmocka_unit_test(nobody_waits_where_it_is_not_asked_for),
	};

	alarm(TRACEE_TEST_SECONDS);
	return cmocka_run_group_tests_name("startup", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Holding a thread at a side of a hunt: what becomes of the thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driven.h"

#include "tracer/hunt-registers.h"
#include "tracer/hunt.h"
#include "tracer/stall.h"

/* No memory is to be had while this is set. */
static bool exhausted;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return exhausted ? NULL : __real_calloc(count, size);
}

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size)
{
	return exhausted ? NULL : __real_realloc(memory, size);
}

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[0], lane->done);
	__asm__ volatile("" ::: "memory");
}

static void work_add(struct arena *arena, struct lane *lane)
{
	do_add(&arena->data[1], 1);
	(void)lane;
}

/* It comes to the bytes that work_write() writes: twice to read, then to add. */
static void work_read_and_add(struct arena *arena, struct lane *lane)
{
	if (lane->done < 2)
		lane->result += do_read(&arena->data[0]);
	else
		do_add(&arena->data[0], 1);
}

/* It comes to no access, but runs. */
static void work_nothing(struct arena *arena, struct lane *lane)
{
	(void)arena;
	(void)lane;
}

static struct driven *start_with(lane_work *const *work, int lanes)
{
	struct error *err = selftest_registers();
	struct driven *driven;

	if (err)
		tracee_skip(err);
	driven_plan(work, lanes);
	driven = driven_start(&watch_by_registers);
	driven->engine.hunt.on = true;
	return driven;
}

static struct driven *start(int lanes)
{
	lane_work *const work[] = { work_write, work_nothing };

	return start_with(work, lanes);
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

/* Those whose outcome was not told yet. */
static size_t sides_left(struct driven *driven)
{
	const struct vec *targets = &driven->engine.hunt.targets;
	size_t left = 0;

	hunt_tick(&driven->engine);
	for (size_t i = 0; i < targets->count; i++) {
		const struct hunt_target *target =
			*(struct hunt_target **)vec_at(targets, i);

		left += target->state != HUNT_TOLD;
	}
	return left;
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
	struct driven *driven = start(1);
	const struct wire_hunt side = side_at_write();

	(void)state;
	take(driven, &side);
	assert_int_equal(driven->engine.hunt.targets.count, 1);
	lane_start(0, 1);
	driven_until(driven, driven->sample_count == 1);
	assert_int_equal(driven->samples[0].outcome, WIRE_ALONE);
	assert_int_not_equal(only_thread(driven)->state, THREAD_GONE);
	driven_until(driven, lane_idle(0));
	assert_int_equal(sides_left(driven), 0);
	driven_end(driven);
}

/*
 * The front end sends it again if its library was unloaded and loaded before it
 * has read the outcome.
 */
static void a_side_that_was_told_is_not_tried_again(void **state)
{
	struct driven *driven = start(1);
	const struct wire_hunt side = side_at_write();
	struct process *process =
		tracees_process(&driven->engine.core.tracees, driven->pid);

	(void)state;
	take(driven, &side);
	lane_start(0, 1);
	driven_until(driven, driven->sample_count == 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(sides_left(driven), 0);
	take(driven, &side);
	assert_int_equal(sides_left(driven), 0);
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(driven->sample_count, 1);
	/* with its program, it is forgotten */
	hunt_leave(&driven->engine, process);
	assert_int_equal(driven->engine.hunt.targets.count, 0);
	driven_end(driven);
}

/* Before its time, which is an hour, and however busy the machine is. */
static void end_hold(struct driven *driven)
{
	struct stall *stall =
		*(struct stall **)vec_at(&driven->engine.stalls.list, 0);

	driven_until(driven, stall->watched);
	stall->length_ns = stall->deadline_ns = 0;
	driven_until(driven, !driven->engine.hunt.holds);
}

/* A library is loaded that has one more partner. */
static void more_of_a_side_waits_for_the_end_of_a_hold(void **state)
{
	lane_work *const work[] = { work_add, work_nothing };
	struct driven *driven = start_with(work, 2);
	const struct hunt *hunt = &driven->engine.hunt;
	struct wire_hunt side = side_at_write();

	(void)state;
	side.hold_ns = 3600 * CLOCK_NS_PER_S;
	side.partners[side.partner_count++] = site_at(site_add, 5);
	side.early_count = side.partner_count;
	take(driven, &side);
	lane_start(0, 1);
	driven_until(driven, hunt->holds);
	side.partners[side.partner_count++] = site_at(site_read, 5);
	side.early_count = side.partner_count;
	hunt_take(&driven->engine, &side, sizeof(side));
	assert_int_equal(hunt->partner_count, 1);
	assert_true(hunt->holds);
	end_hold(driven);
	assert_int_equal(sides_left(driven), 1);
	assert_int_equal(hunt->partner_count, 2);
	assert_true(hunt->partners[1].claimed);
	driven_until(driven, lane_idle(0));
	hunt_end(&driven->engine);
	driven_end(driven);
}

static const struct breakpoint *breakpoint_at_far(const struct driven *driven)
{
	const struct process *process =
		tracees_process(&driven->engine.core.tracees, driven->pid);

	return breakpoint_find(process->space, (uintptr_t)site_far);
}

/* Also where the text is written by a stopped thread only. */
static void breakpoints_of_partners_end_with_the_hold(void **state)
{
	struct driven *driven = start(2);
	struct wire_hunt side = side_at_write();
	struct process *process =
		tracees_process(&driven->engine.core.tracees, driven->pid);

	(void)state;
	driven_until(driven, sigstate_ready(&driven->engine.core.tracees,
					    process, false, clock_now_ns()));
	memory_close_file(&process->space->memory);
	side.hold_ns = CLOCK_NS_PER_MS;
	/* three have registers */
	side.partners[side.partner_count++] = site_at(site_add, 5);
	side.partners[side.partner_count++] = site_at(site_read, 5);
	side.partners[side.partner_count++] = site_at(site_wide, 5);
	side.partners[side.partner_count++] = site_at(site_far, 5);
	side.early_count = side.partner_count;
	take(driven, &side);
	lane_start(0, 1);
	driven_until(driven, driven->sample_count == 1);
	assert_int_equal(driven->samples[0].outcome, WIRE_QUIET);
	assert_non_null(breakpoint_at_far(driven));
	assert_false(breakpoint_at_far(driven)->armed);
	assert_pristine(&driven->memory);
	driven_until(driven, lane_idle(0));
	driven_end(driven);
}

/*
 * All at one INT3, one held after the other; a thread that goes on from a hold
 * meets the INT3 again, which is no further execution.
 */
static void many_sides_wait_in_the_text(void **state)
{
	struct driven *driven = start(2);
	struct wire_hunt side = side_at_write();

	(void)state;
	side.hold_ns = CLOCK_NS_PER_MS;
	side.by_text = true;
	for (side.side = 0; side.side < 4; side.side++) {
		side.ordinal = side.side;
		take(driven, &side);
	}
	assert_int_equal(sides_left(driven), 4);
	for (size_t i = 0; i < 4; i++) {
		const struct hunt_target *target =
			*(struct hunt_target **)vec_at(
				&driven->engine.hunt.targets, i);

		assert_true(target->stands);
		assert_false(target->claimed);
	}
	lane_start(0, 2);
	driven_until(driven, lane_idle(0));
	assert_int_equal(driven->sample_count, 2);
	assert_int_equal(sides_left(driven), 2);
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(driven->sample_count, 3);
	assert_int_equal(sides_left(driven), 1);
	hunt_end(&driven->engine);
	assert_pristine(&driven->memory);
	driven_end(driven);
}

/* A side for any thread waits for the next, others are not tried in this run. */
static void who_comes_during_a_hold_is_let_by(void **state)
{
	struct driven *driven = start(1);
	struct hunt *hunt = &driven->engine.hunt;
	struct wire_hunt side = side_at_write();
	const struct hunt_target *target;

	(void)state;
	side.by_text = true;
	take(driven, &side);
	target = *(struct hunt_target **)vec_at(&hunt->targets, 0);
	hunt->holds = true;
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(driven->sample_count, 0);
	assert_true(target->passed);
	assert_true(target->stands);
	assert_int_equal(target->news.reached, 1);
	hunt->holds = false;
	hunt_end(&driven->engine);
	assert_pristine(&driven->memory);
	driven_end(driven);
}

/* Others have three: the last one is not for counting. */
static void with_one_register_sides_wait_in_the_text(void **state)
{
	struct driven *driven = start(2);
	struct wire_hunt side = side_at_write();
	const struct hunt_target *target;

	(void)state;
	driven->engine.core.tracees.watch.dregs.taken = 3;
	side.hold_ns = 3600 * CLOCK_NS_PER_S;
	side.partners[side.partner_count++] = site_at(site_far, 5);
	take(driven, &side);
	target =
		*(struct hunt_target **)vec_at(&driven->engine.hunt.targets, 0);
	assert_true(target->stands);
	assert_false(target->claimed);
	assert_int_equal(dregs_free(&driven->engine.core.tracees.watch.dregs),
			 1);
	lane_start(0, 1);
	driven_until(driven, driven->engine.hunt.holds);
	/* it watches the bytes, and the partner has an INT3 */
	assert_int_equal(dregs_free(&driven->engine.core.tracees.watch.dregs),
			 0);
	assert_true(driven->engine.hunt.partners[0].stands);
	end_hold(driven);
	driven_until(driven, lane_idle(0));
	hunt_end(&driven->engine);
	assert_pristine(&driven->memory);
	driven_end(driven);
}

/* Others execute it all the time. */
static void a_side_in_the_text_is_given_up(void **state)
{
	struct driven *driven = start(1);
	struct wire_hunt side = side_at_write();

	(void)state;
	side.by_text = true;
	side.any = false;
	side.path_length = 1;
	take(driven, &side);
	lane_start(0, HUNT_STOPS - 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(sides_left(driven), 1);
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(sides_left(driven), 0);
	assert_int_equal(driven->sample_count, 0);
	assert_pristine(&driven->memory);
	driven_end(driven);
}

static void without_memory_a_side_is_not_tried(void **state)
{
	struct driven *driven = start(1);
	struct wire_hunt side = side_at_write();
	struct hunt_target *target;

	(void)state;
	exhausted = true;
	hunt_take(&driven->engine, &side, sizeof(side));
	exhausted = false;
	assert_int_equal(driven->engine.hunt.targets.count, 0);
	driven_listen(driven);
	assert_int_equal(driven->note_count, 1);
	assert_int_equal(driven->hunted_count, 1);
	assert_int_equal(driven->hunted.end, WIRE_HUNT_UNTRIED);
	/* nor one of which an execution could not be counted */
	take(driven, &side);
	target =
		*(struct hunt_target **)vec_at(&driven->engine.hunt.targets, 0);
	target->uncounted = true;
	hunt_end(&driven->engine);
	driven_listen(driven);
	assert_int_equal(driven->hunted_count, 2);
	assert_int_equal(driven->hunted.end, WIRE_HUNT_UNTRIED);
	assert_int_equal(driven->sample_count, 0);
	assert_pristine(&driven->memory);
	driven_end(driven);
}

/* One that nobody runs, any more or at all. */
static void a_side_of_no_program_is_not_kept(void **state)
{
	struct driven *driven = start(1);
	struct wire_hunt side = side_at_write();

	(void)state;
	for (side.site.program = 70; side.site.program < 80;
	     side.site.program++)
		hunt_take(&driven->engine, &side, sizeof(side));
	assert_int_equal(driven->engine.hunt.targets.count, 0);
	driven_listen(driven);
	assert_int_equal(driven->hunted_count, 10);
	assert_int_equal(driven->hunted.end, WIRE_HUNT_UNREACHED);
	driven_end(driven);
}

static void what_no_program_runs_is_not_recorded(void **state)
{
	struct driven *driven = start(1);
	struct wire_site site = site_at(site_write, 1);

	(void)state;
	driven->engine.record.executions = 1;
	site.program = 70;
	record_take(&driven->engine, &site, sizeof(site));
	assert_int_equal(driven->engine.record.programs.count, 0);
	site.program = 0;
	record_take(&driven->engine, &site, sizeof(site));
	assert_int_equal(driven->engine.record.programs.count, 1);
	driven_end(driven);
}

/* A side that waits for these, of which the other thread reads first. */
static struct wire_hunt side_with_partners(const char *const *partners)
{
	struct wire_hunt side = side_at_write();

	side.until_all = true;
	side.hold_ns = 3600 * CLOCK_NS_PER_S;
	while (partners[side.partner_count]) {
		side.partners[side.partner_count] =
			site_at(partners[side.partner_count], 5);
		side.partner_count++;
	}
	side.early_count = side.partner_count;
	return side;
}

/* Each of two conflicts is told once, and then once what came of the side. */
static void assert_met_both(struct driven *driven)
{
	driven_until(driven, lane_idle(0) && lane_idle(1));
	assert_int_equal(sides_left(driven), 0);
	driven_listen(driven);
	assert_int_equal(driven->conflict_count, 2);
	assert_int_equal(driven->hunted_count, 2);
	assert_int_equal(driven->hunted.end, WIRE_HUNT_MET);
	assert_false(driven->hunted.more);
	assert_pristine(&driven->memory);
	driven_end(driven);
}

static void a_hold_goes_on_until_the_partner_comes(void **state)
{
	static const char *const partners[] = { site_add, NULL };
	lane_work *const work[] = { work_write, work_read_and_add };
	struct driven *driven = start_with(work, 2);
	const struct wire_hunt side = side_with_partners(partners);

	(void)state;
	take(driven, &side);
	lane_start(0, 1);
	driven_until(driven, driven->engine.hunt.holds);
	lane_start(1, 2);
	driven_until(driven, lane_idle(1));
	driven_listen(driven);
	assert_int_equal(driven->conflict_count, 1);
	assert_int_equal(driven->hunted_count, 1);
	assert_int_equal(driven->conflict.wire.evidence, WIRE_WATCHPOINT);
	assert_true(driven->hunted.more);
	assert_int_equal(driven->hunted.end, WIRE_HUNT_MET);
	lane_start(1, 1);
	assert_met_both(driven);
}

/* It was held at the first partner, before the side. */
static void who_was_met_first_is_not_met_again(void **state)
{
	static const char *const partners[] = { site_read, site_add, NULL };
	lane_work *const work[] = { work_write, work_read_and_add };
	struct driven *driven = start_with(work, 2);
	const struct wire_hunt side = side_with_partners(partners);

	(void)state;
	take(driven, &side);
	lane_start(1, 3);
	driven_until(driven, driven->engine.hunt.holds);
	lane_start(0, 1);
	assert_met_both(driven);
}

/*
 * It executes one of two partners over and over, for other bytes. taken: registers
 * that others have.
 */
static void is_busy_elsewhere(uint8_t taken, bool by_text)
{
	static const char *const partners[] = { site_far, site_add, NULL };
	lane_work *const work[] = { work_write, work_add };
	struct driven *driven = start_with(work, 2);
	const struct hunt *hunt = &driven->engine.hunt;
	const struct wire_hunt side = side_with_partners(partners);

	driven->engine.core.tracees.watch.dregs.taken = taken;
	take(driven, &side);
	lane_start(0, 1);
	driven_until(driven, hunt->holds && hunt->partner_count == 2 &&
				     stalls_see_all(&driven->engine));
	assert_true(hunt->partners[0].claimed);
	lane_start(1, HUNT_ELSEWHERE - 1);
	driven_until(driven, lane_idle(1));
	assert_int_equal(hunt->partners[1].elsewhere, HUNT_ELSEWHERE - 1);
	assert_int_equal(hunt->partners[1].stands, by_text);
	assert_int_equal(hunt->partners[1].claimed, !by_text);
	lane_start(1, HUNT_ELSEWHERE);
	driven_until(driven, lane_idle(1));
	assert_int_equal(hunt->partners[1].elsewhere, HUNT_ELSEWHERE);
	assert_false(hunt->partners[1].claimed || hunt->partners[1].stands);
	/* the other one is as it was */
	assert_int_equal(hunt->partners[0].elsewhere, 0);
	assert_true(hunt->partners[0].claimed);
	assert_true(hunt->holds);
	end_hold(driven);
	driven_until(driven, lane_idle(0));
	hunt_end(&driven->engine);
	assert_pristine(&driven->memory);
	driven_end(driven);
}

static void a_partner_that_is_busy_elsewhere_gets_on(void **state)
{
	(void)state;
	is_busy_elsewhere(0, false);
	is_busy_elsewhere(2, true);
}

/* From now on, children of the test run on the first processor that it may use. */
static void pin(cpu_set_t *ret_before)
{
	cpu_set_t one;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(*ret_before), ret_before),
			 0);
	while (!CPU_ISSET(cpu, ret_before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

static pid_t start_spinning(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			__asm__ volatile("");
	}
	return pid;
}

/*
 * The other thread has a processor together with a process that leaves it none
 * of its own accord: of the 100 ms, it waits for half or more. Had it all of them,
 * the hold would not be longer.
 */
static void a_hold_lasts_longer_while_others_wait_to_run(void **state)
{
	struct wire_hunt side = side_at_write();
	struct driven *driven;
	cpu_set_t before;
	pid_t spinning;

	(void)state;
	pin(&before);
	driven = start(2);
	spinning = start_spinning();
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	side.hold_ns = 100 * CLOCK_NS_PER_MS;
	take(driven, &side);
	lane_start(0, 1);
	driven_until(driven, driven->sample_count == 1);
	assert_int_equal(driven->samples[0].outcome, WIRE_QUIET);
	assert_in_range(driven->samples[0].stalled_ns, 130 * CLOCK_NS_PER_MS,
			UINT64_MAX);
	kill(spinning, SIGKILL);
	waitpid(spinning, NULL, 0);
	driven_until(driven, lane_idle(0));
	driven_end(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_is_alone_runs_on),
		cmocka_unit_test(a_side_that_was_told_is_not_tried_again),
		cmocka_unit_test(more_of_a_side_waits_for_the_end_of_a_hold),
		cmocka_unit_test(breakpoints_of_partners_end_with_the_hold),
		cmocka_unit_test(many_sides_wait_in_the_text),
		cmocka_unit_test(who_comes_during_a_hold_is_let_by),
		cmocka_unit_test(with_one_register_sides_wait_in_the_text),
		cmocka_unit_test(a_side_in_the_text_is_given_up),
		cmocka_unit_test(without_memory_a_side_is_not_tried),
		cmocka_unit_test(a_side_of_no_program_is_not_kept),
		cmocka_unit_test(what_no_program_runs_is_not_recorded),
		cmocka_unit_test(a_hold_goes_on_until_the_partner_comes),
		cmocka_unit_test(a_partner_that_is_busy_elsewhere_gets_on),
		cmocka_unit_test(who_was_met_first_is_not_met_again),
		cmocka_unit_test(a_hold_lasts_longer_while_others_wait_to_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stepping service, breakpoints that stay, predicates, and holds released
 * in an order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "driven.h"

#include "tracee/step.h"

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[lane - arena->lanes], lane->done + 1);
}

static void work_system_call(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[0], 1);
	lane->result = (uint64_t)syscall(SYS_getppid);
	do_far(&arena->data[0], 2);
}

static struct driven *start(lane_work *work, int lanes)
{
	lane_work *const all[] = { work, work, work };

	driven_plan(all, lanes);
	return driven_start(&watch_by_value);
}

static int predicate_calls, predicate_wanted;
static pid_t predicate_tid;

/* Counts, and wants hits by one thread only. */
static bool predicate(struct thread *thread, const struct x86_registers *regs,
		      void *data)
{
	assert_int_equal(regs->rip, *(const uint64_t *)data);
	assert_int_equal(regs->gpr[X86_RDI] % 8, 0);
	predicate_calls++;
	predicate_wanted += thread->tid == predicate_tid;
	return thread->tid == predicate_tid;
}

static struct breakpoint *arm_with_predicate(struct driven *driven,
					     const struct wire_site *site,
					     enum breakpoint_policy policy)
{
	struct breakpoint *breakpoint = driven_arm(driven, site);

	predicate_calls = predicate_wanted = 0;
	predicate_tid = child_plan.arena->lanes[1].tid;
	breakpoint->policy = policy;
	breakpoint->predicate = predicate;
	breakpoint->predicate_data = &breakpoint->site.address;
	return breakpoint;
}

/* By turns, so that nobody passes while the other is stepped over. */
static void a_persistent_breakpoint_sees_every_pass(void **state)
{
	struct wire_site site = site_at(site_write, 1);
	struct driven *driven = start(work_write, 2);
	struct breakpoint *breakpoint =
		arm_with_predicate(driven, &site, BREAKPOINT_PERSISTENT);

	(void)state;
	for (int i = 0; i < 20; i++) {
		lane_start(i % 2, 1);
		driven_until(driven, lane_idle(i % 2));
		assert_int_equal(predicate_calls, i + 1);
		assert_true(breakpoint->armed);
	}
	assert_int_equal(predicate_wanted, 10);
	assert_int_equal(child_plan.arena->data[0], 10);
	assert_int_equal(child_plan.arena->data[1], 10);
	driven_end(driven);
}

/*
 * At the same time some pass unseen while the breakpoint is lifted for
 * another, but none is counted twice, and it stays.
 */
static void threads_pass_a_persistent_breakpoint_together(void **state)
{
	enum { PASSES = 300 };
	struct wire_site site = site_at(site_write, 1);
	struct driven *driven = start(work_write, 3);
	struct breakpoint *breakpoint =
		arm_with_predicate(driven, &site, BREAKPOINT_PERSISTENT);

	(void)state;
	for (int i = 0; i < 3; i++)
		lane_start(i, PASSES);
	driven_until(driven, lane_idle(0) && lane_idle(1) && lane_idle(2));
	assert_in_range(predicate_calls, 1, 3 * PASSES);
	for (int i = 0; i < 3; i++)
		assert_int_equal(child_plan.arena->data[i], PASSES);
	assert_true(breakpoint->armed);
	driven_end(driven);
}

static void await_stop(pid_t tid)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)tid, &info,
				WSTOPPED | WNOWAIT | __WALL),
			 0);
}

/* Who has met it has met it, although it is lifted for somebody else. */
static void a_trap_carried_to_a_persistent_breakpoint_counts(void **state)
{
	struct wire_site site = site_at(site_write, 1);
	struct driven *driven = start(work_write, 3);

	(void)state;
	arm_with_predicate(driven, &site, BREAKPOINT_PERSISTENT);
	for (int i = 0; i < 3; i++)
		lane_start(i, 1);
	for (int i = 0; i < 3; i++)
		await_stop(child_plan.arena->lanes[i].tid);
	driven_until(driven, lane_idle(0) && lane_idle(1) && lane_idle(2));
	assert_int_equal(predicate_calls, 3);
	driven_end(driven);
}

/* One-shot: fires for the wanted thread, others are stepped over it. */
static void a_predicate_chooses_the_thread_that_fires(void **state)
{
	struct wire_site site = site_at(site_write, 1);
	struct driven *driven = start(work_write, 2);
	struct breakpoint *breakpoint =
		arm_with_predicate(driven, &site, BREAKPOINT_ONE_SHOT);

	(void)state;
	lane_start(0, 5);
	driven_until(driven, lane_idle(0));
	assert_int_equal(predicate_calls, 5);
	assert_true(breakpoint->armed);
	assert_int_equal(driven->engine.core.stats.hits, 0);
	lane_start(1, 1);
	driven_until(driven, driven->engine.stalls.list.count == 1);
	assert_false(breakpoint->armed);
	assert_int_equal(driven->engine.core.stats.hits, 1);
	driven_end(driven);
}

static int alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
	do_add(&child_plan.arena->data[8], 1);
}

static void prepare_alarms(void)
{
	signal(SIGUSR1, on_alarm);
}

/*
 * A signal that arrives between the trap and the step: its handler runs, and
 * the pass is still one.
 */
static void a_signal_at_a_step_over_is_delivered_once(void **state)
{
	struct wire_site site = site_at(site_write, 1);
	lane_work *const work[] = { work_write, work_write };
	struct driven *driven;

	(void)state;
	driven_plan(work, 2);
	child_plan.prepare = prepare_alarms;
	driven = driven_start(&watch_by_value);
	arm_with_predicate(driven, &site, BREAKPOINT_PERSISTENT);
	for (uint32_t i = 1; i <= 20; i++) {
		pid_t tid = child_plan.arena->lanes[1].tid;

		lane_start(1, 1);
		await_stop(tid);
		assert_int_equal(syscall(SYS_tgkill, driven->pid, tid, SIGUSR1),
				 0);
		driven_until(driven,
			     lane_idle(1) && child_plan.arena->data[8] == i);
		assert_int_equal(predicate_calls, i);
	}
	driven_end(driven);
}

struct walk {
	struct step step;
	int steps;
	uint64_t until;
};

static bool walk_stepped(struct step *step)
{
	struct walk *walk = (struct walk *)step;
	struct x86_registers regs;

	walk->steps++;
	assert_ok(trace_registers(step->thread->tid, &regs));
	return regs.rip != walk->until;
}

/* Bring lane 0 to a stop at site_write, held by nobody, about to step. */
static struct hold begin_hold;

static bool predicate_hold(struct thread *thread,
			   const struct x86_registers *regs, void *data)
{
	(void)regs;
	hold_begin(data, &begin_hold, thread);
	return false;
}

static void (*walk_prepare)(void);

static struct driven *start_walk(struct walk *walk, lane_work *work)
{
	struct wire_site site = site_at(site_write, 1);
	lane_work *const all[] = { work, work };
	struct breakpoint *breakpoint;
	struct driven *driven;

	driven_plan(all, 2);
	child_plan.prepare = walk_prepare;
	driven = driven_start(&watch_by_value);
	breakpoint = driven_arm(driven, &site);
	memset(walk, 0, sizeof(*walk));
	walk->step.stepped = walk_stepped;
	memset(&begin_hold, 0, sizeof(begin_hold));
	breakpoint->predicate = predicate_hold;
	breakpoint->predicate_data = &driven->engine.core.tracees;
	lane_start(0, 1);
	driven_until(driven, begin_hold.thread);
	breakpoint->predicate = NULL;
	breakpoint_lift(tracees_process(&driven->engine.core.tracees,
					driven->pid)
				->space,
			0, breakpoint);
	step_lose(&driven->engine.core.tracees, begin_hold.thread);
	step_begin(&walk->step, begin_hold.thread);
	return driven;
}

static void a_thread_is_stepped_through_a_system_call(void **state)
{
	struct driven *driven;
	struct walk walk;

	(void)state;
	driven = start_walk(&walk, work_system_call);
	walk.until = (uintptr_t)site_far;
	hold_release(&driven->engine.core.tracees, &begin_hold);
	driven_until(driven, lane_idle(0));
	assert_null(walk.step.thread);
	assert_true(walk.steps > 5);
	assert_int_equal(child_plan.arena->lanes[0].result, getpid());
	assert_int_equal(child_plan.arena->data[0], 2);
	driven_end(driven);
}

static void a_stepped_thread_meets_breakpoints_that_stay(void **state)
{
	struct wire_site far = site_at(site_far, 2);
	struct breakpoint *breakpoint;
	struct driven *driven;
	struct walk walk;

	(void)state;
	driven = start_walk(&walk, work_system_call);
	breakpoint = arm_with_predicate(driven, &far, BREAKPOINT_PERSISTENT);
	/* the instruction behind the breakpoint: still stepped there */
	walk.until = (uintptr_t)site_far + far.insn.length;
	hold_release(&driven->engine.core.tracees, &begin_hold);
	driven_until(driven, lane_idle(0));
	assert_int_equal(predicate_calls, 1);
	assert_true(breakpoint->armed);
	assert_null(walk.step.thread);
	driven_end(driven);
}

/* It came while the thread was held, and waits until the step is over. */
static void a_blocked_signal_does_not_divert_a_step(void **state)
{
	struct driven *driven;
	struct walk walk;
	pid_t tid;

	(void)state;
	walk_prepare = prepare_alarms;
	driven = start_walk(&walk, work_write);
	walk_prepare = NULL;
	tid = child_plan.arena->lanes[0].tid;
	walk.until = (uintptr_t)site_write + site_at(site_write, 1).insn.length;
	assert_int_equal(syscall(SYS_tgkill, driven->pid, tid, SIGUSR1), 0);
	step_block_signals(&walk.step);
	hold_release(&driven->engine.core.tracees, &begin_hold);
	driven_until(driven, lane_idle(0) && child_plan.arena->data[8] == 1);
	assert_int_equal(walk.steps, 1);
	driven_end(driven);
}

/* Not blocked, it does: the kernel stops at the handler's first instruction. */
static void a_step_into_a_handler_is_a_step(void **state)
{
	struct driven *driven;
	struct walk walk;
	pid_t tid;

	(void)state;
	walk_prepare = prepare_alarms;
	driven = start_walk(&walk, work_write);
	walk_prepare = NULL;
	tid = child_plan.arena->lanes[0].tid;
	walk.until = (uintptr_t)on_alarm;
	assert_int_equal(syscall(SYS_tgkill, driven->pid, tid, SIGUSR1), 0);
	hold_release(&driven->engine.core.tracees, &begin_hold);
	driven_until(driven, lane_idle(0) && child_plan.arena->data[8] == 1);
	assert_int_equal(walk.steps, 1);
	driven_end(driven);
}

/* Whoever takes the thread out of its step gives it its mask back. */
static void a_lost_step_leaves_no_signal_blocked(void **state)
{
	struct driven *driven;
	uint64_t before, after;
	struct walk walk;
	pid_t tid;

	(void)state;
	driven = start_walk(&walk, work_write);
	tid = child_plan.arena->lanes[0].tid;
	assert_ok(trace_signal_mask(tid, &before));
	step_block_signals(&walk.step);
	assert_ok(trace_signal_mask(tid, &after));
	assert_int_not_equal(before, after);
	step_lose(&driven->engine.core.tracees, begin_hold.thread);
	assert_ok(trace_signal_mask(tid, &after));
	assert_int_equal(before, after);
	hold_release(&driven->engine.core.tracees, &begin_hold);
	driven_until(driven, lane_idle(0));
	driven_end(driven);
}

static void letting_go_in_the_middle_of_a_step_does_no_harm(void **state)
{
	struct driven *driven;
	struct walk walk;

	(void)state;
	driven = start_walk(&walk, work_system_call);
	walk.until = 0;
	hold_release(&driven->engine.core.tracees, &begin_hold);
	/* the trap of the step is there before the thread is let go */
	await_stop(child_plan.arena->lanes[0].tid);
	driven_release(driven);
	assert_null(walk.step.thread);
	tracee_await(&child_plan.arena->lanes[0].done, 1);
	driven_end(driven);
}

static int order[LANES], order_count;

static struct hold ordered[LANES];

static bool predicate_hold_lane(struct thread *thread,
				const struct x86_registers *regs, void *data)
{
	size_t lane =
		(regs->gpr[X86_RDI] - (uintptr_t)child_plan.arena->data) / 8;

	/* it has been asked to stop for a new watch, which it needs no more */
	thread->watch.dirty = true;
	((struct tracees *)data)->watch.pending++;
	hold_begin(data, &ordered[lane], thread);
	order[order_count++] = (int)lane;
	return false;
}

/* Three threads held; let go in the order asked for, one after the other. */
static void held_threads_go_in_the_order_asked_for(void **state)
{
	static const int wanted[] = { 2, 0, 1 };
	struct wire_site site = site_at(site_write, 1);
	struct driven *driven = start(work_write, 3);
	struct breakpoint *breakpoint = driven_arm(driven, &site);
	struct hold *holds[3];

	(void)state;
	memset(ordered, 0, sizeof(ordered));
	order_count = 0;
	breakpoint->policy = BREAKPOINT_PERSISTENT;
	breakpoint->predicate = predicate_hold_lane;
	breakpoint->predicate_data = &driven->engine.core.tracees;
	for (int i = 0; i < 3; i++) {
		lane_start(i, 1);
		driven_until(driven, order_count == i + 1);
		assert_int_equal(order[i], i);
		assert_int_equal(driven->engine.core.tracees.watch.pending, 0);
	}
	for (int i = 0; i < 3; i++)
		driven_turn(driven);
	for (int i = 0; i < 3; i++) {
		assert_false(lane_idle(i));
		assert_int_equal(child_plan.arena->data[i], 0);
	}
	for (int i = 0; i < 3; i++) {
		holds[i] = &ordered[wanted[i]];
		hold_release(&driven->engine.core.tracees, holds[i]);
		driven_until(driven, lane_idle(wanted[i]));
		for (int j = i + 1; j < 3; j++)
			assert_false(lane_idle(wanted[j]));
	}
	/* released once, they are not held: no harm in asking again */
	for (int i = 0; i < 3; i++)
		hold_release(&driven->engine.core.tracees, holds[i]);
	/* the breakpoint has outlived the holds */
	assert_true(breakpoint->armed);
	assert_int_equal(order_count, 3);
	driven_end(driven);
}

static void a_thread_that_ends_is_held_no_more(void **state)
{
	struct wire_site site = site_at(site_write, 1);
	struct driven *driven = start(work_write, 2);
	struct breakpoint *breakpoint = driven_arm(driven, &site);

	(void)state;
	memset(ordered, 0, sizeof(ordered));
	order_count = 0;
	breakpoint->predicate = predicate_hold_lane;
	breakpoint->predicate_data = &driven->engine.core.tracees;
	lane_start(1, 1);
	driven_until(driven, order_count == 1);
	kill(driven->pid, SIGKILL);
	driven_until(driven, driven->exited);
	assert_null(ordered[1].thread);
	driven_free(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_persistent_breakpoint_sees_every_pass),
		cmocka_unit_test(threads_pass_a_persistent_breakpoint_together),
		cmocka_unit_test(
			a_trap_carried_to_a_persistent_breakpoint_counts),
		cmocka_unit_test(a_predicate_chooses_the_thread_that_fires),
		cmocka_unit_test(a_signal_at_a_step_over_is_delivered_once),
		cmocka_unit_test(a_thread_is_stepped_through_a_system_call),
		cmocka_unit_test(a_stepped_thread_meets_breakpoints_that_stay),
		cmocka_unit_test(a_blocked_signal_does_not_divert_a_step),
		cmocka_unit_test(a_step_into_a_handler_is_a_step),
		cmocka_unit_test(a_lost_step_leaves_no_signal_blocked),
		cmocka_unit_test(
			letting_go_in_the_middle_of_a_step_does_no_harm),
		cmocka_unit_test(held_threads_go_in_the_order_asked_for),
		cmocka_unit_test(a_thread_that_ends_is_held_no_more),
	};

	return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}

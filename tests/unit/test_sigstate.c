/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that block, ignore or handle SIGTRAP keep their mask and their
 * disposition through breakpoints, watches and steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "driven.h"

enum { ROUNDS = 10 };

static uint64_t bit(int signal)
{
	return UINT64_C(1) << (signal - 1);
}

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[lane - arena->lanes], lane->done + 1);
}

/* Both write the one word: the second traps in the first one's watch. */
static void work_same_word(struct arena *arena, struct lane *lane)
{
	(void)lane;
	do_write(&arena->data[0], 1);
}

static void handler(int signal)
{
	(void)signal;
	child_plan.arena->data[20]++;
}

static void prepare_blocked(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

static void prepare_all_blocked(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

static void prepare_all_but_trap_blocked(void)
{
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SIGTRAP);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

static void prepare_ignored(void)
{
	signal(SIGTRAP, SIG_IGN);
}

static void prepare_handled(void)
{
	struct sigaction action = { .sa_handler = handler,
				    .sa_flags = SA_RESTART };

	sigaction(SIGTRAP, &action, NULL);
}

static void prepare_handled_and_blocked(void)
{
	prepare_handled();
	prepare_blocked();
}

/* Let the engine look first, as it does before it sets breakpoints. */
static void settle(struct driven *driven)
{
	struct process *process =
		tracees_process(&driven->engine.core.tracees, driven->pid);

	driven_until(driven, sigstate_ready(&driven->engine.core.tracees,
					    process, false, clock_now_ns()));
}

static void check(const struct driven *driven,
		  const struct thread_status *before)
{
	for (int i = 0; i < 2; i++) {
		struct thread_status now;

		assert_ok(procfs_status(child_plan.arena->lanes[i].tid, &now));
		assert_int_equal(now.blocked, before->blocked);
		/* SIG_IGN comes back when the program is let go */
		if (driven->detached)
			assert_int_equal(now.ignored, before->ignored);
		assert_int_equal(now.caught, before->caught);
	}
	assert_int_equal(child_plan.arena->data[20], 0);
	assert_int_equal(driven->note_count, 0);
}

static void end(struct driven *driven, const struct thread_status *before)
{
	driven_release(driven);
	check(driven, before);
	if (before->caught & bit(SIGTRAP)) {
		/* and the handler still works, where it is not blocked */
		bool blocked = before->blocked & bit(SIGTRAP);

		kill(driven->pid, SIGTRAP);
		while (!blocked && child_plan.arena->data[20] == 0)
			sched_yield();
	}
	driven_end(driven);
}

static void trap_and_check(void (*prepare)(void), enum breakpoint_policy policy)
{
	struct wire_site site = site_at(site_write, 1);
	lane_work *const work[] = { work_write, work_write };
	struct thread_status before;
	struct driven *driven;

	driven_plan(work, 2);
	child_plan.prepare = prepare;
	driven = driven_start(&watch_by_value);
	driven->engine.pool.params.stall_max_ns = 1000;
	assert_ok(procfs_status(driven->pid, &before));
	settle(driven);
	for (int i = 0; i < ROUNDS; i++) {
		struct breakpoint *breakpoint;

		if (i == 0 || policy == BREAKPOINT_ONE_SHOT) {
			breakpoint = driven_arm(driven, &site);
			breakpoint->policy = policy;
		}
		lane_start(i % 2, 1);
		driven_until(driven, lane_idle(i % 2));
		check(driven, &before);
	}
	assert_int_equal(driven->engine.core.stats.hits,
			 policy == BREAKPOINT_ONE_SHOT ? ROUNDS : 0);
	end(driven, &before);
}

static void each(void (*prepare)(void))
{
	trap_and_check(prepare, BREAKPOINT_ONE_SHOT);
	trap_and_check(prepare, BREAKPOINT_PERSISTENT);
}

/* As if the threads had last been seen in the middle of a handler. */
static void seen_in_handler(struct thread_signals *signals)
{
	signals->masks[1] = signals->masks[0];
	signals->masks[0] = signals->mask = UINT64_MAX;
	signals->masks_count = 2;
}

/* Or never outside of a handler, which blocks two signals more. */
static void seen_in_handler_only(struct thread_signals *signals)
{
	signals->masks[0] |= bit(SIGUSR1) | bit(SIGUSR2);
	signals->mask = signals->masks[0];
	signals->masks_count = 1;
}

static void see(struct driven *driven, void (*how)(struct thread_signals *))
{
	struct process *process =
		tracees_process(&driven->engine.core.tracees, driven->pid);

	for (size_t i = 0; i < process->threads.count; i++) {
		struct thread_signals *signals =
			&process_thread(process, i)->signals;

		how(signals);
		signals->next_refresh_ns = UINT64_MAX;
	}
}

static void prepare_nothing(void)
{
}

static void masks_seen_before_count(void **state)
{
	static const struct {
		void (*prepare)(void);
		void (*how)(struct thread_signals *);
	} rows[] = {
		{ prepare_blocked, seen_in_handler },
		{ prepare_all_but_trap_blocked, seen_in_handler },
		{ prepare_blocked, seen_in_handler_only },
		{ prepare_nothing, seen_in_handler_only },
	};
	struct wire_site site = site_at(site_write, 1);
	lane_work *const work[] = { work_write, work_write };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct thread_status before;
		struct driven *driven;

		driven_plan(work, 2);
		child_plan.prepare = rows[i].prepare;
		driven = driven_start(&watch_by_value);
		driven->engine.pool.params.stall_max_ns = 1000;
		assert_ok(procfs_status(driven->pid, &before));
		settle(driven);
		see(driven, rows[i].how);
		for (int round = 0; round < ROUNDS; round++) {
			driven_arm(driven, &site);
			lane_start(round % 2, 1);
			driven_until(driven, lane_idle(round % 2));
			check(driven, &before);
		}
		end(driven, &before);
	}
}

/* Its mask was last read when it was being created. */
static void a_held_thread_needs_not_run_to_be_known(void **state)
{
	struct wire_site site = site_at(site_write, 1);
	lane_work *const work[] = { work_write, work_write };
	struct thread_signals *signals;
	struct process *process;
	struct driven *driven;
	struct thread *thread;

	(void)state;
	driven_plan(work, 2);
	driven = driven_start(&watch_by_value);
	settle(driven);
	process = tracees_process(&driven->engine.core.tracees, driven->pid);
	driven_arm(driven, &site);
	lane_start(1, 1);
	driven_until(driven, driven->engine.stalls.list.count == 1);
	driven_prolong(driven);
	thread = tracees_thread(&driven->engine.core.tracees,
				child_plan.arena->lanes[1].tid);
	assert_non_null(thread->hold);
	signals = &thread->signals;
	signals->mask = signals->masks[0] = UINT64_MAX;
	signals->masks_count = 1;
	signals->settled = false;
	sigstate_settle_young(&driven->engine.core.tracees, process);
	assert_true(signals->settled);
	assert_int_equal(signals->mask, 0);
	driven_end(driven);
}

static void a_blocked_trap_stays_blocked(void **state)
{
	(void)state;
	each(prepare_blocked);
}

static void everything_blocked_stays_blocked(void **state)
{
	(void)state;
	each(prepare_all_blocked);
}

static void an_ignored_trap_stays_ignored(void **state)
{
	(void)state;
	each(prepare_ignored);
}

static void a_handler_stays_and_sees_nothing(void **state)
{
	(void)state;
	each(prepare_handled);
}

static void a_blocked_handler_stays_too(void **state)
{
	(void)state;
	each(prepare_handled_and_blocked);
}

static void watched_and_check(const struct watch_ops *ops,
			      void (*prepare)(void))
{
	struct wire_site site = site_at(site_write, 1);
	lane_work *const work[] = { work_same_word, work_same_word };
	struct thread_status before;
	struct process *process;
	struct driven *driven;

	driven_plan(work, 2);
	child_plan.prepare = prepare;
	driven = driven_start(ops);
	assert_ok(procfs_status(driven->pid, &before));
	settle(driven);
	process = tracees_process(&driven->engine.core.tracees, driven->pid);
	for (int i = 1; i <= 3; i++) {
		driven_arm(driven, &site);
		lane_start(0, 1);
		driven_until(driven, driven->engine.stalls.list.count == 1);
		driven_prolong(driven);
		/* to put SIG_IGN back would discard the other's trap */
		driven_until(driven,
			     driven->engine.core.tracees.watch.pending == 0 &&
				     process->trap_restore_ns == 0);
		lane_start(1, 1);
		driven_until(driven, driven->conflict_count == i);
		assert_int_equal(driven->conflict.wire.evidence,
				 WIRE_WATCHPOINT);
		driven_until(driven, lane_idle(0) && lane_idle(1));
		check(driven, &before);
	}
	end(driven, &before);
}

/* With perf-cpu nobody asked; perf's signal would kill it. */
static void who_blocks_the_trap_is_known_when_perf_comes_back(void **state)
{
	lane_work *const work[] = { work_write, work_write };
	struct process *process;
	struct driven *driven;

	(void)state;
	driven_plan(work, 2);
	child_plan.prepare = prepare_blocked;
	driven = driven_start(&watch_by_value);
	settle(driven);
	process = tracees_process(&driven->engine.core.tracees, driven->pid);
	driven->engine.core.tracees.watch.ops = &watch_by_cpu;
	driven->engine.core.tracees.watch.many = 100;
	assert_true(watch_suit(&driven->engine.core.tracees, false,
			       clock_now_ns()));
	assert_ptr_equal(driven->engine.core.tracees.watch.ops, &watch_by_perf);
	for (size_t i = 0; i < process->threads.count; i++) {
		struct thread *thread = process_thread(process, i);

		assert_true(thread->watch.by_registers);
		thread->watch.by_registers = false;
	}
	driven->engine.core.tracees.watch.ops = &watch_by_value;
	driven->engine.core.tracees.watch.many = 0;
	driven_end(driven);
}

static void watches_leave_them_alone(void **state)
{
	static void (*const prepares[])(
		void) = { prepare_blocked, prepare_ignored, prepare_handled };
	bool kernel;
	struct error *err = selftest_registers();

	(void)state;
	if (!err)
		err = selftest_perf(&kernel);
	if (err)
		tracee_skip(err);
	for (int i = 0; i < 3; i++) {
		watched_and_check(&watch_by_registers, prepares[i]);
		/* blocked, perf stops nobody: by registers then */
		watched_and_check(&watch_by_perf, prepares[i]);
	}
}

/*
 * A program ignores SIGTRAP at its start, just after it was looked at: that is
 * seen before the first breakpoint, and what was delivered before arrives.
 */
static void the_first_breakpoint_waits_for_what_is_on_its_way(void **state)
{
	lane_work *const work[] = { work_write, work_write };
	struct driven *driven;
	struct process *process;
	uint64_t now;

	(void)state;
	driven_plan(work, 2);
	child_plan.prepare = prepare_ignored;
	driven = driven_start(&watch_by_value);
	process = tracees_process(&driven->engine.core.tracees, driven->pid);
	settle(driven);
	process->trap_ignored = false;
	process->trap_learned_ns = 0;
	process->ever_armed = false;
	now = clock_now_ns();
	process->trap_looked_ns = now;
	assert_false(sigstate_ready(&driven->engine.core.tracees, process,
				    false, now));
	assert_true(process->trap_ignored);
	settle(driven);
	assert_true(clock_now_ns() > process->trap_learned_ns);
	driven_end(driven);
}

/* In the long run, a tenth of a second apart at least: each wakes the tracer. */
static void threads_are_looked_at_together(void **state)
{
	lane_work *const work[] = { work_write, work_write };
	struct driven *driven;
	struct process *process;
	uint64_t now = 0;

	(void)state;
	driven_plan(work, 2);
	driven = driven_start(&watch_by_value);
	process = tracees_process(&driven->engine.core.tracees, driven->pid);
	settle(driven);
	for (size_t i = 0; i < process->threads.count; i++) {
		struct thread *thread = process_thread(process, i);

		for (int look = 0; look < 20; look++) {
			now = clock_now_ns();
			assert_true(sigstate_refresh(
				&driven->engine.core.tracees, thread));
		}
		assert_int_equal(
			thread->signals.next_refresh_ns % CLOCK_BEAT_NS, 0);
		assert_true(thread->signals.next_refresh_ns >
			    now + 800 * CLOCK_NS_PER_MS);
	}
	driven_end(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_first_breakpoint_waits_for_what_is_on_its_way),
		cmocka_unit_test(a_held_thread_needs_not_run_to_be_known),
		cmocka_unit_test(a_blocked_trap_stays_blocked),
		cmocka_unit_test(masks_seen_before_count),
		cmocka_unit_test(everything_blocked_stays_blocked),
		cmocka_unit_test(an_ignored_trap_stays_ignored),
		cmocka_unit_test(a_handler_stays_and_sees_nothing),
		cmocka_unit_test(a_blocked_handler_stays_too),
		cmocka_unit_test(
			who_blocks_the_trap_is_known_when_perf_comes_back),
		cmocka_unit_test(watches_leave_them_alone),
		cmocka_unit_test(threads_are_looked_at_together),
	};

	tracee_lock_registers();
	return cmocka_run_group_tests_name("sigstate", tests, NULL, NULL);
}

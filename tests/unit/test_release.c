/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Letting go while things happen: traps on their way, threads ending, exec,
 * group-stops. The child must go on as if nothing had been.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "driven.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "sys/perfwatch.h"

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[lane - arena->lanes], lane->done + 1);
}

static void work_exit_thread(struct arena *arena, struct lane *lane)
{
	(void)arena;
	(void)lane;
	pthread_exit(NULL);
}

static void work_exec(struct arena *arena, struct lane *lane)
{
	(void)arena;
	(void)lane;
	execl("/bin/sh", "sh", "-c", "exit 42", (char *)NULL);
}

static struct driven *start(const struct watch_ops *ops, lane_work *first,
			    lane_work *second)
{
	lane_work *const work[] = { first, second, work_write };

	driven_plan(work, 3);
	return driven_start(ops);
}

static void await_stop(pid_t tid)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)tid, &info,
				WSTOPPED | WNOWAIT | __WALL),
			 0);
}

static void wait_exit(struct driven *driven, int wanted)
{
	int status;

	assert_int_equal(waitpid(driven->pid, &status, __WALL), driven->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), wanted);
}

/* The leader has ended, and cannot stop; the others can. */
static void a_leader_that_has_ended_does_not_keep_us(void **state)
{
	struct driven *driven =
		start(&watch_by_value, work_exit_thread, work_write);
	struct thread_status status;

	(void)state;
	lane_start(0, 1);
	do {
		driven_turn(driven);
		assert_ok(procfs_status(driven->pid, &status));
	} while (status.state != 'Z');
	driven_release(driven);
	tracee_tell(&child_plan.arena->over, 1);
	wait_exit(driven, 0);
	driven_free(driven);
}

/*
 * The same, but it ends after it was told to stop: no word of that will ever
 * come.
 */
static void a_leader_that_ends_meanwhile_does_not_keep_us(void **state)
{
	struct driven *driven =
		start(&watch_by_value, work_exit_thread, work_write);
	struct thread *leader =
		tracees_thread(&driven->engine.core.tracees, driven->pid);
	struct thread_status status;

	(void)state;
	/* as if the interrupt had been sent just before */
	leader->interrupting = true;
	lane_start(0, 1);
	do {
		sched_yield();
		assert_ok(procfs_status(driven->pid, &status));
	} while (status.state != 'Z');
	driven_release(driven);
	tracee_tell(&child_plan.arena->over, 1);
	wait_exit(driven, 0);
	driven_free(driven);
}

/* The leader is let go first; the other's end is not the process's. */
static void a_thread_that_ends_is_not_the_process(void **state)
{
	struct driven *driven =
		start(&watch_by_value, work_write, work_exit_thread);
	pid_t tid = child_plan.arena->lanes[1].tid;

	(void)state;
	lane_start(1, 1);
	waitid(P_PID, (id_t)tid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT | __WALL);
	engine_release(&driven->engine);
	/* all but the dead one first */
	tracee_wait(child_plan.arena->lanes[2].tid);
	engine_event(
		&driven->engine,
		&(struct stop_reason){ .tid = child_plan.arena->lanes[2].tid,
				       .kind = STOP_INTERRUPTED,
				       .signal = SIGTRAP });
	tracee_wait(driven->pid);
	engine_event(&driven->engine,
		     &(struct stop_reason){ .tid = driven->pid,
					    .kind = STOP_INTERRUPTED,
					    .signal = SIGTRAP });
	driven_until(driven, driven->engine.core.phase != PHASE_RELEASING);
	assert_false(driven->exited);
	assert_true(driven->detached);
	assert_int_equal(driven->engine.core.phase, PHASE_RELEASED);
	driven_end(driven);
}

/* Another thread execs when the leader has been let go already. */
static void exec_while_letting_go(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_exec);
	pid_t tid = child_plan.arena->lanes[1].tid;

	(void)state;
	engine_release(&driven->engine);
	/* let go all but the one */
	for (int i = 0; i < 3; i += 2) {
		struct stop_reason stop =
			tracee_wait(child_plan.arena->lanes[i].tid);

		engine_event(&driven->engine, &stop);
	}
	assert_int_equal(driven->engine.core.tracees.threads.count, 1);
	/* it runs on from its interrupt, into the exec */
	await_stop(tid);
	tracee_wait(tid);
	assert_ok(trace_continue(tid, 0));
	lane_start(1, 1);
	driven_until(driven, driven->exited);
	assert_true(driven->detached);
	assert_int_equal(WEXITSTATUS(driven->exit.status), 42);
	driven_free(driven);
}

static void a_stopped_process_stays_stopped(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_write);
	struct wire_site site = site_at(site_write, 1);
	struct thread_status status;
	int i;

	(void)state;
	driven_arm(driven, &site);
	kill(driven->pid, SIGSTOP);
	for (i = 0; i < 3;) {
		driven_turn(driven);
		for (i = 0; i < 3; i++) {
			struct thread *thread =
				tracees_thread(&driven->engine.core.tracees,
					       child_plan.arena->lanes[i].tid);

			if (thread->state != THREAD_LISTENING)
				break;
		}
	}
	driven_release(driven);
	/* on its way from the one kind of stop to the other it runs a moment */
	do
		assert_ok(procfs_status(driven->pid, &status));
	while (status.state == 'R');
	assert_int_equal(status.state, 'T');
	assert_int_equal(status.tracer, 0);
	kill(driven->pid, SIGCONT);
	driven_end(driven);
}

static void work_same_word(struct arena *arena, struct lane *lane)
{
	(void)lane;
	do_write(&arena->data[0], 1);
}

static void a_watch_that_has_fired_is_drained(void **state)
{
	const struct watch_ops *all[] = { &watch_by_registers, &watch_by_perf };

	(void)state;
	for (int n = 0; n < 2; n++) {
		struct wire_site site = site_at(site_write, 1);
		struct driven *driven;
		struct error *err;
		bool kernel;

		err = n == 0 ? selftest_registers() : selftest_perf(&kernel);
		if (err)
			tracee_skip(err);
		driven = start(all[n], work_same_word, work_same_word);
		driven_arm(driven, &site);
		lane_start(0, 1);
		driven_until(driven, driven->engine.stalls.list.count == 1);
		driven_prolong(driven);
		driven_until(driven,
			     driven->engine.core.tracees.watch.pending == 0);
		lane_start(1, 1);
		await_stop(child_plan.arena->lanes[1].tid);
		driven_release(driven);
		for (int i = 0; i < 2; i++)
			tracee_await(&child_plan.arena->lanes[i].done, 1);
		driven_end(driven);
	}
}

/* A module is forgotten, and so is its text, while somebody traps there. */
static void a_trap_outlives_what_is_known_of_its_location(void **state)
{
	(void)state;
	for (int known = 0; known < 2; known++) {
		struct wire_site site = site_at(site_write, 1);
		struct wire_range all = { .end = UINT64_MAX };
		struct driven *driven =
			start(&watch_by_value, work_write, work_write);
		struct addrspace *space =
			tracees_process(&driven->engine.core.tracees,
					driven->pid)
				->space;

		driven_arm(driven, &site);
		lane_start(0, 1);
		await_stop(child_plan.arena->lanes[0].tid);
		arm_forget(&driven->engine, &all);
		if (!known) {
			/* as of text that came back after it had gone */
			free(breakpoint_find(space, site.address));
			space->text->breakpoints.count = 0;
			map_remove(&space->text->index, site.address);
		}
		driven_until(driven, child_plan.arena->lanes[0].done == 1);
		driven_end(driven);
	}
}

/* Sleeps until the flag is raised; any other return is its result. */
static void work_sleep(struct arena *arena, struct lane *lane)
{
	if (syscall(SYS_futex, &arena->flag, FUTEX_WAIT, 0, NULL, NULL, 0) < 0)
		lane->result = (uint64_t)errno;
}

static void wake(void)
{
	tracee_tell(&child_plan.arena->flag, 1);
	syscall(SYS_futex, &child_plan.arena->flag, FUTEX_WAKE, LANES, NULL,
		NULL, 0);
}

static void await_state(pid_t tid, char state)
{
	struct thread_status status;

	do {
		sched_yield();
		assert_ok(procfs_status(tid, &status));
	} while (status.state != state);
}

/* The lane sleeps in its futex call. */
static struct thread *start_sleeping(struct driven *driven, int lane)
{
	pid_t tid = child_plan.arena->lanes[lane].tid;
	uint64_t args[PROCFS_ARGUMENTS];
	int number = -1;

	lane_start(lane, 1);
	while (!procfs_system_call(tid, &number, args) || number != SYS_futex)
		sched_yield();
	return tracees_thread(&driven->engine.core.tracees, tid);
}

/* As when attached: our exit is to detach what sleeps. */
static void release_by_exit(struct driven *driven)
{
	driven->engine.child = false;
	engine_release(&driven->engine);
	/* past the grace, and never at the end of the patience */
	driven->engine.release_ns = clock_now_ns() + 3600 * CLOCK_NS_PER_S;
	while (driven->engine.core.phase == PHASE_RELEASING) {
		release_tick(&driven->engine,
			     driven->engine.release_ns + 100 * CLOCK_NS_PER_MS);
		driven_turn(driven);
	}
	driven_listen(driven);
	assert_int_equal(driven->engine.core.phase, PHASE_RELEASED);
	assert_true(driven->detached);
	assert_pristine(&driven->memory);
}

/* The test does not exit: what was left is let go by stops after all. */
static void end_by_stops(struct driven *driven)
{
	struct process *process =
		tracees_process(&driven->engine.core.tracees, driven->pid);

	driven->engine.child = true;
	driven->engine.core.phase = PHASE_WATCHING;
	for (size_t i = 0; i < process->threads.count; i++)
		engine_take_back(&driven->engine, process_thread(process, i));
	driven_end(driven);
}

static void a_sleeper_is_left_as_it_is(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_sleep);
	struct wire_site site = site_at(site_write, 1);
	struct thread *thread = start_sleeping(driven, 1);

	(void)state;
	driven_arm(driven, &site);
	release_by_exit(driven);
	/* the other two ran, and were stopped */
	assert_int_equal(driven->engine.core.tracees.threads.count, 1);
	assert_int_equal(driven->engine.left, 1);
	assert_true(thread->left);
	assert_false(thread->interrupting);
	wake();
	tracee_await(&child_plan.arena->lanes[1].done, 1);
	assert_int_equal(child_plan.arena->lanes[1].result, 0);
	end_by_stops(driven);
}

/*
 * A futex wait has read a watched word: that trap comes when it returns,
 * event or none, and would kill a thread that nobody traces.
 */
static void a_sleeper_with_a_pending_trap_is_stopped(void **state)
{
	struct perfwatch_spec spec = { .length = 4, .kernel = true };
	struct driven *driven;
	struct thread *thread;
	struct error *err;

	(void)state;
	tracee_needs_registers();
	driven = start(&watch_by_perf, work_write, work_sleep);
	thread = tracees_thread(&driven->engine.core.tracees,
				child_plan.arena->lanes[1].tid);
	spec.address = (uintptr_t)&child_plan.arena->flag;
	spec.cookie = UINT64_C(0x7261636500000001);
	err = perfwatch_open(thread->tid, &spec, &thread->watch.fds[0]);
	if (err)
		tracee_skip(err);
	start_sleeping(driven, 1);
	release_by_exit(driven);
	assert_int_equal(driven->engine.left, 0);
	wake();
	driven_end(driven);
}

static void work_vfork(struct arena *arena, struct lane *lane)
{
	pid_t child = vfork();

	(void)lane;
	if (child == 0) {
		__atomic_add_fetch(&arena->ready, 1, __ATOMIC_RELEASE);
		while (!__atomic_load_n(&arena->flag, __ATOMIC_ACQUIRE))
			syscall(SYS_futex, &arena->flag, FUTEX_WAIT, 0, NULL,
				NULL, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* It can be stopped only when the child execs or ends, which may be never. */
static void a_vfork_does_not_keep_us(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_vfork);
	pid_t tid = child_plan.arena->lanes[1].tid;

	(void)state;
	lane_start(1, 1);
	/* the child may run before its creator's stop has been seen */
	driven_until(driven,
		     __atomic_load_n(&child_plan.arena->ready,
				     __ATOMIC_ACQUIRE) == 4 &&
			     tracees_thread(&driven->engine.core.tracees, tid)
				     ->vforking);
	await_state(tid, 'D');
	/* and the child sleeps: stopped, it would be let go unseen */
	await_state(tracees_process_at(&driven->engine.core.tracees, 1)->pid,
		    'S');
	release_by_exit(driven);
	assert_true(tracees_thread(&driven->engine.core.tracees, tid)->left);
	wake();
	/* its end is told some time after it has given back the memory */
	driven_until(driven, driven->engine.core.tracees.processes.count == 1);
	end_by_stops(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_leader_that_has_ended_does_not_keep_us),
		cmocka_unit_test(a_leader_that_ends_meanwhile_does_not_keep_us),
		cmocka_unit_test(a_thread_that_ends_is_not_the_process),
		cmocka_unit_test(exec_while_letting_go),
		cmocka_unit_test(a_stopped_process_stays_stopped),
		cmocka_unit_test(a_watch_that_has_fired_is_drained),
		cmocka_unit_test(a_trap_outlives_what_is_known_of_its_location),
		cmocka_unit_test(a_sleeper_is_left_as_it_is),
		cmocka_unit_test(a_sleeper_with_a_pending_trap_is_stopped),
		cmocka_unit_test(a_vfork_does_not_keep_us),
	};

	tracee_lock_registers();
	return cmocka_run_group_tests_name("release", tests, NULL, NULL);
}

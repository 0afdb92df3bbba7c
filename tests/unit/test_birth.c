/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Children with a copy of the memory and in the memory itself, new threads,
 * and exec, with breakpoints in the text all along.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "driven.h"

#include <spawn.h>

#include "guardian/guardian.h"
#include "guardian/guardtable.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "sys/wait.h"

extern char **environ;

static void reap(struct lane *lane, pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, __WALL);
	lane->result = WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status)
					 : 1000 + (uint64_t)status;
}

/* The child runs through the text that has breakpoints in its parent. */
static void work_fork(struct arena *arena, struct lane *lane)
{
	pid_t pid = fork();

	if (pid == 0) {
		do_write(&arena->data[4], 1);
		do_far(&arena->data[5], 2);
		_exit(7);
	}
	reap(lane, pid);
}

static void work_vfork(struct arena *arena, struct lane *lane)
{
	pid_t pid = vfork();

	if (pid == 0) {
		do_write(&arena->data[4], 1);
		do_far(&arena->data[5], 2);
		_exit(7);
	}
	reap(lane, pid);
}

static void work_spawn(struct arena *arena, struct lane *lane)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)"exit 7",
			       NULL };
	pid_t pid;

	(void)arena;
	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) == 0)
		reap(lane, pid);
}

static void *born(void *arg)
{
	struct arena *arena = arg;

	do_write(&arena->data[4], 1);
	do_far(&arena->data[5], 2);
	return NULL;
}

static void work_thread(struct arena *arena, struct lane *lane)
{
	pthread_t thread;

	pthread_create(&thread, NULL, born, arena);
	pthread_join(thread, NULL);
	lane->result = 7;
}

static void work_exec(struct arena *arena, struct lane *lane)
{
	(void)arena;
	(void)lane;
	execl("/bin/sh", "sh", "-c", "exit 42", (char *)NULL);
}

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[0], lane->done);
}

static struct driven *start(lane_work *work)
{
	struct wire_site sites[] = { site_at(site_write, 1),
				     site_at(site_far, 2) };
	lane_work *const all[] = { work, work_write };
	struct driven *driven;

	driven_plan(all, 2);
	driven = driven_start(&watch_by_value);
	/* nobody is stalled: only births matter here */
	driven->engine.pool.params.rate = 0;
	for (int i = 0; i < 2; i++)
		driven_arm(driven, &sites[i]);
	return driven;
}

static size_t armed(const struct driven *driven)
{
	return tracees_process(&driven->engine.core.tracees, driven->pid)
		->space->text->armed;
}

static void check_child(lane_work *work, size_t left_armed, int hits)
{
	struct driven *driven = start(work);
	const struct arena *arena = child_plan.arena;

	for (uint32_t i = 1; i <= 3; i++) {
		lane_start(0, 1);
		driven_until(driven, lane_idle(0));
		assert_int_equal(arena->lanes[0].result, 7);
		assert_int_equal(armed(driven), left_armed);
		assert_int_equal(driven->engine.core.stats.hits, hits);
		if (work != work_spawn) {
			assert_int_equal(arena->data[4], 1);
			assert_int_equal(arena->data[5], 2);
		}
	}
	driven_until(driven, driven->engine.core.tracees.threads.count == 2);
	assert_int_equal(driven->engine.core.tracees.processes.count, 1);
	assert_int_equal(driven->engine.orphans.stops.count, 0);
	assert_int_equal(driven->note_count, 0);
	driven_end(driven);
}

static void a_forked_child_never_sees_a_breakpoint(void **state)
{
	(void)state;
	check_child(work_fork, 2, 0);
}

/* The child has a copy of what is lifted between its birth and its first stop. */
static void what_is_lifted_during_the_fork_is_cleaned(void **state)
{
	struct driven *driven = start(work_fork);
	struct breakpoint *breakpoint = breakpoint_find(
		tracees_process(&driven->engine.core.tracees, driven->pid)
			->space,
		(uintptr_t)site_far);
	struct stop_reason stop;

	(void)state;
	for (int i = 0; i < 3; i++) {
		lane_start(0, 1);
		do {
			stop = tracee_wait(driven->pid);
			if (stop.kind != STOP_FORK)
				engine_event(&driven->engine, &stop);
		} while (stop.kind != STOP_FORK);
		assert_true(breakpoint->armed);
		assert_ok(breakpoint_lift(
			tracees_process(&driven->engine.core.tracees,
					driven->pid)
				->space,
			0, breakpoint));
		engine_event(&driven->engine, &stop);
		driven_until(driven, lane_idle(0));
		assert_int_equal(child_plan.arena->lanes[0].result, 7);
		/* the next is an attachment that has a past */
		assert_ok(breakpoint_rearm(
			tracees_process(&driven->engine.core.tracees,
					driven->pid)
				->space,
			breakpoint));
	}
	driven_end(driven);
}

static void a_vfork_child_lifts_what_it_meets(void **state)
{
	(void)state;
	check_child(work_vfork, 0, 2);
}

static void a_spawned_child_runs_as_ever(void **state)
{
	(void)state;
	check_child(work_spawn, 2, 0);
}

static void a_new_thread_is_watched_from_its_first_instruction(void **state)
{
	(void)state;
	check_child(work_thread, 0, 2);
}

static void threads_have_the_path_of_their_births(void **state)
{
	struct driven *driven = start(work_thread);
	struct wire_site site = site_at(site_write, 9);
	struct breakpoint *breakpoint = breakpoint_find(
		tracees_process(&driven->engine.core.tracees, driven->pid)
			->space,
		site.address);

	(void)state;
	driven->engine.pool.params.rate = 1000;
	for (uint32_t i = 0; i < 2; i++) {
		const struct vec *stalls = &driven->engine.stalls.list;
		struct stall *stall;

		if (i > 0)
			driven_arm(driven, &site);
		assert_true(breakpoint->armed);
		lane_start(0, 1);
		driven_until(driven, stalls->count == 1);
		stall = *(struct stall **)vec_at(stalls, 0);
		assert_int_equal(stall->hold.thread->path_length, 1);
		assert_int_equal(stall->hold.thread->path[0], i);
		stall->deadline_ns = 0;
		driven_until(driven, lane_idle(0));
	}
	driven_end(driven);
}

/* The other lane is stalled when the program is replaced under it. */
static void exec(int lane)
{
	lane_work *const all[] = { lane ? work_write : work_exec,
				   lane ? work_exec : work_write };
	struct wire_site site = site_at(site_write, 1);
	struct driven *driven;

	driven_plan(all, 2);
	driven = driven_start(&watch_by_registers);
	driven_arm(driven, &site);
	lane_start(1 - lane, 1);
	driven_until(driven, driven->engine.stalls.list.count == 1);
	lane_start(lane, 1);
	/* one event at a time: the program may have ended at the next */
	while (!driven->execed) {
		driven_event(driven);
		driven_listen(driven);
	}
	assert_int_equal(driven->engine.core.tracees.threads.count, 1);
	assert_int_equal(driven->engine.stalls.list.count, 0);
	assert_int_equal(driven->samples[0].outcome, WIRE_ABANDONED);
	assert_int_equal(armed(driven), 0);
	assert_non_null(
		tracees_thread(&driven->engine.core.tracees, driven->pid));
	driven_until(driven, driven->exited);
	assert_int_equal(WEXITSTATUS(driven->exit.status), 42);
	assert_true(WIFEXITED(driven->exit.status));
	driven_free(driven);
}

static void exec_by_the_first_thread_starts_anew(void **state)
{
	(void)state;
	exec(0);
}

static void exec_by_another_thread_starts_anew(void **state)
{
	(void)state;
	exec(1);
}

/* As many address spaces are guarded as can be, this one among them. */
static void fill_guard(struct driven *driven, struct guardian *guardian)
{
	struct error *err;
	uint32_t space;

	*guardian = (struct guardian){ .free_list = VEC_INIT(uint32_t) };
	assert_ok(guardtable_create(&guardian->table));
	driven->engine.core.tracees.guardian = guardian;
	assert_ok(addrspace_protect(
		tracees_process(&driven->engine.core.tracees, driven->pid)
			->space,
		guardian));
	do {
		err = guardian_add_space(guardian, 1000, getpid(), &space);
	} while (!err);
	error_free(err);
}

static void empty_guard(struct guardian *guardian)
{
	guardtable_destroy(guardian->table);
	vec_deinit(&guardian->free_list);
}

/* The place of the memory that it replaces is free. */
static void exec_takes_no_more_room(void **state)
{
	lane_work *const all[] = { work_exec };
	struct guardian guardian;
	struct driven *driven;

	(void)state;
	driven_plan(all, 1);
	driven = driven_start(&watch_by_value);
	fill_guard(driven, &guardian);
	lane_start(0, 1);
	while (!driven->execed) {
		driven_event(driven);
		driven_listen(driven);
	}
	assert_int_equal(driven->note_count, 0);
	assert_int_equal(driven->engine.core.phase, PHASE_WATCHING);
	assert_true(tracees_process(&driven->engine.core.tracees, driven->pid)
			    ->space->is_protected);
	driven_until(driven, driven->exited);
	assert_int_equal(WEXITSTATUS(driven->exit.status), 42);
	driven_free(driven);
	empty_guard(&guardian);
}

/* A child that there is no room for is let go, and the rest is watched on. */
static void a_child_without_room_is_let_go(void **state)
{
	static lane_work *const works[] = { work_fork, work_spawn };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		lane_work *const all[] = { works[i] };
		struct guardian guardian;
		struct driven *driven;

		driven_plan(all, 1);
		driven = driven_start(&watch_by_value);
		driven->engine.follow = WIRE_FOLLOW_ALL;
		fill_guard(driven, &guardian);
		lane_start(0, 1);
		driven_until(driven, lane_idle(0));
		assert_int_equal(child_plan.arena->lanes[0].result, 7);
		assert_int_equal(driven->note_count, 1);
		assert_int_equal(driven->engine.core.phase, PHASE_WATCHING);
		assert_int_equal(
			tracees_watched_count(&driven->engine.core.tracees), 1);
		driven_end(driven);
		empty_guard(&guardian);
	}
}

/* A child of ours that is traced and waits, which the engine knows nothing of. */
static pid_t unknown_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		while (1)
			pause();
	}
	assert_true(child > 0);
	assert_null(trace_seize(child, false));
	return child;
}

/* It stops when all the others have been let go. */
static void stops_after_the_release(struct driven *driven, pid_t child,
				    enum stop_kind wanted)
{
	struct stop_reason stop;

	assert_null(wait_thread_stop(child, &stop));
	assert_int_equal(stop.kind, wanted);
	driven->engine.core.phase = PHASE_RELEASED;
	engine_event(&driven->engine, &stop);
	driven->engine.core.phase = PHASE_WATCHING;
	assert_int_equal(driven->engine.orphans.stops.count, 0);
}

/* Its announcement could not be read. */
static void a_newborn_nobody_knows_is_let_go_after_the_release(void **state)
{
	struct driven *driven = start(work_fork);
	struct thread_status status;
	pid_t child = unknown_child();

	(void)state;
	assert_null(trace_interrupt(child));
	stops_after_the_release(driven, child, STOP_INTERRUPTED);
	assert_null(procfs_status(child, &status));
	assert_int_equal(status.tracer, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	driven_end(driven);
}

/* Where it could not be detached before, it has run on to a signal. */
static void a_newborn_nobody_knows_is_let_go_with_its_signal(void **state)
{
	struct driven *driven = start(work_fork);
	pid_t child = unknown_child();
	int status = -1;

	(void)state;
	kill(child, SIGUSR1);
	stops_after_the_release(driven, child, STOP_SIGNAL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGUSR1);
	driven_end(driven);
}

/*
 * The event of the fork is never seen, since the process is killed first;
 * the child is nevertheless cleaned and let go.
 */
static void the_child_of_a_killed_parent_goes_on(void **state)
{
	struct driven *driven = start(work_fork);
	const uint64_t *data = child_plan.arena->data;
	struct stop_reason stop;
	unsigned long child;

	(void)state;
	lane_start(0, 1);
	stop = tracee_wait(driven->pid);
	assert_int_equal(stop.kind, STOP_FORK);
	assert_ok(trace_event_message(driven->pid, &child));
	assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){ 0 },
				WSTOPPED | WNOWAIT | __WALL),
			 0);
	kill(driven->pid, SIGKILL);
	driven_until(driven, driven->exited);
	assert_int_equal(WTERMSIG(driven->exit.status), SIGKILL);
	driven_until(driven, __atomic_load_n(&data[5], __ATOMIC_ACQUIRE) == 2);
	driven_free(driven);
}

/* A vfork child outlives its parent, in text with breakpoints. */
static void work_vfork_slowly(struct arena *arena, struct lane *lane)
{
	pid_t pid = vfork();

	if (pid == 0) {
		tracee_tell(&arena->flag, 1);
		tracee_await(&arena->flag, 2);
		do_write(&arena->data[4], 1);
		do_far(&arena->data[5], 2);
		_exit(7);
	}
	reap(lane, pid);
}

static void a_vfork_child_outlives_its_parent(void **state)
{
	struct driven *driven = start(work_vfork_slowly);
	const uint64_t *data = child_plan.arena->data;

	(void)state;
	lane_start(0, 1);
	driven_until(driven, child_plan.arena->flag == 1);
	kill(driven->pid, SIGKILL);
	driven_until(driven, driven->engine.core.phase >= PHASE_RELEASED);
	assert_true(driven->exited);
	assert_false(driven->detached);
	assert_int_equal(driven->engine.core.tracees.threads.count, 0);
	tracee_tell(&child_plan.arena->flag, 2);
	while (__atomic_load_n(&data[5], __ATOMIC_ACQUIRE) != 2)
		sched_yield();
	driven_free(driven);
}

static void ignore_traps(void)
{
	signal(SIGTRAP, SIG_IGN);
}

/*
 * The process ends at once, and its child lives on. A breakpoint that it meets
 * has reset SIGTRAP just before.
 */

static void work_leave_child(struct arena *arena, struct lane *lane)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	(void)lane;
	do_write(&arena->data[4], 1);
	if (fork() != 0)
		_exit(42);
	/* nobody's child any more: it ends though the test failed */
	alarm(TRACEE_TEST_SECONDS);
	sigaction(SIGTRAP, NULL, &action);
	do_far(&arena->data[5], 1 + (action.sa_handler == SIG_IGN));
	tracee_await(&arena->flag, 1);
	_exit(7);
}

/* Handles what the first process does until it has a stop of that kind. */
static void until_stop(struct driven *driven, enum stop_kind wanted)
{
	struct stop_reason stop;

	do {
		stop = tracee_wait(driven->pid);
		if (stop.kind == wanted)
			break;
		engine_event(&driven->engine, &stop);
	} while (true);
	engine_event(&driven->engine, &stop);
}

static struct driven *start_leaving(enum wire_follow follow)
{
	lane_work *const all[] = { work_leave_child };
	struct wire_site site = site_at(site_write, 1);
	struct wire_site far = site_at(site_far, 2);
	struct driven *driven;

	driven_plan(all, 1);
	child_plan.prepare = ignore_traps;
	driven = driven_start(&watch_by_value);
	driven->engine.pool.params.rate = 0;
	driven->engine.follow = follow;
	driven_arm(driven, &site);
	driven_arm(driven, &far);
	lane_start(0, 1);
	return driven;
}

/* It is watched to its end, and the session lasts as long. */
static void watched_to_its_end(struct driven *driven)
{
	const uint64_t *data = child_plan.arena->data;

	driven_until(driven, __atomic_load_n(&data[5], __ATOMIC_ACQUIRE) != 0);
	assert_int_equal(data[5], 2);
	assert_int_equal(driven->engine.core.stats.hits, 2);
	assert_false(driven->exited);
	assert_int_equal(tracees_watched_count(&driven->engine.core.tracees),
			 1);
	assert_int_equal(driven->engine.core.tracees.processes.count, 1);
	tracee_tell(&child_plan.arena->flag, 1);
	driven_until(driven, driven->exited);
	assert_int_equal(driven->engine.core.phase, PHASE_DONE);
	assert_int_equal(driven->note_count, 0);
	driven_free(driven);
}

/* Its first stop is seen only when its parent has ended. */
static void a_child_outlives_a_parent_that_ends_at_once(void **state)
{
	struct driven *driven = start_leaving(WIRE_FOLLOW_FORK);

	(void)state;
	until_stop(driven, STOP_FORK);
	until_stop(driven, STOP_EXITED);
	driven_listen(driven);
	assert_false(driven->exited);
	watched_to_its_end(driven);
}

/* The same, of one that is killed before it can be asked for its child. */
static void the_child_of_a_killed_parent_is_followed(void **state)
{
	struct driven *driven = start_leaving(WIRE_FOLLOW_FORK);
	struct stop_reason stop;
	unsigned long child;

	(void)state;
	while ((stop = tracee_wait(driven->pid)).kind != STOP_FORK)
		engine_event(&driven->engine, &stop);
	assert_ok(trace_event_message(driven->pid, &child));
	assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){ 0 },
				WSTOPPED | WNOWAIT | __WALL),
			 0);
	kill(driven->pid, SIGKILL);
	/* the child's stop first */
	stop = tracee_wait((pid_t)child);
	engine_event(&driven->engine, &stop);
	assert_int_equal(driven->engine.orphans.stops.count, 1);
	watched_to_its_end(driven);
}

/* A child that is killed before its first stop keeps nobody waiting. */
static void a_child_that_never_stops_is_not_waited_for(void **state)
{
	struct driven *driven = start_leaving(WIRE_FOLLOW_FORK);
	unsigned long child;
	struct stop_reason stop;

	(void)state;
	while ((stop = tracee_wait(driven->pid)).kind != STOP_FORK)
		engine_event(&driven->engine, &stop);
	assert_ok(trace_event_message(driven->pid, &child));
	engine_event(&driven->engine, &stop);
	until_stop(driven, STOP_EXITED);
	kill((pid_t)child, SIGKILL);
	stop = (struct stop_reason){ .kind = STOP_INTERRUPTED };
	while (stop.kind != STOP_KILLED)
		stop = tracee_wait((pid_t)child);
	engine_event(&driven->engine, &stop);
	driven_listen(driven);
	assert_true(driven->exited);
	assert_int_equal(driven->engine.core.phase, PHASE_DONE);
	driven_free(driven);
}

/* A vfork child meets a breakpoint, and executes a program that needs SIG_IGN. */
static void execute_trapped(void)
{
	execl("/bin/sh", "sh", "-c", "kill -TRAP $$; exit 7", (char *)NULL);
	_exit(9);
}

static void work_vfork_exec(struct arena *arena, struct lane *lane)
{
	pid_t pid = vfork();

	if (pid == 0) {
		do_write(&arena->data[4], 1);
		do_far(&arena->data[5], 2);
		execute_trapped();
	}
	reap(lane, pid);
}

/* As posix_spawn(3) with POSIX_SPAWN_SETSIGDEF does. */
static void work_vfork_default(struct arena *arena, struct lane *lane)
{
	const struct sigaction action = { .sa_handler = SIG_DFL };
	pid_t pid = vfork();

	if (pid == 0) {
		sigaction(SIGTRAP, &action, NULL);
		do_write(&arena->data[4], 1);
		execute_trapped();
	}
	reap(lane, pid);
}

static void vfork_exec(lane_work *work, int follow, uint64_t result)
{
	lane_work *const all[] = { work };
	struct wire_site sites[] = { site_at(site_write, 1),
				     site_at(site_far, 2) };
	struct driven *driven;

	driven_plan(all, 1);
	child_plan.prepare = ignore_traps;
	driven = driven_start(&watch_by_value);
	driven->engine.pool.params.rate = 0;
	driven->engine.follow = (enum wire_follow)follow;
	for (int i = 0; i < 2; i++)
		driven_arm(driven, &sites[i]);
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_true(driven->engine.core.stats.hits > 0);
	assert_int_equal(child_plan.arena->lanes[0].result, result);
	assert_int_equal(driven->note_count, 0);
	driven_end(driven);
}

static void a_vfork_child_passes_an_ignored_trap_on(void **state)
{
	(void)state;
	vfork_exec(work_vfork_exec, WIRE_FOLLOW_NONE, 7);
	vfork_exec(work_vfork_exec, WIRE_FOLLOW_ALL, 7);
}

static void a_vfork_child_may_reset_it_itself(void **state)
{
	(void)state;
	vfork_exec(work_vfork_default, WIRE_FOLLOW_NONE, 1000 + SIGTRAP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_forked_child_never_sees_a_breakpoint),
		cmocka_unit_test(what_is_lifted_during_the_fork_is_cleaned),
		cmocka_unit_test(a_vfork_child_lifts_what_it_meets),
		cmocka_unit_test(a_spawned_child_runs_as_ever),
		cmocka_unit_test(
			a_new_thread_is_watched_from_its_first_instruction),
		cmocka_unit_test(threads_have_the_path_of_their_births),
		cmocka_unit_test(exec_by_the_first_thread_starts_anew),
		cmocka_unit_test(exec_by_another_thread_starts_anew),
		cmocka_unit_test(exec_takes_no_more_room),
		cmocka_unit_test(a_child_without_room_is_let_go),
		cmocka_unit_test(the_child_of_a_killed_parent_goes_on),
		cmocka_unit_test(
			a_newborn_nobody_knows_is_let_go_after_the_release),
		cmocka_unit_test(
			a_newborn_nobody_knows_is_let_go_with_its_signal),
		cmocka_unit_test(a_vfork_child_outlives_its_parent),
		cmocka_unit_test(a_child_outlives_a_parent_that_ends_at_once),
		cmocka_unit_test(the_child_of_a_killed_parent_is_followed),
		cmocka_unit_test(a_child_that_never_stops_is_not_waited_for),
		cmocka_unit_test(a_vfork_child_passes_an_ignored_trap_on),
		cmocka_unit_test(a_vfork_child_may_reset_it_itself),
	};

	tracee_lock_registers();
	return cmocka_run_group_tests_name("birth", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Children with copies of breakpoints, of a process that has made itself not
 * dumpable, or while the tracer has no files left. The test runs as a user
 * without capabilities.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "driven.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/resource.h>

#include "guardian/guardian.h"
#include "guardian/heartbeat.h"
#include "tracee/code.h"
#include "tracee/copy.h"

enum { NOBODY = 65534, CHILDREN = 3, MEASURED = 7 };

/* The children of lane 0 run what has breakpoints in their parent. */
static void work_fork(struct arena *arena, struct lane *lane)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		do_write(&arena->data[4], 1);
		do_far(&arena->data[5], 2);
		_exit(MEASURED + prctl(PR_GET_DUMPABLE));
	}
	waitpid(pid, &status, 0);
	lane->result = WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status)
					 : 1000 + (uint64_t)status;
}

/* What a child that is unclean makes of one of its own: 0 as it should. */
static uint64_t reap_own(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) && WEXITSTATUS(status) == CHILDREN ? 0 : 2;
}

__attribute__((noinline)) static uint64_t child_forks(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(CHILDREN);
	return reap_own(pid);
}

__attribute__((noinline)) static uint64_t child_vforks(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(CHILDREN);
	return reap_own(pid);
}

/* Before it meets a breakpoint, the child has children by itself. */
static void work_births(struct arena *arena, struct lane *lane)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		uint64_t bad = child_forks() | child_vforks() << 2;

		do_write(&arena->data[4], 1);
		_exit((int)bad);
	}
	waitpid(pid, &status, 0);
	lane->result = WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status)
					 : 1000 + (uint64_t)status;
}

static void *born(void *arg)
{
	return arg;
}

/* When it is told, it has a thread; then it runs through what its parent has. */
static void child_with_thread(struct arena *arena)
{
	pthread_t thread;

	tracee_await(&arena->flag, 1);
	if (pthread_create(&thread, NULL, born, NULL) == 0)
		pthread_join(thread, NULL);
	do_write(&arena->data[4], 1);
	_exit(MEASURED);
}

/* The same with a child in its memory, which the test waits for. */
static void child_with_guest(struct arena *arena)
{
	pid_t pid;

	tracee_await(&arena->flag, 1);
	pid = vfork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	do_write(&arena->data[4], 1);
	_exit(MEASURED);
}

/* It may die of it, and leaves no core then. */
static void child_doomed(struct arena *arena)
{
	const struct rlimit none = { 0 };

	setrlimit(RLIMIT_CORE, &none);
	do_write(&arena->data[4], 1);
	_exit(MEASURED);
}

/* SIGTRAP is ignored, and blocked, before and after. */
static void ignore_traps(void)
{
	sigset_t trap;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	sigprocmask(SIG_BLOCK, &trap, NULL);
	signal(SIGTRAP, SIG_IGN);
}

static bool ignores_traps(void)
{
	struct sigaction action;
	sigset_t mask;

	return sigaction(SIGTRAP, NULL, &action) == 0 &&
	       action.sa_handler == SIG_IGN &&
	       sigprocmask(SIG_BLOCK, NULL, &mask) == 0 &&
	       sigismember(&mask, SIGTRAP);
}

static void *runner(void *arg)
{
	struct arena *arena = arg;

	tracee_tell(&arena->flag, 1);
	tracee_await(&arena->flag, 2);
	return NULL;
}

/* One thread runs on while the other meets a breakpoint. */
static void child_with_runner(struct arena *arena)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, runner, arena) != 0)
		_exit(1);
	tracee_await(&arena->flag, 1);
	do_write(&arena->data[4], 1);
	tracee_tell(&arena->flag, 2);
	pthread_join(thread, NULL);
	_exit(ignores_traps() ? MEASURED : MEASURED + 1);
}

static void child_waits(struct arena *arena)
{
	tracee_await(&arena->flag, 1);
	do_write(&arena->data[4], 1);
	_exit(MEASURED);
}

static void (*child_main)(struct arena *arena);

static void work_child(struct arena *arena, struct lane *lane)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		child_main(arena);
	waitpid(pid, &status, 0);
	lane->result = WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status)
					 : 1000 + (uint64_t)status;
}

/* A filter that kills whoever calls prctl(2). */
static bool confine(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {
		.len = sizeof(code) / sizeof(code[0]),
		.filter = code,
	};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

static void work_confined(struct arena *arena, struct lane *lane)
{
	int status = -1;
	pid_t pid = confine() ? fork() : -1;

	if (pid == 0) {
		do_write(&arena->data[4], 1);
		_exit(MEASURED);
	}
	waitpid(pid, &status, 0);
	lane->result = WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status)
					 : 1000 + (uint64_t)status;
}

static void work_close(struct arena *arena, struct lane *lane)
{
	(void)arena;
	lane->result = (uint64_t)prctl(PR_SET_DUMPABLE, 0);
}

static void (*prepare)(void);

static struct driven *start_with(lane_work *work)
{
	struct wire_site sites[] = { site_at(site_write, 1),
				     site_at(site_far, 2) };
	lane_work *const all[] = { work, work_close };
	struct driven *driven;

	driven_plan(all, 2);
	child_plan.prepare = prepare;
	driven = driven_start(&watch_by_value);
	/* nobody is stalled: only births matter here */
	driven->engine.pool.params.rate = 0;
	for (int i = 0; i < 2; i++)
		driven_arm(driven, &sites[i]);
	return driven;
}

static struct driven *start(void)
{
	return start_with(work_fork);
}

static const struct process *parent_of(const struct driven *driven)
{
	return tracees_process(&driven->engine.core.tracees, driven->pid);
}

static void fork_and_check(struct driven *driven, uint64_t result)
{
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->lanes[0].result, result);
	assert_int_equal(child_plan.arena->data[4], 1);
	assert_int_equal(child_plan.arena->data[5], 2);
}

static void become_closed(struct driven *driven)
{
	struct memory memory;

	lane_start(1, 1);
	driven_until(driven, lane_idle(1));
	assert_int_equal(child_plan.arena->lanes[1].result, 0);
	memory_init(&memory, driven->pid);
	assert_true(memory.fd < 0);
	memory_deinit(&memory);
}

/* Neither child nor parent is dumpable afterwards. */
static void a_child_that_is_not_dumpable_is_cleaned(void **state)
{
	static const enum wire_follow follows[] = { WIRE_FOLLOW_NONE,
						    WIRE_FOLLOW_ALL };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct driven *driven = start();
		struct engine *engine = &driven->engine;

		become_closed(driven);
		engine->follow = follows[i];
		for (int j = 0; j < CHILDREN; j++)
			fork_and_check(driven, MEASURED);
		driven_until(driven, engine->core.tracees.processes.count == 1);
		/* a child that is watched meets what is armed, and lifts it */
		assert_int_equal(engine->core.stats.hits,
				 engine->follow == WIRE_FOLLOW_ALL ? 2 : 0);
		assert_int_equal(parent_of(driven)->space->text->armed,
				 engine->follow == WIRE_FOLLOW_ALL ? 0 : 2);
		assert_int_equal(driven->note_count, 0);
		driven_end(driven);
	}
}

static void stop_guardian(const struct guardian *guardian)
{
	assert_int_equal(kill(guardian->pid, SIGSTOP), 0);
	/* kill(2) does not wait until it has stopped */
	assert_int_equal(waitpid(guardian->pid, NULL, WUNTRACED),
			 guardian->pid);
}

/* Only then the child is made what it was: here one does not come to it. */
static void a_guardian_opens_a_child_that_is_watched(void **state)
{
	static struct heartbeat none;
	struct driven *driven = start();
	struct guardian *guardian;

	(void)state;
	assert_ok(guardian_start(&none, &guardian));
	driven->engine.core.tracees.guardian = guardian;
	assert_ok(addrspace_protect(parent_of(driven)->space, guardian));
	driven->engine.follow = WIRE_FOLLOW_ALL;
	stop_guardian(guardian);
	fork_and_check(driven, MEASURED + 1);
	assert_int_equal(driven->note_count, 0);
	become_closed(driven);
	fork_and_check(driven, MEASURED);
	assert_int_equal(driven->note_count, 1);
	assert_int_equal(kill(guardian->pid, SIGCONT), 0);
	fork_and_check(driven, MEASURED);
	assert_int_equal(driven->note_count, 1);
	driven_end(driven);
	guardian_stop(guardian);
}

/* Breakpoints can be set in it as before. */
static void the_code_of_one_that_is_not_dumpable_is_known(void **state)
{
	const uint64_t code = (uintptr_t)site_write;
	struct driven *driven = start();
	struct addrspace *space = parent_of(driven)->space;

	(void)state;
	become_closed(driven);
	code_forget(space);
	assert_true(code_is_mapped(space, code, 1));
	assert_false(code_is_mapped(space, (uintptr_t)&child_main, 1));
	driven_end(driven);
}

/* No file can be opened; those that are open stay so. */
static void limit_files(rlim_t most)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = most ? limit.rlim_max : 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Turn until the child waits at the first breakpoint that it has met. */
static struct process *await_unclean(struct driven *driven)
{
	struct tracees *tracees = &driven->engine.core.tracees;
	struct process *child;

	driven_until(driven, tracees->processes.count == 2);
	child = tracees_process_at(tracees, 1);
	assert_int_equal(child->role, PROCESS_COPY);
	for (;;) {
		const struct thread *thread = process_thread(child, 0);
		struct x86_registers regs;

		driven_turn(driven);
		if (!child->unclean || thread->state != THREAD_STOPPED)
			continue;
		assert_ok(trace_registers(thread->tid, &regs));
		if (regs.rip == (uintptr_t)site_write)
			return child;
	}
}

/* It is not detached to die, and runs on when it can be cleaned. */
static void a_child_that_cannot_be_cleaned_waits(void **state)
{
	struct driven *driven = start();
	struct engine *engine = &driven->engine;

	(void)state;
	limit_files(0);
	lane_start(0, 1);
	await_unclean(driven);
	assert_false(lane_idle(0));
	assert_int_equal(driven->note_count, 1);
	for (int i = 0; i < CHILDREN; i++) {
		release_copies(engine);
		assert_int_equal(engine->core.tracees.processes.count, 2);
	}
	limit_files(1);
	release_copies(engine);
	assert_int_equal(engine->core.tracees.processes.count, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->lanes[0].result, MEASURED + 1);
	/* what is armed in its parent still is */
	assert_int_equal(parent_of(driven)->space->text->armed, 2);
	assert_int_equal(driven->note_count, 1);
	driven_end(driven);
}

/* Its own calls of fork(2) and vfork(2) are not disturbed. */
static void a_child_that_cannot_be_cleaned_has_children(void **state)
{
	struct driven *driven = start_with(work_births);
	struct engine *engine = &driven->engine;

	(void)state;
	limit_files(0);
	lane_start(0, 1);
	await_unclean(driven);
	limit_files(1);
	release_copies(engine);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->lanes[0].result, 0);
	assert_int_equal(child_plan.arena->data[4], 1);
	assert_int_equal(engine->core.tracees.processes.count, 1);
	driven_end(driven);
}

/*
 * An unclean child, followed if it could be, in the middle of its own call that
 * creates somebody: *ret_born. From then on there are files.
 */
static struct driven *until_birth(void (*main)(struct arena *arena),
				  enum stop_kind kind, pid_t *ret_child,
				  pid_t *ret_born)
{
	struct driven *driven;
	struct tracees *tracees;
	unsigned long born_tid;
	struct stop_reason stop;

	child_main = main;
	driven = start_with(work_child);
	tracees = &driven->engine.core.tracees;
	driven->engine.follow = WIRE_FOLLOW_ALL;
	limit_files(0);
	lane_start(0, 1);
	driven_until(driven, tracees->processes.count == 2 &&
				     tracees_process_at(tracees, 1)->unclean);
	*ret_child = tracees_process_at(tracees, 1)->pid;
	tracee_tell(&child_plan.arena->flag, 1);
	do {
		stop = tracee_wait(*ret_child);
		if (stop.kind == kind)
			assert_ok(trace_event_message(stop.tid, &born_tid));
		engine_event(&driven->engine, &stop);
	} while (stop.kind != kind);
	limit_files(1);
	*ret_born = (pid_t)born_tid;
	return driven;
}

/* Nothing is armed in the child, whose first thread is not traced any more. */
static void a_thread_of_a_child_is_no_child(void **state)
{
	pid_t child, born_tid;
	struct driven *driven =
		until_birth(child_with_thread, STOP_CLONE, &child, &born_tid);
	struct tracees *tracees = &driven->engine.core.tracees;
	struct stop_reason stop = tracee_wait(child);

	(void)state;
	engine_event(&driven->engine, &stop);
	assert_null(tracees_thread(tracees, child));
	stop = tracee_wait(born_tid);
	engine_event(&driven->engine, &stop);
	assert_int_equal(tracees->processes.count, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->lanes[0].result, MEASURED);
	driven_end(driven);
}

/* What is in the child's memory is not followed: nothing is armed there. */
static void a_guest_of_a_child_is_not_followed(void **state)
{
	pid_t child, born_tid;
	struct driven *driven =
		until_birth(child_with_guest, STOP_VFORK, &child, &born_tid);
	struct tracees *tracees = &driven->engine.core.tracees;
	struct stop_reason stop = tracee_wait(born_tid);

	(void)state;
	engine_event(&driven->engine, &stop);
	assert_int_equal(tracees_watched_count(tracees), 1);
	release_copies(&driven->engine);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->lanes[0].result, MEASURED);
	assert_int_equal(tracees->processes.count, 1);
	driven_end(driven);
}

/* It executes no calls but its own: it is cleaned when there are files again. */
static void a_child_with_a_filter_is_not_killed(void **state)
{
	struct driven *driven = start_with(work_confined);

	(void)state;
	limit_files(0);
	lane_start(0, 1);
	await_unclean(driven);
	limit_files(1);
	release_copies(&driven->engine);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->lanes[0].result, MEASURED);
	driven_end(driven);
}

/* Nor if that could open its memory: then it waits for its end. */
static void a_closed_child_with_a_filter_waits(void **state)
{
	struct driven *driven = start_with(work_confined);

	(void)state;
	become_closed(driven);
	lane_start(0, 1);
	kill(await_unclean(driven)->pid, SIGKILL);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->lanes[0].result, 1000 + SIGKILL);
	assert_int_equal(driven->note_count, 1);
	driven_end(driven);
}

/* The release, too, waits for it. */
static void a_release_cleans_what_could_not_be(void **state)
{
	struct driven *driven = start();

	(void)state;
	limit_files(0);
	lane_start(0, 1);
	await_unclean(driven);
	engine_release(&driven->engine);
	driven->engine.release_ns = clock_now_ns() + 3600 * CLOCK_NS_PER_S;
	for (int i = 0; i < CHILDREN; i++)
		driven_turn(driven);
	assert_false(lane_idle(0));
	limit_files(1);
	driven_until(driven, driven->engine.core.phase == PHASE_RELEASED);
	while (!lane_idle(0))
		sched_yield();
	assert_int_equal(child_plan.arena->lanes[0].result, MEASURED + 1);
	driven_end(driven);
}

/* Whichever thread it is cleaned by, each has what it had when it is let go. */
static void a_cleaned_child_has_what_traps_took(void **state)
{
	struct driven *driven;
	const struct thread *first;
	const struct process *child;

	(void)state;
	child_main = child_with_runner;
	prepare = ignore_traps;
	driven = start_with(work_child);
	prepare = NULL;
	first = tracees_thread(&driven->engine.core.tracees, driven->pid);
	driven_until(driven,
		     parent_of(driven)->trap_ignored && first->signals.known);
	limit_files(0);
	lane_start(0, 1);
	child = await_unclean(driven);
	driven_until(driven, child->threads.count == 2 &&
				     process_thread(child, 1)->state ==
					     THREAD_RUNNING &&
				     !process_thread(child, 1)->newborn);
	limit_files(1);
	release_copies(&driven->engine);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->lanes[0].result, MEASURED);
	assert_int_equal(driven->engine.core.tracees.processes.count, 1);
	driven_end(driven);
}

/* It is let go as soon as it can be, and stays stopped until it is continued. */
static void a_stopped_child_is_let_go(void **state)
{
	struct driven *driven;
	const struct tracees *tracees;
	const struct process *child;
	struct thread_status status;
	struct stop_reason stop;
	pid_t pid;

	(void)state;
	child_main = child_waits;
	driven = start_with(work_child);
	tracees = &driven->engine.core.tracees;
	limit_files(0);
	lane_start(0, 1);
	driven_until(driven, tracees->processes.count == 2 &&
				     tracees_process_at(tracees, 1)->unclean);
	child = tracees_process_at(tracees, 1);
	pid = child->pid;
	kill(pid, SIGSTOP);
	driven_until(driven,
		     process_thread(child, 0)->state == THREAD_LISTENING);
	limit_files(1);
	release_copies(&driven->engine);
	stop = tracee_wait(pid);
	engine_event(&driven->engine, &stop);
	assert_int_equal(tracees->processes.count, 1);
	do {
		assert_ok(procfs_status(pid, &status));
		assert_int_equal(status.tracer, 0);
	} while (status.state != 'T');
	tracee_tell(&child_plan.arena->flag, 1);
	kill(pid, SIGCONT);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->lanes[0].result, MEASURED);
	driven_end(driven);
}

/* The front end has left out text of which a child holds a copy. */
static void what_a_child_needs_is_not_forgotten(void **state)
{
	const struct wire_site site = site_at(site_write, 1);
	static const uint8_t other = 0x90;
	struct wire_range range;
	struct driven *driven;
	const struct addrspace *space;
	uint8_t own;

	(void)state;
	child_main = child_waits;
	driven = start_with(work_child);
	space = parent_of(driven)->space;
	range = (struct wire_range){
		.start = site.address,
		.end = site.address + 1,
		.program = space->text->program,
	};
	limit_files(0);
	lane_start(0, 1);
	driven_until(driven, driven->note_count == 1);
	/* as if something else were mapped there now */
	memcpy(&own, (const void *)(uintptr_t)site.address, 1);
	assert_ok(
		memory_write_text(&driven->memory, 0, site.address, &other, 1));
	arm_forget(&driven->engine, &range);
	assert_int_equal(space->text->armed, 1);
	tracee_tell(&child_plan.arena->flag, 1);
	await_unclean(driven);
	limit_files(1);
	release_copies(&driven->engine);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->lanes[0].result, MEASURED);
	/* now it is */
	arm_forget(&driven->engine, &range);
	assert_null(breakpoint_find(space, site.address));
	assert_ok(memory_write_text(&driven->memory, 0, site.address, &own, 1));
	driven_end(driven);
}

/* Not for ever: then what becomes of it is told. */
static void a_child_let_go_unclean_is_told_of(void **state)
{
	struct driven *driven;

	(void)state;
	child_main = child_doomed;
	driven = start_with(work_child);
	limit_files(0);
	lane_start(0, 1);
	await_unclean(driven);
	assert_int_equal(driven->note_count, 1);
	engine_release(&driven->engine);
	driven->engine.release_ns -= 3600 * CLOCK_NS_PER_S;
	driven_until(driven, driven->engine.core.phase == PHASE_RELEASED);
	driven_listen(driven);
	limit_files(1);
	assert_int_equal(driven->note_count, 2);
	while (!lane_idle(0))
		sched_yield();
	assert_int_equal(child_plan.arena->lanes[0].result, 1000 + SIGTRAP);
	driven_end(driven);
}

/* An orphan, of which there is no record. */
static void an_orphan_that_is_not_dumpable_is_cleaned(void **state)
{
	struct driven *driven = start();
	struct stop_reason stop;
	unsigned long child;

	(void)state;
	become_closed(driven);
	lane_start(0, 1);
	do {
		stop = tracee_wait(driven->pid);
		if (stop.kind != STOP_FORK)
			engine_event(&driven->engine, &stop);
	} while (stop.kind != STOP_FORK);
	assert_ok(trace_event_message(driven->pid, &child));
	stop = tracee_wait((pid_t)child);
	orphans_let_go(&driven->engine.orphans, parent_of(driven)->space,
		       &stop);
	assert_ok(trace_continue(driven->pid, 0));
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->lanes[0].result, MEASURED);
	assert_int_equal(driven->note_count, 0);
	driven_end(driven);
}

/* Root may do anything: what is tested are others. */
static int become_nobody(void **state)
{
	(void)state;
	if (geteuid() == 0 && (setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
			       setresuid(NOBODY, NOBODY, NOBODY) != 0))
		return -1;
	return prctl(PR_SET_DUMPABLE, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_that_is_not_dumpable_is_cleaned),
		cmocka_unit_test(a_guardian_opens_a_child_that_is_watched),
		cmocka_unit_test(the_code_of_one_that_is_not_dumpable_is_known),
		cmocka_unit_test(a_child_that_cannot_be_cleaned_waits),
		cmocka_unit_test(a_child_that_cannot_be_cleaned_has_children),
		cmocka_unit_test(a_thread_of_a_child_is_no_child),
		cmocka_unit_test(a_guest_of_a_child_is_not_followed),
		cmocka_unit_test(a_child_with_a_filter_is_not_killed),
		cmocka_unit_test(a_closed_child_with_a_filter_waits),
		cmocka_unit_test(a_release_cleans_what_could_not_be),
		cmocka_unit_test(a_cleaned_child_has_what_traps_took),
		cmocka_unit_test(a_stopped_child_is_let_go),
		cmocka_unit_test(what_a_child_needs_is_not_forgotten),
		cmocka_unit_test(a_child_let_go_unclean_is_told_of),
		cmocka_unit_test(an_orphan_that_is_not_dumpable_is_cleaned),
	};

	return cmocka_run_group_tests(tests, become_nobody, NULL);
}

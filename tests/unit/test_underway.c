/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was under way when a program was attached to: a vfork child that runs in
 * its text, a child by clone(2) in its memory, a thread that no scan showed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "driven.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/resource.h>

#include "tracer/forget.h"
#include "tracer/underway.h"

enum { RUNS = 1, ENDS = 2, RESULT = 7, STACK = 65536, SCANS = 20 };

static char stack[STACK] __attribute__((aligned(64)));

/* It is in the text of its parent from before the attach until it is told to end. */
static int child_main(void *arg)
{
	struct arena *arena = arg;

	tracee_tell(&arena->flag, RUNS);
	while (__atomic_load_n(&arena->flag, __ATOMIC_ACQUIRE) != ENDS)
		do_write(&arena->data[4], 1);
	do_far(&arena->data[5], 2);
	_exit(RESULT);
}

/* Has the first child, with a memory of its own, before the other? */
static bool has_elder;

static pid_t begin_elder(struct arena *arena)
{
	pid_t pid = has_elder ? fork() : 0;

	if (pid == 0 && has_elder) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		tracee_await(&arena->flag, ENDS);
		_exit(RESULT);
	}
	arena->lanes[2].tid = pid;
	return pid;
}

static void *waiting_main(void *arg)
{
	struct arena *arena = child_plan.arena;
	const int *flags = arg;
	int status = -1;
	pid_t elder = begin_elder(arena);
	pid_t pid = clone(child_main, stack + STACK, *flags, arena);

	waitpid(pid, &status, __WALL);
	if (elder != 0)
		waitpid(elder, NULL, 0);
	arena->lanes[3].result = WIFEXITED(status)
					 ? (uint64_t)WEXITSTATUS(status)
					 : 1000 + (uint64_t)status;
	return NULL;
}

static int clone_flags;

static void begin_child(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, waiting_main, &clone_flags);
	tracee_await(&child_plan.arena->flag, RUNS);
}

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[0], lane->done);
}

static struct driven *start(int flags)
{
	lane_work *const all[] = { work_write, work_write };
	struct driven *driven;

	driven_plan(all, 2);
	clone_flags = flags;
	child_plan.prepare = flags ? begin_child : NULL;
	driven = driven_start(&watch_by_value);
	underway_begin(&driven->engine, clock_now_ns());
	return driven;
}

static void settle(struct driven *driven)
{
	while (!underway_is_over(&driven->engine.underway)) {
		underway_tick(&driven->engine, clock_now_ns());
		driven_turn(driven);
	}
}

/* Nothing is armed before it is known, and it lifts what it meets. */
static void check_child(int flags)
{
	struct driven *driven = start(flags);
	struct tracees *tracees = &driven->engine.core.tracees;
	struct wire_site sites[] = { site_at(site_write, 1),
				     site_at(site_far, 2) };

	arm_queue(&driven->engine, sites, 2);
	driven_turn(driven);
	assert_int_equal(driven->engine.core.stats.arms, 0);
	settle(driven);
	assert_int_equal(tracees->processes.count, 2);
	assert_int_equal(tracees_process_at(tracees, 1)->role, PROCESS_GUEST);
	driven_until(driven, driven->engine.core.stats.arms == 2 &&
				     driven->engine.core.stats.hits == 1);
	tracee_tell(&child_plan.arena->flag, ENDS);
	driven_until(driven, tracees->processes.count == 1);
	while (!__atomic_load_n(&child_plan.arena->lanes[3].result,
				__ATOMIC_ACQUIRE))
		driven_turn(driven);
	assert_int_equal(child_plan.arena->lanes[3].result, RESULT);
	assert_int_equal(driven->engine.core.stats.hits, 2);
	assert_int_equal(driven->note_count, 0);
	driven_end(driven);
}

static void a_vfork_child_of_before_is_found(void **state)
{
	(void)state;
	check_child(CLONE_VM | CLONE_VFORK | SIGCHLD);
}

static void a_child_in_the_memory_is_found(void **state)
{
	(void)state;
	check_child(CLONE_VM | SIGCHLD);
}

/* The test, and what it makes from now on, may not compare processes. */
static void refuse_kcmp(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kcmp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {
		.len = sizeof(code) / sizeof(code[0]),
		.filter = code,
	};

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter), 0);
}

/* Where the kernel does not tell, the child that is waited for is taken alone. */
static void other_children_are_left_alone(void **state)
{
	struct thread_status status;
	const struct arena *arena;
	struct driven *driven;

	(void)state;
	refuse_kcmp();
	has_elder = true;
	driven = start(CLONE_VM | CLONE_VFORK | SIGCHLD);
	arena = child_plan.arena;
	settle(driven);
	assert_int_equal(driven->engine.core.tracees.processes.count, 2);
	assert_int_not_equal(arena->lanes[2].tid, 0);
	assert_ok(procfs_status(arena->lanes[2].tid, &status));
	assert_int_equal(status.tracer, 0);
	tracee_tell(&child_plan.arena->flag, ENDS);
	driven_until(driven, driven->engine.core.tracees.processes.count == 1);
	has_elder = false;
	driven_end(driven);
}

/* One file can be opened, beside those that are. Or all again. */
static void limit_files(bool few)
{
	struct rlimit limit;
	int next = dup(0);

	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = few ? (rlim_t)next + 1 : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/*
 * The list of children is read, and not what they are: nothing is set before that
 * is known, and the user is told, once, when it takes long.
 */
static void what_cannot_be_read_is_not_over(void **state)
{
	struct driven *driven = start(CLONE_VM | SIGCHLD);
	struct engine *engine = &driven->engine;
	struct underway *underway = &engine->underway;
	uint64_t late = underway->begun_ns + 3600 * CLOCK_NS_PER_S;

	(void)state;
	limit_files(true);
	for (int i = 0; i < SCANS; i++) {
		underway_tick(engine, underway->due_ns);
		driven_turn(driven);
	}
	assert_false(underway_is_over(underway));
	assert_int_equal(engine->core.phase, PHASE_WATCHING);
	assert_int_equal(driven->note_count, 0);
	for (int i = 0; i < 2; i++) {
		underway_tick(engine, late);
		driven_listen(driven);
		assert_int_equal(driven->note_count, 1);
		assert_in_range(underway->due_ns - late, CLOCK_NS_PER_S / 100,
				CLOCK_NS_PER_S);
		late = underway->due_ns;
	}
	limit_files(false);
	underway->begun_ns = clock_now_ns();
	underway->due_ns = underway->begun_ns;
	settle(driven);
	assert_int_equal(engine->core.tracees.processes.count, 2);
	tracee_tell(&child_plan.arena->flag, ENDS);
	driven_until(driven, engine->core.tracees.processes.count == 1);
	driven_end(driven);
}

/* As if it had been created by a thread that was in the middle of clone(2). */
static void a_thread_that_was_not_seen_is_found(void **state)
{
	struct driven *driven = start(0);
	const struct arena *arena = child_plan.arena;
	struct tracees *tracees = &driven->engine.core.tracees;
	struct thread *thread = tracees_thread(tracees, arena->lanes[1].tid);
	struct wire_site site = site_at(site_write, 1);
	struct stop_reason stop;

	(void)state;
	assert_ok(trace_interrupt(thread->tid));
	stop = tracee_wait(thread->tid);
	assert_ok(trace_detach(stop.tid, 0));
	thread->state = THREAD_GONE;
	forget_thread(&driven->engine, thread);
	assert_int_equal(tracees->threads.count, 1);
	settle(driven);
	assert_int_equal(tracees->threads.count, 2);
	driven->engine.pool.params.rate = 0;
	driven_arm(driven, &site);
	lane_start(1, 1);
	driven_until(driven, lane_idle(1));
	assert_int_equal(driven->engine.core.stats.hits, 1);
	driven_end(driven);
}

/* All that run are seen outside of a call; then scans go on, but not for ever. */
static void it_ends(void **state)
{
	struct driven *driven = start(0);
	struct underway *underway = &driven->engine.underway;

	(void)state;
	settle(driven);
	for (int i = 0; i < 2; i++) {
		const struct thread *thread =
			tracees_thread(&driven->engine.core.tracees,
				       child_plan.arena->lanes[i].tid);

		assert_true(thread->births_known);
		assert_int_not_equal(thread->unforked_ns, 0);
	}
	assert_int_not_equal(underway_next_ns(underway), UINT64_MAX);
	underway_tick(&driven->engine, underway->due_ns);
	assert_true(underway_is_over(underway));
	underway_tick(&driven->engine, underway->begun_ns + CLOCK_NS_PER_S);
	assert_int_equal(underway_next_ns(underway), UINT64_MAX);
	driven_end(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vfork_child_of_before_is_found),
		cmocka_unit_test(a_child_in_the_memory_is_found),
		cmocka_unit_test(a_thread_that_was_not_seen_is_found),
		cmocka_unit_test(it_ends),
		cmocka_unit_test(what_cannot_be_read_is_not_over),
		/* the last: what is refused then stays so */
		cmocka_unit_test(other_children_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

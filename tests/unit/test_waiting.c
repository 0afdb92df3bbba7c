/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiting: a process that waits for its children waits for those that are traced,
 * if these are all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include <sys/socket.h>

#include "sys/procfs.h"
#include "tracee/breakpoint.h"
#include "tracee/thread-end.h"
#include "tracer/engine.h"
#include "tracer/waiting.h"

enum { CHILDREN = 2 };

static struct shared {
	pid_t children[CHILDREN];
	uint32_t ready;
} * shared;

struct family {
	struct engine engine;
	int peer;
	struct thread *parent;
};

/* With children that do nothing, and die with it. */
static void body_parent(void *arg)
{
	(void)arg;
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			__atomic_add_fetch(&shared->ready, 1, __ATOMIC_RELEASE);
			pause();
		}
		shared->children[i] = pid;
	}
	while (wait(NULL) > 0)
		;
}

static struct thread *add(struct family *family, pid_t pid,
			  enum process_role role)
{
	struct tracees *tracees = &family->engine.core.tracees;
	struct addrspace *space;
	struct process *process;
	struct thread *thread;

	assert_ok(tracees_make_space(tracees, getpid(), &space));
	assert_ok(process_create(pid, role, space, &process));
	assert_true(vec_push(&tracees->processes, &process));
	assert_ok(tracees_add_thread(tracees, process, pid, &thread));
	thread->state = THREAD_RUNNING;
	return thread;
}

static void begin(struct family *family)
{
	int fds[2];
	pid_t pid;

	memset(family, 0, sizeof(*family));
	shared->ready = 0;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_ok(engine_init(&family->engine, fds[0], 1));
	family->engine.core.tracees.watch.ops = &watch_by_value;
	family->peer = fds[1];
	pid = tracee_fork(body_parent, NULL);
	tracee_await(&shared->ready, CHILDREN);
	while (procfs_awaited(pid) != PROCFS_CHILDREN)
		sched_yield();
	family->parent = add(family, pid, PROCESS_WATCHED);
}

static bool waits(const struct family *family)
{
	return waiting_for_traced(&family->engine.core.tracees, family->parent);
}

static void end(struct family *family)
{
	pid_t pid = family->parent->tid;

	engine_deinit(&family->engine);
	close(family->peer);
	tracee_kill(pid);
}

static void a_parent_waits_if_all_its_children_are_traced(void **state)
{
	struct family family;

	(void)state;
	begin(&family);
	assert_false(waits(&family));
	add(&family, shared->children[0], PROCESS_WATCHED);
	assert_false(waits(&family));
	add(&family, shared->children[1], PROCESS_GUEST);
	assert_true(waits(&family));
	end(&family);
}

/* It goes on untraced, and may wake its parent. */
static void a_child_that_is_let_go_is_not_traced(void **state)
{
	struct family family;

	(void)state;
	begin(&family);
	add(&family, shared->children[0], PROCESS_WATCHED);
	add(&family, shared->children[1], PROCESS_COPY);
	assert_false(waits(&family));
	end(&family);
}

/* Its death is about to be told to its parent. */
static void a_child_without_threads_is_about_to_wake_it(void **state)
{
	struct family family;
	struct thread *child;

	(void)state;
	begin(&family);
	add(&family, shared->children[0], PROCESS_WATCHED);
	child = add(&family, shared->children[1], PROCESS_WATCHED);
	assert_true(waits(&family));
	thread_destroy(&family.engine.core.tracees, child);
	assert_false(waits(&family));
	end(&family);
}

static void a_thread_that_waits_otherwise_does_not_wait_for_them(void **state)
{
	struct family family;
	const struct thread *child;

	(void)state;
	begin(&family);
	child = add(&family, shared->children[0], PROCESS_WATCHED);
	assert_false(waiting_for_traced(&family.engine.core.tracees, child));
	end(&family);
}

static int setup(void **state)
{
	(void)state;
	shared = tracee_share(sizeof(*shared));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_parent_waits_if_all_its_children_are_traced),
		cmocka_unit_test(a_child_that_is_let_go_is_not_traced),
		cmocka_unit_test(a_child_without_threads_is_about_to_wake_it),
		cmocka_unit_test(
			a_thread_that_waits_otherwise_does_not_wait_for_them),
	};

	return cmocka_run_group_tests_name("waiting", tests, setup, NULL);
}

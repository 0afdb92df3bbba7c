/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * announce: which processes the front end is told of, and when.
 */
#include "tracer/announce.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "tracee/breakpoint.h"
#include "tracer/engine.h"
#include "tracer/forget.h"

struct told {
	struct engine engine;
	struct channel peer;
	int began, ended;
	struct wire_process last;
};

static void begin(struct told *told)
{
	int fds[2];

	memset(told, 0, sizeof(*told));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_null(engine_init(&told->engine, fds[0], 1));
	told->engine.core.phase = PHASE_WATCHING;
	assert_null(channel_init(&told->peer, fds[1], 1 << 20));
}

/* A process of our own memory, with an address space of its own. */
static struct process *add(struct told *told, pid_t pid, pid_t parent)
{
	struct addrspace *space;
	struct process *process;

	assert_null(tracees_make_space(&told->engine.core.tracees, getpid(),
				       &space));
	assert_null(process_create(pid, PROCESS_WATCHED, space, &process));
	process->parent = parent;
	process->threads_most = 1;
	assert_true(vec_push(&told->engine.core.tracees.processes, &process));
	return process;
}

static void listen_to(struct told *told)
{
	enum wire_type type;
	const void *payload;
	size_t size;

	channel_flush(&told->engine.core.channel);
	channel_fill(&told->peer);
	while (channel_next(&told->peer, &type, &payload, &size)) {
		told->began += type == WIRE_PROCESS;
		told->ended += type == WIRE_PROCESS_ENDED;
		memcpy(&told->last, payload, sizeof(told->last));
	}
}

static void end(struct told *told)
{
	engine_deinit(&told->engine);
	channel_deinit(&told->peer);
}

static void what_was_asked_for_is_told_at_once(void **state)
{
	struct told told;

	(void)state;
	begin(&told);
	announce_begin(&told.engine.core, &told.engine.govern,
		       add(&told, 10, 0));
	listen_to(&told);
	assert_int_equal(told.began, 1);
	assert_int_equal(told.last.pid, 10);
	assert_int_equal(told.engine.core.stats.processes, 1);
	end(&told);
}

static void a_child_is_told_when_it_has_lived_for_a_moment(void **state)
{
	struct process *child;
	struct told told;

	(void)state;
	begin(&told);
	child = add(&told, 11, 10);
	announce_begin(&told.engine.core, &told.engine.govern, child);
	announce_tick(&told.engine.core, &told.engine.govern);
	listen_to(&told);
	assert_int_equal(told.began, 0);
	announce_tick(&told.engine.core, &told.engine.govern);
	announce_tick(&told.engine.core, &told.engine.govern);
	listen_to(&told);
	assert_int_equal(told.began, 1);
	assert_int_equal(told.last.parent, 10);
	announce_end(&told.engine.core, &told.engine.govern, child);
	announce_end(&told.engine.core, &told.engine.govern, child);
	listen_to(&told);
	assert_int_equal(told.ended, 1);
	assert_int_equal(told.engine.core.stats.processes, 1);
	end(&told);
}

static void a_child_that_ends_at_once_is_not_told_of(void **state)
{
	struct told told;

	(void)state;
	begin(&told);
	announce_begin(&told.engine.core, &told.engine.govern,
		       add(&told, 11, 10));
	forget_process(&told.engine,
		       tracees_process(&told.engine.core.tracees, 11));
	listen_to(&told);
	assert_int_equal(told.began + told.ended, 0);
	end(&told);
}

static void a_child_with_shared_memory_is_told_at_once(void **state)
{
	const struct wire_shared range = { .end = 4096, .inode = 1 };
	struct process *child;
	struct told told;

	(void)state;
	begin(&told);
	child = add(&told, 11, 10);
	assert_true(vec_push(&child->space->shared, &range));
	announce_begin(&told.engine.core, &told.engine.govern, child);
	listen_to(&told);
	assert_int_equal(told.began, 1);
	end(&told);
}

static void another_program_is_told_once_as_that(void **state)
{
	struct process *process;
	struct told told;

	(void)state;
	begin(&told);
	process = add(&told, 10, 0);
	announce_begin(&told.engine.core, &told.engine.govern, process);
	listen_to(&told);
	assert_false(told.last.exec);
	announce_end(&told.engine.core, &told.engine.govern, process);
	announce_exec(&told.engine.core, &told.engine.govern, process);
	listen_to(&told);
	assert_int_equal(told.began, 2);
	assert_int_equal(told.ended, 1);
	assert_true(told.last.exec);
	assert_false(process->execed);
	end(&told);
}

/* Or the front end would take the program for one that nobody runs. */
static void who_runs_the_same_is_told_before_the_end(void **state)
{
	struct process *parent, *child;
	struct addrspace *space;
	struct told told;

	(void)state;
	begin(&told);
	parent = add(&told, 10, 0);
	announce_begin(&told.engine.core, &told.engine.govern, parent);
	assert_null(addrspace_fork(parent->space, getpid(), 0, &space));
	assert_null(process_create(11, PROCESS_WATCHED, space, &child));
	child->parent = 10;
	assert_true(vec_push(&told.engine.core.tracees.processes, &child));
	announce_begin(&told.engine.core, &told.engine.govern, child);
	listen_to(&told);
	assert_int_equal(told.began, 1);
	forget_process(&told.engine, parent);
	listen_to(&told);
	assert_int_equal(told.began, 2);
	assert_int_equal(told.ended, 1);
	/* the end was the last of it */
	assert_int_equal(told.last.pid, 10);
	assert_true(child->announced);
	end(&told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_asked_for_is_told_at_once),
		cmocka_unit_test(
			a_child_is_told_when_it_has_lived_for_a_moment),
		cmocka_unit_test(a_child_that_ends_at_once_is_not_told_of),
		cmocka_unit_test(a_child_with_shared_memory_is_told_at_once),
		cmocka_unit_test(another_program_is_told_once_as_that),
		cmocka_unit_test(who_runs_the_same_is_told_before_the_end),
	};

	return cmocka_run_group_tests_name("announce", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/session/session-startup.c: what waits for a program's first threads, and
 * what waits until these have gone on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "session/session-startup.h"
#include "session/session-state.h"

static const uint64_t NOW = 3600 * CLOCK_NS_PER_S;
static char *argv[] = { "./program", NULL };

struct fixture {
	struct session_config config;
	struct session session;
	struct watched_program program;
	int other; /* the tracer's end */
};

static struct fixture fixture;

/* A program that was started at NOW; it has one thread. */
static int setup(void **state)
{
	int fds[2];

	(void)state;
	memset(&fixture, 0, sizeof(fixture));
	fixture.config.argv = argv;
	fixture.config.effort.params.rate = 1000;
	fixture.config.effort.once_max = 4096;
	fixture.session.config = &fixture.config;
	fixture.program.begun_ns = NOW;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return -1;
	fixture.other = fds[1];
	return channel_init(&fixture.session.channel, fds[0], 4096) != NULL;
}

static int teardown(void **state)
{
	(void)state;
	channel_deinit(&fixture.session.channel);
	close(fixture.other);
	return 0;
}

static bool own_first(uint64_t now)
{
	return session_own_first(&fixture.session, &fixture.program, now);
}

static bool draws(void)
{
	return session_draws(&fixture.session, &fixture.program);
}

/* Its second thread has begun; both wait. */
static void wait_for_sites(void)
{
	fixture.program.threaded = fixture.program.awake = true;
	fixture.program.startup_ns =
		clock_now_ns() + session_startup_ns(&fixture.config);
}

static void libraries_wait_until_the_threads_have_run(void **state)
{
	struct watched_program *program = &fixture.program;
	uint64_t ended;

	(void)state;
	assert_true(own_first(NOW));
	assert_false(own_first(NOW + CLOCK_NS_PER_S));
	wait_for_sites();
	ended = clock_now_ns();
	assert_true(own_first(ended));
	session_end_startup(&fixture.session, program);
	assert_int_equal(program->startup_ns, 0);
	/* they have gone on, and want the processors */
	assert_true(own_first(ended + CLOCK_NS_PER_MS));
	assert_true(program->work_ns > ended + CLOCK_NS_PER_MS);
	assert_false(own_first(clock_now_ns() + 100 * CLOCK_NS_PER_MS));
	/* nobody waits any more: it is not told twice */
	program->quiet_ns = 0;
	session_end_startup(&fixture.session, program);
	assert_int_equal(program->quiet_ns, 0);
}

/* Its sides may be there, and the threads wait for them. */
static void libraries_do_not_wait_in_a_hunt(void **state)
{
	const struct vec sides = { .count = 1 };

	(void)state;
	fixture.config.hunt = &sides;
	assert_false(own_first(NOW));
	wait_for_sites();
	assert_false(own_first(clock_now_ns()));
}

/* When what they are likely to run was sent, for 10 ms from when they began to. */
static void threads_of_a_large_program_wait_for_a_part(void **state)
{
	struct watched_program *program = &fixture.program;
	uint64_t begun = clock_now_ns(), later = begun + 15 * CLOCK_NS_PER_MS;

	(void)state;
	assert_false(session_startup_suffices(program, later));
	wait_for_sites();
	program->startup_begun_ns = begun;
	assert_false(session_startup_suffices(program, begun));
	assert_true(session_startup_suffices(program, later));
	/* the front end may have come to it late */
	program->startup_begun_ns = begun - 15 * CLOCK_NS_PER_MS;
	assert_true(session_startup_suffices(program, begun));
	program->set.own_behind = true;
	assert_false(session_startup_suffices(program, later));
	program->set.own_behind = false;
	program->set.sampler.callees.count = 1;
	assert_false(session_startup_suffices(program, later));
}

static void nothing_is_drawn_that_is_to_be_armed_once(void **state)
{
	(void)state;
	assert_false(draws());
	wait_for_sites();
	assert_false(draws());
	session_end_startup(&fixture.session, &fixture.program);
	assert_true(draws());
}

static void what_was_attached_to_is_drawn_from_at_once(void **state)
{
	(void)state;
	fixture.config.argv = NULL;
	assert_true(draws());
	assert_false(own_first(NOW));
	fixture.config.argv = argv;
	fixture.config.effort.once_max = 0;
	assert_true(draws());
	assert_false(own_first(NOW));
}

/* Of a server, when its first breakpoint is armed. */
static void the_front_end_is_late_where_little_may_be_lost(void **state)
{
	(void)state;
	fixture.config.argv = NULL;
	fixture.config.effort.params.share = 0.02;
	assert_int_equal(session_lateness(&fixture.session), 0);
	fixture.session.armed_told = true;
	assert_int_equal(session_lateness(&fixture.session),
			 20 * CLOCK_NS_PER_MS);
	/* its first threads would wait */
	fixture.config.argv = argv;
	assert_int_equal(session_lateness(&fixture.session), 0);
	fixture.config.argv = NULL;
	fixture.config.effort.params.share = 0.4;
	assert_int_equal(session_lateness(&fixture.session), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(libraries_wait_until_the_threads_have_run),
		TEST(libraries_do_not_wait_in_a_hunt),
		TEST(threads_of_a_large_program_wait_for_a_part),
		TEST(nothing_is_drawn_that_is_to_be_armed_once),
		TEST(what_was_attached_to_is_drawn_from_at_once),
		TEST(the_front_end_is_late_where_little_may_be_lost),
	};

	return cmocka_run_group_tests_name("session-onset", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals by a pipe: they come one by one, and end a process that does not read
 * them.
 */
#include "base/signalpipe.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"

/* The clock that tells whether two signals are one; 0: the real one. */
static volatile uint64_t clock_ns;

uint64_t __real_clock_now_ns(void);
uint64_t __wrap_clock_now_ns(void);

uint64_t __wrap_clock_now_ns(void)
{
	return clock_ns ? clock_ns : __real_clock_now_ns();
}

static int begin(void)
{
	sigset_t signals;
	int fd;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGVTALRM);
	sigaddset(&signals, SIGRTMAX);
	assert_null(signalpipe_open(&signals, &fd));
	clock_ns = CLOCK_NS_PER_S;
	return fd;
}

static void later(uint64_t ms)
{
	clock_ns = clock_ns + ms * CLOCK_NS_PER_MS;
}

static void signals_are_read_in_turn(void **state)
{
	/* SIGVTALRM is the timer's too */
	const int sent[] = { SIGHUP,	SIGINT,	  SIGHUP,
			     SIGVTALRM, SIGRTMAX, SIGTERM };
	enum { SENT = sizeof(sent) / sizeof(sent[0]) };
	struct signal_news news;
	int fd = begin();
	sigset_t mask;

	(void)state;
	assert_false(signalpipe_read(fd, &news));
	for (size_t i = 0; i < SENT; i++)
		raise(sent[i]);
	for (size_t i = 0; i < SENT; i++) {
		assert_true(signalpipe_read(fd, &news));
		assert_int_equal(news.number, sent[i]);
	}
	assert_false(signalpipe_read(fd, &news));
	signalpipe_close(fd, &mask);
}

static void all_is_as_before_at_the_end(void **state)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction usual = { .sa_handler = SIG_DFL }, before, after;
	sigset_t blocked, mask;
	int fd;

	(void)state;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	sigaction(SIGHUP, &ignore, NULL);
	/* a shell starts what is in its background with this one ignored */
	sigaction(SIGINT, &usual, &before);
	fd = begin();
	signalpipe_close(fd, &mask);
	sigaction(SIGHUP, NULL, &after);
	assert_ptr_equal(after.sa_handler, SIG_IGN);
	sigaction(SIGINT, NULL, &after);
	assert_ptr_equal(after.sa_handler, SIG_DFL);
	assert_int_equal(sigismember(&mask, SIGTERM), 1);
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
	sigaction(SIGHUP, &usual, NULL);
	sigaction(SIGINT, &before, NULL);
}

enum { LIVES = 7 };

/* A child that does not read, and how it ended. */
static int end_of(void (*act)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		begin();
		act();
		/* far longer than the next one is waited for */
		poll(NULL, 0, 20 * SIGNALPIPE_NEXT_MS);
		_exit(LIVES);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void send_two(void)
{
	raise(SIGINT);
	later(SIGNALPIPE_SAME_MS);
	raise(SIGTERM);
	poll(NULL, 0, 20 * SIGNALPIPE_NEXT_MS);
}

static void send_one_twice(void)
{
	raise(SIGTERM);
	later(SIGNALPIPE_SAME_MS - 1);
	raise(SIGTERM);
}

static void send_hang_ups(void)
{
	for (int i = 0; i < 3; i++) {
		raise(SIGHUP);
		later(SIGNALPIPE_SAME_MS);
	}
}

static void a_second_one_ends_who_does_not_read(void **state)
{
	(void)state;
	assert_int_equal(end_of(send_two), -SIGTERM);
	assert_int_equal(end_of(send_one_twice), LIVES);
	assert_int_equal(end_of(send_hang_ups), LIVES);
}

/* In a child: it reads each. 0: it has seen them all. */
static int read_each(int count)
{
	int fd = begin(), seen = 0;

	for (int i = 0; i < count; i++) {
		struct signal_news news;

		raise(SIGINT);
		later(SIGNALPIPE_SAME_MS);
		while (signalpipe_read(fd, &news))
			seen++;
	}
	poll(NULL, 0, 2 * SIGNALPIPE_NEXT_MS);
	return count - seen;
}

static void who_reads_goes_on(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		_exit(read_each(3));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_child_is_not_us(void **state)
{
	struct signal_news news;
	int fd = begin(), status;
	sigset_t mask;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		raise(SIGINT);
		_exit(LIVES);
	}
	while (waitpid(pid, &status, 0) != pid)
		;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
	assert_true(signalpipe_read(fd, &news));
	assert_int_equal(news.number, SIGCHLD);
	assert_false(signalpipe_read(fd, &news));
	signalpipe_close(fd, &mask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_are_read_in_turn),
		cmocka_unit_test(all_is_as_before_at_the_end),
		cmocka_unit_test(a_second_one_ends_who_does_not_read),
		cmocka_unit_test(who_reads_goes_on),
		cmocka_unit_test(a_child_is_not_us),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Children of a test that are to be traced: forked from the test itself, so
 * that the test knows every address in them, with a page shared by both for
 * handshakes. Include after <cmocka.h>.
 */
#ifndef TESTS_UNIT_TRACEE_H
#define TESTS_UNIT_TRACEE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../helpers/machine.h"
#include "base/error.h"
#include "sys/trace.h"
#include "sys/wait.h"

/*
 * The four debug registers of each CPU are everybody's: tests that need them
 * all take turns with others that use any. Kept until the test ends.
 */
static inline void tracee_lock_registers(void)
{
	const char *top = getenv("abs_top_builddir");
	/* to wait for others is no hang of ours */
	unsigned int left = alarm(0);
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/tests-debug-registers.lock",
		 top ? top : "/tmp");
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd >= 0)
		flock(fd, LOCK_EX);
	alarm(left);
}

/* A test that hangs is killed, and its tracees by their exit_kill. */
enum { TRACEE_TEST_SECONDS = 120 };

#define assert_ok(expression)                                              \
	do {                                                               \
		struct error *assert_ok_err = (expression);                \
		if (assert_ok_err) {                                       \
			print_error("%s\n", error_message(assert_ok_err)); \
			error_free(assert_ok_err);                         \
			fail_msg("%s", #expression);                       \
		}                                                          \
	} while (0)

/*
 * LeakSanitizer cannot work in a process that is traced, so the children, at
 * their ends, are spared (sanitizer/lsan_interface.h).
 */
static bool tracee_is_child;

int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return tracee_is_child;
}

/* Memory that parent and children share, zeroed. */
static inline void *tracee_share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	alarm(TRACEE_TEST_SECONDS);
	return memory;
}

/* Wait until another thread or process has set the word to a value. */
static inline void tracee_await(const uint32_t *word, uint32_t value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
		sched_yield();
}

static inline void tracee_tell(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* A child that runs body(arg) and exits with 0; it dies with the test. */
static inline pid_t tracee_fork(void (*body)(void *arg), void *arg)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		tracee_is_child = true;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		body(arg);
		_exit(0);
	}
	return pid;
}

/*
 * A program that a tracer starts is no child of the test, and must outlive its
 * tracer, but not the test: the test keeps the other end of a pipe open, as its
 * tracers do. One for each program, which gets the number as an argument.
 */
static inline int tracee_lifeline(void)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	fcntl(fds[1], F_SETFD, FD_CLOEXEC);
	return fds[0];
}

/* In the program: it is killed when the test has ended, whatever way. */
static inline void tracee_hold(int lifeline)
{
	struct pollfd fd = { .fd = lifeline };

	fcntl(lifeline, F_SETSIG, SIGKILL);
	fcntl(lifeline, F_SETOWN, getpid());
	if (fcntl(lifeline, F_SETFL, O_ASYNC | O_NONBLOCK) != 0)
		_exit(126);
	/* it may have been before */
	if (poll(&fd, 1, 0) != 0)
		_exit(126);
}

static inline struct stop_reason tracee_wait(pid_t tid)
{
	struct stop_reason stop = { 0 };

	assert_ok(wait_thread(tid, &stop));
	return stop;
}

/* Seize it and bring it to a stop. */
static inline void tracee_seize(pid_t pid)
{
	assert_ok(trace_seize(pid, true));
	assert_ok(trace_interrupt(pid));
	assert_int_equal(tracee_wait(pid).kind, STOP_INTERRUPTED);
}

/* It must have nothing left to do but to exit, with that status. */
static inline void tracee_finish(pid_t pid, int status)
{
	struct stop_reason stop;

	assert_ok(trace_continue(pid, 0));
	stop = tracee_wait(pid);
	assert_int_equal(stop.kind, STOP_EXITED);
	assert_int_equal(stop.status, status);
}

static inline void tracee_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
}

/* For a test that needs debug registers that trap: nothing can give it any. */
static inline void tracee_needs_registers(void)
{
	if (machine_lacks_registers())
		skip();
}

/*
 * Skip the test, unless skips are failures. That a machine has no debug registers
 * that trap is none: nothing can give it any.
 */
static inline void tracee_skip(struct error *why)
{
	const char *require = getenv("RACEWATCH_TEST_REQUIRE");
	bool lacks = strstr(error_message(why), "do not trap") &&
		     machine_lacks_registers();

	print_message("skipped: %s\n", error_message(why));
	error_free(why);
	if (!lacks && require && strcmp(require, "all") == 0)
		fail_msg("a facility is missing");
	skip();
}

#endif

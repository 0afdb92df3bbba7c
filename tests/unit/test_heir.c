/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/recorder/heir.c: a child of the test is the process that has an heir, whose
 * descriptor is a pipe to the test.
 */
#include "recorder/heir.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* In memory that the heir shares with its process. */
static char word[8];
static struct heir heir;

struct pipes {
	int written[2]; /* by the heir */
	int other[2]; /* the process' own */
};

static void act(void *context)
{
	const struct pipes *pipes = context;

	if (write(pipes->written[1], word, strlen(word)) < 0)
		_exit(1);
}

static pid_t start(struct pipes *pipes, void (*run)(struct pipes *pipes))
{
	pid_t pid;

	assert_int_equal(pipe(pipes->written), 0);
	assert_int_equal(pipe(pipes->other), 0);
	pid = fork();
	if (pid == 0) {
		close(pipes->written[0]);
		close(pipes->other[0]);
		heir_init(&heir);
		if (!heir_start(&heir, pipes->written[1], act, pipes))
			_exit(1);
		run(pipes);
		_exit(0);
	}
	close(pipes->written[1]);
	close(pipes->other[1]);
	return pid;
}

/* What is written until all that may write have closed it. */
static void is_read(int fd, const char *wanted)
{
	char text[16] = "";
	size_t length = 0;
	ssize_t size;

	while ((size = read(fd, text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)size;
	assert_string_equal(text, wanted);
	close(fd);
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void be_killed(struct pipes *pipes)
{
	(void)pipes;
	/* after its heir has begun */
	memcpy(word, "late", sizeof("late"));
	kill(getpid(), SIGKILL);
}

static void it_sees_memory_as_it_was_left(void **state)
{
	struct pipes pipes;
	pid_t pid = start(&pipes, be_killed);

	(void)state;
	is_read(pipes.written[0], "late");
	assert_int_equal(WTERMSIG(status_of(pid)), SIGKILL);
	close(pipes.other[0]);
}

static void be_alone(struct pipes *pipes)
{
	bool none = waitpid(-1, NULL, 0) == -1 && errno == ECHILD;

	memcpy(word, none ? "none" : "some", sizeof("none"));
	close(pipes->other[1]);
	pause();
}

static void it_is_no_child_and_has_no_other_files(void **state)
{
	struct pipes pipes;
	pid_t pid = start(&pipes, be_alone);

	(void)state;
	/* closed by the process; the heir would have it open */
	is_read(pipes.other[0], "");
	assert_int_equal(kill(pid, SIGKILL), 0);
	is_read(pipes.written[0], "none");
	status_of(pid);
}

static void end(struct pipes *pipes)
{
	(void)pipes;
	memcpy(word, "end", sizeof("end"));
	heir_dismiss(&heir);
}

static void one_that_is_dismissed_does_nothing(void **state)
{
	struct pipes pipes;
	pid_t pid = start(&pipes, end);

	(void)state;
	is_read(pipes.written[0], "");
	assert_int_equal(status_of(pid), 0);
	close(pipes.other[0]);
}

/* The child does not end its parent's heir, and has one of its own. */
static void have_a_child(struct pipes *pipes)
{
	pid_t child = fork();

	if (child == 0) {
		heir_fork(&heir);
		memcpy(word, "b", sizeof("b"));
		if (heir_start(&heir, pipes->written[1], act, pipes))
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	memcpy(word, "a", sizeof("a"));
	kill(getpid(), SIGKILL);
}

static void a_child_has_its_own(void **state)
{
	struct pipes pipes;
	char text[3] = "";
	pid_t pid = start(&pipes, have_a_child);

	(void)state;
	assert_int_equal(read(pipes.written[0], text, 1), 1);
	assert_int_equal(read(pipes.written[0], text + 1, 1), 1);
	/* in any order: they do not wait for each other */
	assert_true(strcmp(text, "ab") == 0 || strcmp(text, "ba") == 0);
	status_of(pid);
	close(pipes.written[0]);
	close(pipes.other[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_sees_memory_as_it_was_left),
		cmocka_unit_test(it_is_no_child_and_has_no_other_files),
		cmocka_unit_test(one_that_is_dismissed_does_nothing),
		cmocka_unit_test(a_child_has_its_own),
	};

	return cmocka_run_group_tests_name("heir", tests, NULL, NULL);
}

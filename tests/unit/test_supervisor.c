/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sweep/supervisor.c and descendants.c with shells in the place of
 * racewatch: what a run prints, how it ends, and that nothing of it stays.
 * Processes meet by pipes: each that is to be gone holds the writing end of
 * one.
 */
#include "sweep/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"

/*
 * A container without /dev: the supervisor and the run are forks of the test.
 */
static bool no_null;

int __wrap_open(const char *path, int flags, ...);
int __real_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list list;

	if (no_null && strcmp(path, "/dev/null") == 0) {
		errno = ENOENT;
		return -1;
	}
	if (flags & O_CREAT) {
		va_start(list, flags);
		mode = va_arg(list, mode_t);
		va_end(list);
	}
	return __real_open(path, flags, mode);
}

static char folder[] = "/tmp/test_supervisor.XXXXXX";
static char out_path[64], err_path[64], fifo_path[64];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(out_path, sizeof(out_path), "%s/out", folder);
	snprintf(err_path, sizeof(err_path), "%s/err", folder);
	snprintf(fifo_path, sizeof(fifo_path), "%s/fifo", folder);
	setenv("FIFO", fifo_path, 1);
	return mkfifo(fifo_path, 0600);
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(out_path);
	unlink(err_path);
	unlink(fifo_path);
	return rmdir(folder);
}

static void expect_file(const char *path, const char *wanted)
{
	char text[512] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text, wanted);
}

static void start(const char *script, uint64_t timeout_ns,
		  struct supervisor *ret)
{
	char *argv[] = { "sh", "-c", (char *)(uintptr_t)script, NULL };
	static struct supervisor_inherit inherit;
	const struct supervisor_config config = {
		.program = "/bin/sh",
		.argv = argv,
		.out_path = out_path,
		.err_path = err_path,
		.output_limit = 400,
		.timeout_ns = timeout_ns,
		.run = 3,
		.seed = 4,
		.lock_fd = -1,
		.inherit = &inherit,
	};

	inherit.child_action.sa_handler = SIG_DFL;
	getrlimit(RLIMIT_NOFILE, &inherit.files);
	assert_null(supervisor_start(&config, ret));
}

static struct supervisor_result finish(struct supervisor *supervisor)
{
	struct supervisor_result result;

	assert_null(supervisor_finish(supervisor, &result));
	return result;
}

static struct supervisor_result keep(const char *script)
{
	struct supervisor supervisor;

	start(script, 0, &supervisor);
	return finish(&supervisor);
}

/* A byte from whoever writes to the FIFO; its writers are open then. */
static int open_fifo(void)
{
	int fd = open(fifo_path, O_RDONLY | O_CLOEXEC);
	char byte;

	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 1);
	return fd;
}

/* Every process that had it open is gone: end of file, at once. */
static void expect_all_gone(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char byte;

	assert_int_equal(poll(&wait, 1, 20000), 1);
	assert_int_equal(read(fd, &byte, 1), 0);
	close(fd);
}

static void output_and_status_are_kept(void **state)
{
	struct supervisor_result result;

	(void)state;
	result = keep("echo $RACEWATCH_RUN $RACEWATCH_SEED; echo no >&2; "
		      "read x || exit 7");
	assert_true(WIFEXITED(result.status));
	assert_int_equal(WEXITSTATUS(result.status), 7);
	expect_file(out_path, "3 4\n");
	expect_file(err_path, "no\n");
	assert_int_equal(result.left, 0);
	assert_int_equal(result.cut_bytes, 0);
	assert_false(result.stopped || result.timed_out);
	assert_true(result.elapsed_ns > 0);
}

static void the_input_is_empty_without_dev_null_too(void **state)
{
	struct supervisor_result result;

	(void)state;
	for (int i = 0; i < 2; i++) {
		no_null = i == 1;
		result = keep("cat; read x || echo end; exit 5");
		no_null = false;
		assert_true(WIFEXITED(result.status));
		assert_int_equal(WEXITSTATUS(result.status), 5);
		expect_file(out_path, "end\n");
		expect_file(err_path, "");
	}
}

static void a_signal_is_a_status(void **state)
{
	struct supervisor_result result;

	(void)state;
	result = keep("kill -9 $$");
	assert_true(WIFSIGNALED(result.status));
	assert_int_equal(WTERMSIG(result.status), 9);
}

static void a_flood_is_cut(void **state)
{
	struct supervisor_result result;

	(void)state;
	result = keep("head -c 300000 /dev/zero | tr '\\0' x");
	assert_int_equal(result.cut_bytes, 300000 - 400);
	assert_int_equal(WEXITSTATUS(result.status), 0);
}

static void what_is_left_behind_is_ended(void **state)
{
	struct supervisor_result result;
	struct supervisor supervisor;
	int fd;

	(void)state;
	/* one that ignores being asked, with a child; one in a session; and
	 * the shell ends when they are */
	start("exec 9>$FIFO; mkfifo $FIFO.there; "
	      "until_sleep() { until grep -q sleep /proc/$1/comm; do :; done; }; "
	      "(trap '' TERM; sleep 1000 & until_sleep $!; echo >$FIFO.there; "
	      "wait; sleep 1000) >/dev/null 2>&1 & "
	      "setsid sleep 1000 & until_sleep $!; "
	      "read x <$FIFO.there; rm $FIFO.there; echo >&9",
	      0, &supervisor);
	fd = open_fifo();
	result = finish(&supervisor);
	assert_int_equal(WEXITSTATUS(result.status), 0);
	assert_int_equal(result.left, 3);
	assert_int_equal(result.away, 1);
	assert_non_null(strstr(result.names, "sleep"));
	expect_all_gone(fd);
}

static void a_run_can_be_stopped(void **state)
{
	struct supervisor_result result;
	struct supervisor supervisor;
	int fd;

	(void)state;
	start("exec 9>$FIFO; echo >&9; sleep 1000", 0, &supervisor);
	fd = open_fifo();
	supervisor_stop(&supervisor);
	result = finish(&supervisor);
	assert_true(result.stopped);
	assert_int_equal(result.left, 0);
	expect_all_gone(fd);
}

/* Deaf to SIGTERM, as are its children. */
static void also_one_that_does_not_listen(void **state)
{
	struct supervisor_result result;
	struct supervisor supervisor;
	int fd;

	(void)state;
	start("exec 9>$FIFO; trap '' TERM; sleep 1000 & echo >&9; wait; "
	      "sleep 1000",
	      0, &supervisor);
	fd = open_fifo();
	supervisor_stop(&supervisor);
	result = finish(&supervisor);
	assert_true(result.stopped);
	assert_true(WIFSIGNALED(result.status));
	expect_all_gone(fd);
}

/* The supervisor's own maker is killed: the run ends all the same. */
static void nothing_stays_when_the_sweep_is_killed(void **state)
{
	pid_t pid;
	int fd;

	(void)state;
	pid = fork();
	if (pid == 0) {
		struct supervisor supervisor;

		start("exec 9>$FIFO; echo >&9; trap '' TERM; sleep 1000 & "
		      "sleep 1000",
		      0, &supervisor);
		pause();
		_exit(1);
	}
	fd = open_fifo();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	expect_all_gone(fd);
}

/* What it kept falls to the sweep, which is a subreaper too. */
static void a_supervisor_that_is_killed_is_an_error(void **state)
{
	struct supervisor_result result;
	struct supervisor supervisor;
	struct error *err;
	int fd;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	start("exec 9>$FIFO; echo >&9; setsid sleep 1000; exit", 0,
	      &supervisor);
	fd = open_fifo();
	kill(supervisor.pid, SIGKILL);
	err = supervisor_finish(&supervisor, &result);
	assert_non_null(err);
	error_free(err);
	descendants_end(0, NULL);
	assert_int_equal(descendants_look().count, 0);
	expect_all_gone(fd);
}

static void racewatch_told_of_the_timeout_is_believed(void **state)
{
	struct supervisor_result result;
	struct supervisor supervisor;

	(void)state;
	start("sleep 0.2; exit 124", 100 * CLOCK_NS_PER_MS, &supervisor);
	result = finish(&supervisor);
	assert_true(result.timed_out);
	/* a program's own, long before */
	start("exit 124", 100 * CLOCK_NS_PER_S, &supervisor);
	result = finish(&supervisor);
	assert_false(result.timed_out);
}

static void output_that_cannot_be_kept(void **state)
{
	struct supervisor_result result;
	char old[64];

	(void)state;
	memcpy(old, out_path, sizeof(old));
	strcpy(out_path, "/dev/full");
	result = keep("echo one; echo two; exit 3");
	memcpy(out_path, old, sizeof(old));
	assert_int_equal(result.write_error, ENOSPC);
	assert_int_equal(WEXITSTATUS(result.status), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_and_status_are_kept),
		cmocka_unit_test(the_input_is_empty_without_dev_null_too),
		cmocka_unit_test(a_signal_is_a_status),
		cmocka_unit_test(a_flood_is_cut),
		cmocka_unit_test(what_is_left_behind_is_ended),
		cmocka_unit_test(a_run_can_be_stopped),
		cmocka_unit_test(also_one_that_does_not_listen),
		cmocka_unit_test(nothing_stays_when_the_sweep_is_killed),
		cmocka_unit_test(a_supervisor_that_is_killed_is_an_error),
		cmocka_unit_test(racewatch_told_of_the_timeout_is_believed),
		cmocka_unit_test(output_that_cannot_be_kept),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

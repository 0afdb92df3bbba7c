/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/session/companion.c: the program here is a child of the test that waits for
 * signals, or for a byte after which it ends with 7. Clients say by a pipe with a name
 * that they run.
 */
#include "session/companion.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

/* It says so, and waits; the pipe is open as long as it runs. */
#define RUNS "exec 3>\"$FIFO\"; echo $$ >&3; exec tail -f /dev/null"

#define PATIENT ((struct companion_config){ .command = NULL })
#define IMPATIENT ((struct companion_config){ .client_ms = 10 })

static char folder[] = "/tmp/racewatch-companion.XXXXXX";
static char fifo[sizeof(folder) + 8];

struct fixture {
	pid_t program;
	int byte; /* to it */
	struct companion companion;
	char said[256];
};

static void hear(void *context, const char *text)
{
	struct fixture *fixture = context;

	snprintf(fixture->said, sizeof(fixture->said), "%s", text);
}

static void be_program(const int ends[2])
{
	char byte;

	close(ends[1]);
	_exit(read(ends[0], &byte, 1) == 1 ? 7 : 0);
}

static void start_program(struct fixture *fixture, bool stubborn)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	fflush(NULL);
	/* from its start */
	if (stubborn)
		signal(SIGTERM, SIG_IGN);
	fixture->program = fork();
	if (fixture->program == 0)
		be_program(ends);
	signal(SIGTERM, SIG_DFL);
	close(ends[0]);
	fixture->byte = ends[1];
}

/* grace_ms: the program ignores SIGTERM. */
static void start(struct fixture *fixture, const char *command,
		  struct companion_config config)
{
	config.command = command;
	config.silent = true;

	*fixture = (struct fixture){ .byte = -1 };
	start_program(fixture, config.grace_ms != 0);
	assert_null(companion_start(&config, fixture->program,
				    &fixture->companion));
}

/* Wait for the program, and then for what its status is. */
static int end(struct fixture *fixture)
{
	int status;

	assert_int_equal(waitpid(fixture->program, &status, 0),
			 fixture->program);
	close(fixture->byte);
	status = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				     : WEXITSTATUS(status);
	return companion_end(&fixture->companion, status, hear, fixture);
}

/* The id that the client writes. */
static pid_t read_client(void)
{
	char text[32] = "";
	int fd = open(fifo, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return (pid_t)strtol(text, NULL, 10);
}

static void the_client_ends_the_run(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture, "exit 0", PATIENT);
	assert_int_equal(end(&fixture), 0);
	assert_string_equal(fixture.said, "");
}

static void its_status_is_that_of_the_run(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture, "exit 3", PATIENT);
	assert_int_equal(end(&fixture), 3);
	assert_non_null(
		strstr(fixture.said, "the client ended with exit status 3"));
	start(&fixture, "kill -9 $$", PATIENT);
	assert_int_equal(end(&fixture), 128 + SIGKILL);
	assert_non_null(
		strstr(fixture.said, "the client was killed by signal 9"));
	/* also where it is the program's */
	start(&fixture, "exit 143", PATIENT);
	assert_int_equal(end(&fixture), 128 + SIGTERM);
	assert_true(fixture.companion.decided);
}

static void it_knows_the_program(void **state)
{
	struct fixture fixture;

	(void)state;
	/* SIGUSR1 is no end that was asked for */
	start(&fixture, "kill -USR1 $RACEWATCH_PID; exec tail -f /dev/null",
	      IMPATIENT);
	assert_int_equal(end(&fixture), 128 + SIGUSR1);
	assert_non_null(
		strstr(fixture.said, "the program ended before the client"));
}

static void a_client_may_stop_the_program_itself(void **state)
{
	struct fixture fixture;

	(void)state;
	/* it goes on until it is sure that the program has ended */
	start(&fixture,
	      "kill -KILL $RACEWATCH_PID\n"
	      "while grep -q '^State:.[^ZX]' /proc/$RACEWATCH_PID/status\n"
	      "do :; done 2>/dev/null",
	      PATIENT);
	assert_int_equal(end(&fixture), 128 + SIGKILL);
	assert_string_equal(fixture.said, "");
}

static void a_program_that_does_not_end_is_killed(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture, "exit 0", (struct companion_config){ .grace_ms = 20 });
	assert_int_equal(end(&fixture), 0);
	assert_non_null(strstr(fixture.said, "the program was killed"));
}

static void a_client_whose_program_has_ended_is_ended(void **state)
{
	struct fixture fixture;
	pid_t client;

	(void)state;
	start(&fixture, RUNS, IMPATIENT);
	client = read_client();
	assert_int_equal(kill(client, 0), 0);
	assert_int_equal(write(fixture.byte, "", 1), 1);
	assert_int_equal(end(&fixture), 7);
	assert_false(fixture.companion.decided);
	assert_non_null(
		strstr(fixture.said, "the program ended before the client"));
	assert_int_equal(kill(client, 0), -1);
}

static void both_end_when_asked_to(void **state)
{
	struct fixture fixture;
	pid_t client;
	int status;

	(void)state;
	start(&fixture, RUNS, IMPATIENT);
	client = read_client();
	/* the status of a run that was cut is as it is told */
	assert_int_equal(companion_end(&fixture.companion, 124, NULL, NULL),
			 124);
	assert_int_equal(kill(client, 0), -1);
	assert_int_equal(waitpid(fixture.program, &status, 0), fixture.program);
	assert_int_equal(WTERMSIG(status), SIGTERM);
	close(fixture.byte);
	/* there is none any more */
	assert_int_equal(companion_end(&fixture.companion, 5, hear, &fixture),
			 5);
}

/* Another process starts both, says so, and waits. */
static void be_starter(int to)
{
	struct fixture fixture;

	start(&fixture, RUNS, IMPATIENT);
	if (read_client() > 0 && write(to, "", 1) == 1)
		pause();
	_exit(1);
}

/* One pipe is open with the program and its starter, the other with the client. */
static void both_end_with_their_parent(void **state)
{
	int client = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int ends[2], status;
	pid_t starter;
	char byte;

	(void)state;
	assert_int_equal(fcntl(client, F_SETFL, 0), 0);
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	starter = fork();
	if (starter == 0) {
		close(ends[0]);
		be_starter(ends[1]);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(kill(starter, SIGKILL), 0);
	assert_int_equal(waitpid(starter, &status, 0), starter);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	assert_int_equal(read(client, &byte, 1), 0);
	close(client);
}

static void of_no_program_there_is_none(void **state)
{
	const struct companion_config config = { .command = "exit 3" };
	struct companion companion = { .pid = -1 };
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_null(companion_start(&config, pid, &companion));
	assert_int_equal(companion.pid, 0);
	assert_int_equal(companion_end(&companion, 0, NULL, NULL), 0);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	setenv("FIFO", fifo, 1);
	return mkfifo(fifo, 0600);
}

static int tear_down(void **state)
{
	(void)state;
	unlink(fifo);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_client_ends_the_run),
		cmocka_unit_test(its_status_is_that_of_the_run),
		cmocka_unit_test(it_knows_the_program),
		cmocka_unit_test(a_client_may_stop_the_program_itself),
		cmocka_unit_test(a_program_that_does_not_end_is_killed),
		cmocka_unit_test(a_client_whose_program_has_ended_is_ended),
		cmocka_unit_test(both_end_when_asked_to),
		cmocka_unit_test(both_end_with_their_parent),
		cmocka_unit_test(of_no_program_there_is_none),
	};

	return cmocka_run_group_tests_name("companion", tests, set_up,
					   tear_down);
}

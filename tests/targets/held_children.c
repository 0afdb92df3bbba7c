/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One thread writes; another one, 20 ms later, has children by fork(2), vfork(2) and
 * posix_spawn(3), of which the first reads, and then reads itself. A child that does
 * not end well is told, and is the exit status. Called as
 *
 *	held_children		as that
 *	held_children exec	it executes this program instead, as "done"
 */
#include "target.h"
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static long value;
static char *self;
static int execs;

NOINLINE static void held_write(void)
{
	value = 1;
}

NOINLINE static long late_read(void)
{
	return value;
}

static void await(pid_t pid, const char *what)
{
	int status = 0;

	target_check(pid > 0 && waitpid(pid, &status, 0) == pid, what);
	target_check(status == 0, what);
}

static void have_children(void)
{
	char *arguments[] = { self, "done", NULL };
	pid_t pid = fork();

	if (pid == 0)
		_exit(late_read() < 0);
	await(pid, "fork");
	pid = vfork();
	if (pid == 0) {
		execv(self, arguments);
		_exit(127);
	}
	await(pid, "vfork");
	target_check(!posix_spawn(&pid, self, NULL, NULL, arguments, environ),
		     "posix_spawn");
	await(pid, "posix_spawn");
}

static void *reader(void *arg)
{
	char *arguments[] = { self, "done", NULL };

	usleep(20000);
	if (execs)
		execv(self, arguments);
	have_children();
	target_check(late_read() >= 0, "read");
	return arg;
}

static void *writer(void *arg)
{
	held_write();
	return arg;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	self = argv[0];
	execs = !strcmp(how, "exec");
	if (strcmp(how, "done") != 0)
		target_race(writer, reader);
	return target_done("held_children");
}

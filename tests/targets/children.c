/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Children by fork, vfork, posix_spawn and system, all while two threads run
 * hot: no child may meet a breakpoint, so each exit status is checked. The
 * forked ones run the same hot code before they exit.
 */
#include "special.h"
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static void expect(pid_t pid, int code, const char *what)
{
	int status;

	target_check(pid > 0, what);
	while (waitpid(pid, &status, 0) < 0)
		target_check(errno == EINTR, what);
	target_check(WIFEXITED(status) && WEXITSTATUS(status) == code, what);
}

/* Takes the lock itself, so that no dead owner is copied to the child. */
NOINLINE static int run_fork(int code)
{
	pid_t pid;

	pthread_mutex_lock(&special_lock);
	pid = fork();
	pthread_mutex_unlock(&special_lock);
	if (pid == 0) {
		for (unsigned i = 0; i < 2000; i++)
			special_hot(i);
		_exit(code);
	}
	return pid;
}

NOINLINE static int run_vfork(int code)
{
	pid_t pid = vfork();

	if (pid == 0) {
		special_cells[15]++;
		special_total ^= 2;
		_exit(code);
	}
	return pid;
}

NOINLINE static pid_t run_spawn(void)
{
	char *argv[] = { "sh", "-c", "exit 23", NULL };
	pid_t pid;

	target_check(!posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ),
		     "posix_spawn");
	return pid;
}

static void *parent_loop(void *arg)
{
	for (unsigned long i = 0; target_goes_on(i * 64); i++) {
		int status;

		expect(run_fork(21), 21, "fork");
		pthread_mutex_lock(&special_lock);
		status = run_vfork(22);
		pthread_mutex_unlock(&special_lock);
		expect(status, 22, "vfork");
		expect(run_spawn(), 23, "posix_spawn");
		status = system("exit 24");
		target_check(WIFEXITED(status) && WEXITSTATUS(status) == 24,
			     "system");
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	pthread_t hot = target_thread(special_loop, NULL);

	target_race(parent_loop, special_loop);
	pthread_join(hot, NULL);
	return target_done("children");
}

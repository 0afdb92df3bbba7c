/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Children made by clone(2) as libraries do not: sharing memory but not the
 * thread group, with and without an exit signal, with the parent waiting, and
 * as a sibling. All run hot code, and their exit statuses are checked.
 */
#include "special.h"
#include <sched.h>
#include <sys/wait.h>

enum { STACK = 65536 };

static char stack[STACK] __attribute__((aligned(64)));

static int child(void *arg)
{
	/* no lock: it shares memory, but is no thread for libc */
	for (long i = 0; i < 300; i++)
		special_cells[15] += (long)target_work((unsigned)i, 3) & 1;
	return (int)(long)arg;
}

static void expect(pid_t pid, int code, const char *what)
{
	int status;

	target_check(pid > 0, what);
	target_check(waitpid(pid, &status, __WALL) == pid, what);
	target_check(WIFEXITED(status) && WEXITSTATUS(status) == code, what);
}

static pid_t odd(int flags, long code)
{
	return clone(child, stack + STACK, flags, (void *)code);
}

/* A child makes a sibling: a child of ours that we did not make. */
static void sibling(void)
{
	pid_t middle = fork();
	int status;

	if (middle == 0)
		_exit(odd(CLONE_PARENT | SIGCHLD, 54) > 0 ? 53 : 1);
	expect(middle, 53, "the sibling's maker");
	target_check(waitpid(-1, &status, __WALL) > 0, "the sibling");
	target_check(WIFEXITED(status) && WEXITSTATUS(status) == 54,
		     "the sibling's status");
}

static void *odd_loop(void *arg)
{
	for (unsigned long i = 0; target_goes_on(i * 64); i++) {
		expect(odd(CLONE_VM | SIGCHLD, 50), 50, "CLONE_VM");
		expect(odd(CLONE_VM | CLONE_VFORK | SIGCHLD, 51), 51,
		       "CLONE_VM, CLONE_VFORK");
		expect(odd(CLONE_VM, 52), 52, "CLONE_VM, no signal");
		expect(odd(CLONE_VFORK | SIGCHLD, 55), 55, "CLONE_VFORK");
		expect(odd(CLONE_FILES | CLONE_FS | SIGUSR1, 56), 56,
		       "another signal");
		sibling();
	}
	return arg;
}

int main(int argc, char **argv)
{
	signal(SIGUSR1, SIG_IGN);
	target_init(argc, argv, 1);
	pthread_t hot = target_thread(special_loop, NULL);

	target_race(odd_loop, special_loop);
	pthread_join(hot, NULL);
	return target_done("odd_clones");
}

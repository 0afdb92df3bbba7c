/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small debugger: it traces children of its own, with an int3 and steps,
 * while two threads run hot. Its children's stops must all come to it.
 */
#include "special.h"
#include <sys/ptrace.h>
#include <sys/wait.h>

/* Taken around the fork, so that the child finds no lock of the others. */
static pid_t start_child(void)
{
	pid_t pid;

	pthread_mutex_lock(&special_lock);
	pid = fork();
	pthread_mutex_unlock(&special_lock);
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(1);
		raise(SIGSTOP);
		__asm__ volatile("int3");
		for (unsigned i = 0; i < 100; i++)
			special_hot(i);
		_exit(31);
	}
	target_check(pid > 0, "fork");
	return pid;
}

static void expect_stop(pid_t pid, int signal)
{
	int status;

	target_check(waitpid(pid, &status, 0) == pid, "waitpid");
	target_check(WIFSTOPPED(status) && WSTOPSIG(status) == signal,
		     "the child's stop");
}

static void *debugger_loop(void *arg)
{
	for (unsigned long i = 0; target_goes_on(i * 64); i++) {
		pid_t pid = start_child();
		int status;

		expect_stop(pid, SIGSTOP);
		ptrace(PTRACE_CONT, pid, 0, 0);
		expect_stop(pid, SIGTRAP);
		for (int step = 0; step < 20; step++) {
			target_check(!ptrace(PTRACE_SINGLESTEP, pid, 0, 0),
				     "step");
			expect_stop(pid, SIGTRAP);
		}
		ptrace(PTRACE_CONT, pid, 0, 0);
		target_check(waitpid(pid, &status, 0) == pid &&
				     WIFEXITED(status) &&
				     WEXITSTATUS(status) == 31,
			     "the child's end");
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	pthread_t hot = target_thread(special_loop, NULL);

	target_race(debugger_loop, special_loop);
	pthread_join(hot, NULL);
	return target_done("traces_child");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * under-tracer CMD [ARG...]: runs CMD and everything it starts under ptrace,
 * as `strace -f' does, passing all signals on; ends with CMD's status. What
 * CMD starts is then traced already, and nobody else can trace it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	FOLLOW = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		 PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL
};

static void go_on(pid_t tid, int status)
{
	int event = status >> 16, signal = WSTOPSIG(status);

	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
		ptrace(PTRACE_LISTEN, tid, 0, 0); /* a group-stop */
		return;
	}
	ptrace(PTRACE_CONT, tid, 0, event ? 0L : (long)signal);
}

int main(int argc, char **argv)
{
	pid_t child, tid;
	int status, result = 99, gate[2];
	char byte;

	if (argc < 2 || pipe(gate))
		return 99;
	child = fork();
	if (child == 0) {
		/* starts when it is seized */
		close(gate[1]);
		if (read(gate[0], &byte, 1) != 1)
			_exit(99);
		close(gate[0]);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || ptrace(PTRACE_SEIZE, child, 0, FOLLOW)) {
		perror("under-tracer");
		return 99;
	}
	if (write(gate[1], "", 1) != 1)
		return 99;
	close(gate[0]);
	close(gate[1]);
	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (tid > 0 && WIFSTOPPED(status))
			go_on(tid, status);
		else if (tid == child)
			result = WIFEXITED(status) ? WEXITSTATUS(status)
						   : 128 + WTERMSIG(status);
	}
	return result;
}

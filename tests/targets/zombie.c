/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Has a child that has ended and is not waited for. Says "ready" and the
 * child's process id.
 */
#include "target.h"
#include <sys/wait.h>

int main(void)
{
	pid_t child = fork();
	siginfo_t info;

	if (child == 0)
		_exit(0);
	target_check(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0,
		     "waitid");
	printf("ready %d\n", (int)child);
	fflush(stdout);
	/* a guard against being forgotten */
	alarm(120);
	for (;;)
		pause();
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that has made itself not dumpable, as programs that hold keys do:
 * only a user with CAP_SYS_PTRACE may trace it. Says "ready" and waits.
 */
#include "target.h"
#include <sys/prctl.h>

int main(void)
{
	target_check(prctl(PR_SET_DUMPABLE, 0) == 0, "prctl");
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	/* a guard against being forgotten */
	alarm(120);
	for (;;)
		pause();
}

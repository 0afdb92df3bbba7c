/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comes to a stop with a known stack: main, outer, middle, inner, the last of
 * them inlined when optimized. The argument says where:
 *
 *	trap	at a breakpoint instruction in inner
 *	call	the same, and then on to atoi(3), for stepping into the PLT
 *	clock	the same, and then clock_gettime(2), which is in the vDSO
 *	kill	in the system call that sends SIGSTOP to itself
 *	signal	at a breakpoint instruction in a signal handler
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, noipa))

volatile int sink;

NOINLINE static void trap(void)
{
	__asm__ volatile("int3"); /* LINE: trap */
	sink++;
}

static void handler(int number)
{
	sink = number;
	trap(); /* LINE: handler */
	sink++;
}

static inline __attribute__((always_inline)) void inner(const char *where)
{
	struct timespec now;

	if (strcmp(where, "kill") == 0)
		kill(getpid(), SIGSTOP); /* LINE: kill */
	else if (strcmp(where, "signal") == 0)
		raise(SIGUSR1); /* LINE: raise */
	else
		__asm__ volatile("int3"); /* LINE: inner */
	if (strcmp(where, "clock") == 0)
		clock_gettime(CLOCK_MONOTONIC, &now);
	sink += atoi(where);
}

NOINLINE static int middle(const char *where, int depth)
{
	char room[256];

	memset(room, depth, sizeof(room));
	inner(where); /* LINE: middle */
	sink += room[depth];
	return depth + 1;
}

NOINLINE static int outer(const char *where)
{
	int n = middle(where, 3); /* LINE: outer */

	return n + sink;
}

int main(int argc, char **argv)
{
	signal(SIGUSR1, handler);
	sink = outer(argc > 1 ? argv[1] : "trap"); /* LINE: main */
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inherited dispositions; see signals.h.
 */
#include "base/signals.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

bool signal_is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 &&
	       action.sa_handler == SIG_IGN;
}

bool signal_is_raised(int number)
{
	return number == SIGTRAP || number == SIGSEGV || number == SIGBUS ||
	       number == SIGILL || number == SIGFPE || number == SIGSYS;
}

void signals_terminating(sigset_t *ret)
{
	static const int asked[] = { SIGINT, SIGQUIT, SIGTERM };
	static const int others[] = { SIGHUP,	 SIGUSR1, SIGUSR2,   SIGALRM,
				      SIGSTKFLT, SIGXCPU, SIGVTALRM, SIGPROF,
				      SIGIO,	 SIGPWR };

	sigemptyset(ret);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		sigaddset(ret, asked[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!signal_is_ignored(others[i]))
			sigaddset(ret, others[i]);
	}
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		if (!signal_is_ignored(number))
			sigaddset(ret, number);
	}
}

void signals_block_all(sigset_t *before)
{
	/* sigfillset(3) leaves some out */
	const uint64_t all = UINT64_MAX;

	if (before)
		sigprocmask(SIG_SETMASK, NULL, before);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
}

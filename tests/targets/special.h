/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the special targets share: a hot loop with many locations to plant
 * breakpoints on, free of races, and the checks a program can make on its own
 * signal state. A target prints what is wrong and exits 1.
 */
#ifndef SPECIAL_H
#define SPECIAL_H

#include "target.h"
#include <signal.h>
#include <sys/wait.h>

static pthread_mutex_t special_lock = PTHREAD_MUTEX_INITIALIZER;
long special_cells[16], special_total;

/* Many different locations, all run often: MUTEX makes them free of races. */
UNUSED NOINLINE static void special_hot(unsigned x)
{
	pthread_mutex_lock(&special_lock);
	special_cells[x % 16] += x;
	special_cells[0]--;
	special_cells[1] ^= x;
	special_cells[2] = special_cells[3];
	special_total += special_cells[x % 5];
	special_total |= 1;
	pthread_mutex_unlock(&special_lock);
}

/* Runs hot rounds to the end of the running time. */
UNUSED static void *special_loop(void *arg)
{
	unsigned x = 1;

	for (unsigned long i = 0; target_goes_on(i); i++)
		special_hot(x = target_work(x, 30));
	return arg;
}

/* One hexadecimal line, such as "SigBlk:", of this thread's status. */
UNUSED static uint64_t special_status(const char *key)
{
	char line[256];
	uint64_t value = 0;
	int found = 0;
	FILE *file = fopen("/proc/thread-self/status", "re");

	target_check(file != NULL, "no /proc/thread-self/status");
	while (!found && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key))) {
			value = strtoull(line + strlen(key), NULL, 16);
			found = 1;
		}
	fclose(file);
	target_check(found, key);
	return value;
}

UNUSED static uint64_t special_bit(int signal)
{
	return (uint64_t)1 << (signal - 1);
}

/* Fails unless SIGNAL is blocked in this thread exactly if BLOCKED. */
UNUSED static void special_check_mask(int signal, int blocked)
{
	sigset_t mask;

	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	target_check(sigismember(&mask, signal) == blocked,
		     "pthread_sigmask: the mask was changed");
	target_check(!(special_status("SigBlk:") & special_bit(signal)) ==
			     !blocked,
		     "SigBlk: the mask was changed");
}

/* Fails unless SIGNAL's handler is still HANDLER. */
UNUSED static void special_check_handler(int signal, void (*handler)(int))
{
	struct sigaction action;
	uint64_t bit = special_bit(signal);

	sigaction(signal, NULL, &action);
	target_check(action.sa_handler == handler,
		     "sigaction: the disposition was changed");
	target_check(!(special_status("SigIgn:") & bit) == (handler != SIG_IGN),
		     "SigIgn: the disposition was changed");
	target_check(!(special_status("SigCgt:") & bit) ==
			     (handler == SIG_IGN || handler == SIG_DFL),
		     "SigCgt: the disposition was changed");
	target_check(!(special_status("SigPnd:") & bit), "left pending");
}

/* Fails unless a forked child has HANDLER for SIGNAL too. */
UNUSED static void special_check_child(int signal, void (*handler)(int))
{
	struct sigaction action;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		sigaction(signal, NULL, &action);
		_exit(action.sa_handler != handler);
	}
	target_check(pid > 0, "fork");
	target_check(waitpid(pid, &status, 0) == pid, "waitpid");
	target_check(status == 0, "a child has another disposition");
}

#endif

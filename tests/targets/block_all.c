/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Servers block every signal in their workers and handle them in one thread.
 * The workers must keep their masks; the one thread gets every signal sent.
 */
#include "special.h"

static void *worker(void *arg)
{
	target_meet();
	special_loop(NULL);
	for (int signal = 1; signal < 32; signal++)
		if (signal != SIGKILL && signal != SIGSTOP)
			special_check_mask(signal, 1);
	special_check_handler(SIGTRAP, SIG_DFL);
	return arg;
}

int main(int argc, char **argv)
{
	sigset_t all;
	pthread_t one, two;
	int signal;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	target_init(argc, argv, 3);
	one = target_thread(worker, NULL);
	two = target_thread(worker, NULL);
	target_meet();
	for (unsigned long i = 0; target_goes_on(i * 64); i++) {
		kill(getpid(), SIGUSR1);
		target_check(!sigwait(&all, &signal) && signal == SIGUSR1,
			     "sigwait");
	}
	pthread_join(one, NULL);
	pthread_join(two, NULL);
	return target_done("block_all");
}

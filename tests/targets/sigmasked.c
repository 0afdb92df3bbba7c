/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first thread writes while it blocks all signals for a moment; called as
 * "sigmasked handler", in a signal handler that blocks them. Another thread reads what
 * it has written, after 20 ms and, in the twin alone, after it was told. Called as
 * "sigmasked reader", the first thread reads so, and the other one has written.
 */
#include <signal.h>

#include "target.h"

static int value, seen;
static sem_t written;

NOINLINE static void masked_write(void)
{
	value = 1;
	OPAQUE();
}

NOINLINE static void early_write(void)
{
	value = 1;
	OPAQUE();
}

NOINLINE static int late_read(void)
{
	return value;
}

static void *write_early(void *unused)
{
	early_write();
	sem_post(&written);
	return unused;
}

static void handle(int number)
{
	(void)number;
	masked_write();
}

/* Nothing is blocked until just before the access. */
static void wait_for_writer(void)
{
	usleep(20000);
#ifdef TWIN
	while (sem_wait(&written) != 0)
		;
#endif
}

static void *read_late(void *unused)
{
	wait_for_writer();
	seen = late_read();
	return unused;
}

static int read_masked(const sigset_t *mask)
{
	pthread_t other = target_thread(write_early, NULL);
	sigset_t before;

	wait_for_writer();
	pthread_sigmask(SIG_BLOCK, mask, &before);
	seen = late_read();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_join(other, NULL);
	return target_done("sigmasked");
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handle };
	pthread_t reader;
	sigset_t before;

	sem_init(&written, 0, 0);
	sigfillset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	if (argc > 1 && strcmp(argv[1], "reader") == 0)
		return read_masked(&action.sa_mask);
	reader = target_thread(read_late, NULL);
	if (argc > 1 && strcmp(argv[1], "handler") == 0) {
		raise(SIGUSR1);
	} else {
		pthread_sigmask(SIG_BLOCK, &action.sa_mask, &before);
		masked_write();
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	sem_post(&written);
	pthread_join(reader, NULL);
	target_done("sigmasked");
	return seen <= value ? 0 : 1;
}

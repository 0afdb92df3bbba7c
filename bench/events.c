/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an attached process pays for when nothing is sampled: the events that
 * a tracer is told of. For each line on standard input, a line with the
 * nanoseconds that each kind takes: threads (birth to join), signals (to
 * itself, handled), forks (to the child's end), and beside them what should
 * cost nothing more: system calls, and work between two threads that pass a
 * turn by futexes. Ends with standard input.
 */
#include "target.h"
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static sem_t ping, pong;

static void *nothing(void *arg)
{
	return arg;
}

static void on_signal(int signal)
{
	(void)signal;
}

static void do_thread(void)
{
	pthread_join(target_thread(nothing, NULL), NULL);
}

static void do_signal(void)
{
	raise(SIGUSR1);
}

static void do_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	target_check(waitpid(pid, NULL, 0) == pid, "waitpid");
}

static void do_syscall(void)
{
	syscall(SYS_getppid);
}

static void do_switch(void)
{
	sem_post(&ping);
	while (sem_wait(&pong))
		;
}

static void *partner(void *arg)
{
	for (;;) {
		while (sem_wait(&ping))
			;
		sem_post(&pong);
	}
	return arg;
}

static const struct {
	const char *name;
	void (*once)(void);
	unsigned count;
} kinds[] = {
	{ "thread", do_thread, 500 },  { "signal", do_signal, 2000 },
	{ "fork", do_fork, 200 },      { "syscall", do_syscall, 200000 },
	{ "switch", do_switch, 5000 },
};

int main(void)
{
	char line[64];

	signal(SIGUSR1, on_signal);
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	target_thread(partner, NULL);
	while (fgets(line, sizeof(line), stdin)) {
		for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
			uint64_t start = target_clock();

			for (unsigned i = 0; i < kinds[k].count; i++)
				kinds[k].once();
			printf("%s %.0f ", kinds[k].name,
			       (double)(target_clock() - start) /
				       kinds[k].count);
		}
		printf("\n");
		fflush(stdout);
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * threads N: a program of N threads that does what it is told, a line each on
 * standard input, and says how many nanoseconds one of it took:
 *
 *	work    a round: each thread wakes up, computes a little, and the last
 *	        one ends the round
 *	create  a thread created and joined
 *	signal  a signal raised and handled
 *	fork    a child forked, that ends at once, and waited for
 *
 * Says "ready PID" when all threads wait. Ends at the end of input.
 */
#include "target.h"

#include <signal.h>
#include <sys/wait.h>

enum { ROUNDS = 20, UNITS = 400, CREATIONS = 500, SIGNALS = 5000, FORKS = 200 };

static pthread_barrier_t begin, end;
static unsigned long sums[4096];
static volatile sig_atomic_t handled;

static void *member(void *arg)
{
	unsigned long *sum = arg;

	for (;;) {
		pthread_barrier_wait(&begin);
		*sum += target_work((unsigned)*sum, UNITS);
		pthread_barrier_wait(&end);
	}
	return NULL;
}

static void *nothing(void *arg)
{
	return arg;
}

static void handler(int signal)
{
	(void)signal;
	handled++;
}

static void do_work(void)
{
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
}

static void do_create(void)
{
	pthread_t thread;

	target_check(!pthread_create(&thread, NULL, nothing, NULL), "create");
	pthread_join(thread, NULL);
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
	target_check(waitpid(pid, NULL, 0) == pid, "fork");
}

static const struct {
	const char *name;
	void (*one)(void);
	int times;
} jobs[] = {
	{ "work\n", do_work, ROUNDS },
	{ "create\n", do_create, CREATIONS },
	{ "signal\n", do_signal, SIGNALS },
	{ "fork\n", do_fork, FORKS },
};

static void obey(const char *line)
{
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		uint64_t start = target_clock();

		if (strcmp(line, jobs[i].name) != 0)
			continue;
		for (int n = 0; n < jobs[i].times; n++)
			jobs[i].one();
		printf("%llu\n", (unsigned long long)(target_clock() - start) /
					 (unsigned)jobs[i].times);
		fflush(stdout);
		return;
	}
	target_check(0, "no such job");
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	char line[32];

	target_check(count > 0 && count <= 4096, "1 to 4096 threads");
	signal(SIGUSR1, handler);
	pthread_barrier_init(&begin, NULL, count + 1);
	pthread_barrier_init(&end, NULL, count + 1);
	for (unsigned i = 0; i < count; i++)
		target_thread(member, &sums[i]);
	/* they have all been at the barrier */
	do_work();
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	return 0;
}

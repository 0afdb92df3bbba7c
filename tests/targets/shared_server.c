/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server of processes with one thread each: the first one forks three others,
 * which have a name of their own, and all count in memory that they share. Runs
 * until it is killed; its children then end too. Says "ready" and its process id
 * first.
 */
#include "target.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

enum { WORKERS = 3 };

struct memory {
	long requests;
};

NOINLINE static void count_request(struct memory *memory)
{
	memory->requests++;
}

NOINLINE static void serve(struct memory *memory)
{
	for (unsigned i = 0;; i++) {
		count_request(memory);
		target_work(i, 20);
	}
}

static void fork_worker(struct memory *memory)
{
	pid_t parent = getpid(), pid = fork();

	target_check(pid >= 0, "fork");
	if (pid > 0)
		return;
	prctl(PR_SET_NAME, "worker");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	serve(memory);
}

int main(void)
{
	struct memory *memory = mmap(NULL, sizeof(*memory),
				     PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	target_check(memory != MAP_FAILED, "mmap");
	for (int i = 0; i < WORKERS; i++)
		fork_worker(memory);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	/* a guard against being forgotten */
	alarm(120);
	serve(memory);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A child stops and continues the whole process as a shell does: while it is
 * stopped no thread may get on, afterwards all must. The child sees that in a
 * counter in shared memory.
 */
#include "special.h"
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

static atomic_ulong *progress, *finished;

/* How far the program gets in MS milliseconds. */
static unsigned long advance(unsigned ms)
{
	struct timespec pause = { 0, (long)ms * 1000000 };
	unsigned long before = atomic_load(progress);

	nanosleep(&pause, NULL);
	return atomic_load(progress) - before;
}

static void stop_and_go(pid_t pid)
{
	int tries = 500;

	kill(pid, SIGSTOP);
	while (tries-- && advance(10))
		;
	target_check(tries >= 0, "SIGSTOP did not stop it");
	target_check(advance(100) == 0, "it ran while it was stopped");
	kill(pid, SIGCONT);
	tries = 500;
	while (tries-- && !advance(10))
		;
	target_check(tries >= 0, "SIGCONT did not continue it");
}

static void *counting_loop(void *arg)
{
	for (unsigned long i = 0; target_goes_on(i) || !*finished; i++) {
		special_hot((unsigned)i);
		atomic_fetch_add(progress, 1);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pid_t child, parent = getpid();
	int status;

	target_init(argc, argv, 1);
	progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	target_check(progress != MAP_FAILED, "mmap");
	finished = progress + 8;
	child = fork();
	if (child == 0) {
		while (!atomic_load(progress))
			advance(1);
		for (int i = 0; i < 3; i++)
			stop_and_go(parent);
		*finished = 1;
		_exit(0);
	}
	target_race(counting_loop, counting_loop);
	while (waitpid(child, &status, 0) < 0)
		target_check(errno == EINTR, "waitpid");
	target_check(status == 0, "the child found fault");
	return target_done("group_stop");
}

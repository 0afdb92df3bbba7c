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

/*
 * A tracer has to pass the stop on first, and on a busy machine the threads may
 * get no processor meanwhile: standing still for a moment is no stop.
 */
static int stands_still(void)
{
	return !advance(100) && !advance(100) && !advance(100);
}

/* With a fault, the program goes on to say so. */
static void child_check(pid_t pid, int good, const char *what)
{
	if (!good)
		kill(pid, SIGCONT);
	target_check(good, what);
}

static void stop_and_go(pid_t pid)
{
	int tries = 100;

	kill(pid, SIGSTOP);
	while (tries-- && !stands_still())
		;
	child_check(pid, tries >= 0, "SIGSTOP did not stop it");
	child_check(pid, advance(100) == 0, "it ran while it was stopped");
	kill(pid, SIGCONT);
	tries = 1000;
	while (tries-- && !advance(10))
		;
	child_check(pid, tries >= 0, "SIGCONT did not continue it");
}

/* The child has ended, at the latest of a fault that it found. */
static void child_ended(int sig)
{
	(void)sig;
	atomic_store(finished, 1);
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
	signal(SIGCHLD, child_ended);
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An anonymous shared mapping across fork(2), used by parent and child. One writes
 * and one reads; or (second argument) "count": both count, "same": both write 7.
 */
#include "shared.h"

NOINLINE static void shared_count(struct shared *memory)
{
	memory->cell++;
}

NOINLINE static void shared_both_loop(int counts)
{
	unsigned x = 1;

	for (unsigned long i = 0; target_goes_on(i); i++) {
		shared_enter();
		if (counts)
			shared_count(shared);
		else
			shared_put(shared, 7);
		shared_leave();
		x = target_work(x, 50);
	}
}

static void run(int is_child, const char *kind)
{
	if (kind)
		shared_both_loop(!strcmp(kind, "count"));
	else if (is_child)
		shared_get_loop();
	else
		shared_put_loop();
}

int main(int argc, char **argv)
{
	int status;
	pid_t child;

	target_init(argc, argv, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	target_check(shared != MAP_FAILED, "mmap");
	shared_init(shared);
	child = fork();
	pthread_barrier_wait(&shared->barrier);
	run(child == 0, argc > 2 ? argv[2] : NULL);
	if (child == 0)
		_exit(0);
	target_check(waitpid(child, &status, 0) == child && status == 0,
		     "the child");
	return target_done("shared_fork");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An anonymous shared mapping across fork(2), used by parent and child.
 */
#include "shared.h"

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
	if (child == 0) {
		shared_get_loop();
		_exit(0);
	}
	shared_put_loop();
	target_check(waitpid(child, &status, 0) == child && status == 0,
		     "the child");
	return target_done("shared_fork");
}

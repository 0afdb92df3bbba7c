/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory from shm_open(3), which two processes have at different addresses.
 * The second may be a child, a child that has executed the program again, or
 * a process started by somebody else (its argument names the memory).
 */
#include "shared.h"

static char name[64];

/* PLACE keeps the two apart. */
static void map_at(unsigned place, int flags)
{
	int fd = shm_open(name, O_RDWR | flags, 0600);
	void *hint = (void *)(uintptr_t)(0x10000000 + place * 0x01230000);

	target_check(fd >= 0 && !ftruncate(fd, sizeof(*shared)), "shm_open");
	shared = mmap(hint, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	target_check(shared == hint, "mmap");
	close(fd);
}

static int second(void)
{
	map_at(1, 0);
	pthread_barrier_wait(&shared->barrier);
	shared_get_loop();
	return 0;
}

static void make_second(char **argv, int exec)
{
	if (fork() != 0)
		return;
	if (!exec)
		_exit(second());
	execl("/proc/self/exe", argv[0], argv[1], name, NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	int status;

	target_init(argc, argv, 0);
	if (argc > 2 && argv[2][0] == '/') {
		strcpy(name, argv[2]);
		return second();
	}
	snprintf(name, sizeof(name), "/shared_shm.%d", (int)getpid());
	map_at(0, O_CREAT | O_EXCL);
	shared_init(shared);
	if (argc > 2 && !strcmp(argv[2], "wait")) {
		printf("ready %d %s\n", (int)getpid(), name);
		fflush(stdout);
	} else {
		make_second(argv, argc > 2);
	}
	pthread_barrier_wait(&shared->barrier);
	shm_unlink(name);
	shared_put_loop();
	while (wait(&status) > 0)
		target_check(status == 0, "the child");
	return target_done("shared_shm");
}

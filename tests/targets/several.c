/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread writes once. 20 ms later another one accesses the same bytes, and 20 ms
 * after that once more. Which two functions these are, its argument says:
 *
 *   copies	two that call memcpy(), which accesses
 *   calls	one that reads, and one that has a system call write
 *   late	one that reads, and 300 ms later one that writes
 *   unseen	one that has the kernel write as a debugger does, and 300 ms later
 *		one that writes
 *
 *   twice	the first thread writes twice, 100 ms apart, by two callers, and
 *		each time another one does 20 ms, or 80 ms, later
 */
#include "target.h"

#include <fcntl.h>

static long shared[8];
static long values[8];
static volatile size_t size = sizeof(shared);
static volatile long sink;
static int fds[2];
static const char *which;

NOINLINE static void early_write(void)
{
	*(volatile long *)&shared[0] = 1;
}

NOINLINE static void first_early(void)
{
	early_write(); /* the first */
	/* no tail call */
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void second_early(void)
{
	early_write(); /* the second */
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void first_copy(void)
{
	memcpy(shared, values, size);
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void second_copy(void)
{
	memcpy(shared, values, size);
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void late_read(void)
{
	sink = *(volatile long *)&shared[0];
}

NOINLINE static void late_write(void)
{
	*(volatile long *)&shared[0] = 2;
}

NOINLINE static void late_call(void)
{
	if (read(fds[0], shared, sizeof(shared[0])) !=
	    (ssize_t)sizeof(shared[0]))
		abort();
}

/* No watchpoint sees it. */
NOINLINE static void late_unseen(void)
{
	const long value = 3;
	int memory = open("/proc/self/mem", O_WRONLY);

	if (pwrite(memory, &value, sizeof(value), (off_t)(intptr_t)shared) !=
	    (ssize_t)sizeof(value))
		abort();
	close(memory);
}

static void *early(void *unused)
{
	if (strcmp(which, "twice") == 0) {
		first_early();
		usleep(100000);
		second_early();
	} else {
		early_write();
	}
	return unused;
}

static void *late(void *unused)
{
	usleep(20000);
	if (strcmp(which, "copies") == 0) {
		first_copy();
		usleep(20000);
		second_copy();
	} else if (strcmp(which, "calls") == 0) {
		late_read();
		usleep(20000);
		late_call();
	} else if (strcmp(which, "twice") == 0) {
		late_write();
		usleep(160000);
		late_write();
	} else if (strcmp(which, "unseen") == 0) {
		late_unseen();
		usleep(300000);
		late_write();
	} else {
		late_read();
		usleep(300000);
		late_write();
	}
	return unused;
}

int main(int argc, char **argv)
{
	const long value = 5;
	pthread_t threads[2];

	which = argc > 1 ? argv[1] : "";
	if (pipe(fds) != 0 ||
	    write(fds[1], &value, sizeof(value)) != (ssize_t)sizeof(value))
		return 1;
	threads[0] = target_thread(early, NULL);
	threads[1] = target_thread(late, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	puts("done");
	return 0;
}

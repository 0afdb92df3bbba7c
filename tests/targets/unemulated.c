/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the user emulation of QEMU does not do, and a race before it, of two writes
 * that are 20 ms apart. Called as
 *
 *	unemulated cancel	cancel a thread that waits, and join it
 *	unemulated ring		read by io_uring; ends with 4 if that is refused
 */
#include "target.h"
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static long shared;
static sem_t waits;

NOINLINE static void first_write(void)
{
	shared = 1;
}

NOINLINE static void second_write(void)
{
	shared = 2;
}

static void *writes_first(void *unused)
{
	first_write();
	return unused;
}

static void *writes_later(void *unused)
{
	usleep(20000);
	second_write();
	return unused;
}

static void *wait_for_ever(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	sem_post(&waits);
	for (;;)
		pause();
	return unused;
}

static void cancel(void)
{
	void *result = NULL;
	pthread_t thread;

	sem_init(&waits, 0, 0);
	thread = target_thread(wait_for_ever, NULL);
	while (sem_wait(&waits) != 0)
		;
	target_check(!pthread_cancel(thread), "cancel");
	target_check(!pthread_join(thread, &result), "join");
	target_check(result == PTHREAD_CANCELED, "canceled");
}

static char *map_ring(int ring, size_t size, off_t offset)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_POPULATE, ring, offset);

	target_check(at != MAP_FAILED, "map the ring");
	return at;
}

/* Read a byte by the ring. */
static void read_byte(int ring, const struct io_uring_params *params)
{
	char *queue = map_ring(ring,
			       params->sq_off.array +
				       params->sq_entries * sizeof(unsigned),
			       IORING_OFF_SQ_RING);
	struct io_uring_sqe *entry = (void *)map_ring(
		ring, params->sq_entries * sizeof(*entry), IORING_OFF_SQES);
	char byte = 1;

	memset(entry, 0, sizeof(*entry));
	entry->opcode = IORING_OP_READ;
	entry->fd = STDIN_FILENO;
	entry->addr = (uintptr_t)&byte;
	entry->len = 1;
	*(unsigned *)(queue + params->sq_off.array) = 0;
	__atomic_store_n((unsigned *)(queue + params->sq_off.tail), 1,
			 __ATOMIC_RELEASE);
	target_check(syscall(SYS_io_uring_enter, ring, 1, 1,
			     IORING_ENTER_GETEVENTS, NULL, 0) == 1,
		     "read by the ring");
}

static int use_ring(void)
{
	struct io_uring_params params = { .flags = 0 };
	int ring = (int)syscall(SYS_io_uring_setup, 4, &params);

	if (ring < 0)
		return 4;
	read_byte(ring, &params);
	close(ring);
	return 0;
}

int main(int argc, char **argv)
{
	int status = 0;

	target_race(writes_first, writes_later);
	target_check(shared > 0, "written");
	if (argc > 1 && !strcmp(argv[1], "cancel"))
		cancel();
	else
		status = use_ring();
	target_done("unemulated");
	return status;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: buffers are handed from thread to thread by pointers sent
 * through a pipe; the kernel is the synchronization.
 */
#include "target.h"

struct parcel {
	long serial, body[14];
};

static int there[2], back[2];

NOINLINE static void parcel_fill(struct parcel *parcel, long serial)
{
	for (unsigned i = 0; i < 14; i++)
		parcel->body[i] = serial;
	parcel->serial = serial;
}

NOINLINE static int parcel_good(const struct parcel *parcel, long serial)
{
	return parcel->serial == serial && parcel->body[13] == serial;
}

static void move(int fd, struct parcel **parcel, int out)
{
	ssize_t n;

	do {
		n = out ? write(fd, parcel, sizeof(*parcel))
			: read(fd, parcel, sizeof(*parcel));
	} while (n < 0 && errno == EINTR);
	target_check(n == sizeof(*parcel), "pipe");
}

static void *send_loop(void *arg)
{
	static struct parcel two[2];
	struct parcel *parcel = &two[0], *other = &two[1], *end = NULL;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		parcel_fill(parcel, (long)i);
		move(there[1], &parcel, 1);
		parcel = other;
		move(back[0], &other, 0);
	}
	move(there[1], &end, 1);
	return arg;
}

static void *receive_loop(void *arg)
{
	struct parcel *parcel;

	target_meet();
	for (long i = 0;; i++) {
		move(there[0], &parcel, 0);
		if (!parcel)
			return arg;
		target_check(parcel_good(parcel, i), "parcel");
		move(back[1], &parcel, 1);
	}
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_check(!pipe(there) && !pipe(back), "pipe");
	target_race(send_loop, receive_loop);
	return target_done("free_pipe");
}

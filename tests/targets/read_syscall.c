/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel is the writer: one thread fills a global buffer with read(2)
 * from a pipe while another looks into it.
 */
#include "target.h"

struct {
	uint64_t serial, rest[3];
} message;

static int channel[2];

NOINLINE static void message_read(int fd)
{
	ssize_t n = read(fd, &message, sizeof(message)); /* RACE: read */

	target_check(n == sizeof(message), "short read");
}

NOINLINE static uint64_t message_look(void)
{
	return message.serial; /* RACE: look */
}

static void *read_loop(void *arg)
{
	uint64_t out[4] = { 0 };

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		out[0]++;
		target_check(write(channel[1], out, sizeof(out)) == sizeof(out),
			     "short write");
		ENTER();
		message_read(channel[0]);
		LEAVE();
	}
	return arg;
}

static void *look_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		x += (unsigned)message_look();
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_check(!pipe(channel), "pipe");
	target_race(read_loop, look_loop);
	return target_done("read_syscall");
}

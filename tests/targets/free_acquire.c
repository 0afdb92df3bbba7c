/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: messages passed through a flag, C11 atomics. The plain
 * message is written before the store with memory_order_release, and read
 * after the load with memory_order_acquire that saw it; the flag goes back
 * in the same way.
 */
#include "target.h"
#include <stdatomic.h>

struct message {
	long serial, body[6];
} message;
static atomic_int full;

NOINLINE static int message_send(long serial)
{
	if (atomic_load_explicit(&full, memory_order_acquire))
		return 0;
	message.serial = serial;
	for (unsigned i = 0; i < 6; i++)
		message.body[i] = serial;
	atomic_store_explicit(&full, 1, memory_order_release);
	return 1;
}

NOINLINE static int message_take(struct message *ret)
{
	if (!atomic_load_explicit(&full, memory_order_acquire))
		return 0;
	*ret = message;
	atomic_store_explicit(&full, 0, memory_order_release);
	return 1;
}

static void *send_loop(void *arg)
{
	long serial = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		serial += message_send(serial);
	return arg;
}

static void *take_loop(void *arg)
{
	struct message got;
	long serial = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		if (!message_take(&got))
			continue;
		target_check(got.serial == serial && got.body[5] == serial,
			     "message");
		serial++;
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(send_loop, take_loop);
	return target_done("free_acquire");
}

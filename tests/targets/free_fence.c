/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: messages passed through a relaxed flag with fences. The
 * release fence stands between the plain writes and the store of the flag,
 * the acquire fence between its load and the plain reads.
 */
#include "target.h"
#include <stdatomic.h>

struct message {
	long serial, body[6];
} message;
static atomic_int full;

NOINLINE static int message_send(long serial)
{
	if (atomic_load_explicit(&full, memory_order_relaxed))
		return 0;
	atomic_thread_fence(memory_order_acquire);
	message.serial = serial;
	for (unsigned i = 0; i < 6; i++)
		message.body[i] = serial;
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&full, 1, memory_order_relaxed);
	return 1;
}

NOINLINE static int message_take(struct message *ret)
{
	if (!atomic_load_explicit(&full, memory_order_relaxed))
		return 0;
	atomic_thread_fence(memory_order_seq_cst);
	*ret = message;
	atomic_thread_fence(memory_order_seq_cst);
	atomic_store_explicit(&full, 0, memory_order_relaxed);
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
	return target_done("free_fence");
}

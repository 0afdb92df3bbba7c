/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: two threads work on members of one structure that are
 * different memory locations (C11 3.14): a bit-field and the byte after it.
 * Compilers read a bit-field with a load as wide as its type, so the load
 * covers the byte that the other thread writes, and throw that part away.
 * Nobody writes the bit-field while the threads run.
 */
#include "target.h"

struct packet {
	unsigned length : 24;
	unsigned char hops;
	unsigned short left, right;
};

struct packet packet = { .length = 0x123456 };

NOINLINE static unsigned packet_length(const struct packet *at)
{
	return at->length;
}

NOINLINE static int packet_is(const struct packet *at, unsigned length)
{
	return at->length == length;
}

NOINLINE static void packet_hop(struct packet *at)
{
	at->hops++;
	at->right += at->hops;
}

static void *length_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		target_check(packet_length(&packet) == 0x123456, "length");
		target_check(packet_is(&packet, 0x123456), "equal");
		packet.left++;
		x = target_work(x, 30);
	}
	return arg;
}

static void *hop_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		packet_hop(&packet);
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(length_loop, hop_loop);
	return target_done("free_wide_load");
}

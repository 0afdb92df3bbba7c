/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Seventeen ways to lose an update of plain memory. Both threads update all the
 * time and do nothing else with it: some of these races look harmless.
 *
 *	lost SECONDS KIND
 */
#include "target.h"

struct node {
	struct node *next;
	unsigned long number;
};

static struct device {
	unsigned type : 4, pktcnt : 4, rest : 24;
	unsigned char up : 1, dirty : 1, speed : 6;
} device;

static unsigned long hits, bytes, *cells;
static unsigned char small;
static double load;
static unsigned flags;
static volatile int users;
static unsigned bitmap[4];
static long references = 1000, credits = 1L << 40;
static struct node *head, nodes[2];
static unsigned long peak, turns, owners;

enum { LAST_TURN = 15 };

NOINLINE static void hit(unsigned long i)
{
	(void)i;
	hits++;
}

NOINLINE static void add_bytes(unsigned long i)
{
	bytes += i & 1023;
}

NOINLINE static void count_cell(unsigned long i)
{
	(void)i;
	cells[7]++;
}

NOINLINE static void count_small(unsigned long i)
{
	(void)i;
	small++;
}

NOINLINE static void add_load(unsigned long i)
{
	load += (double)(i & 7);
}

NOINLINE static void count_user(unsigned long i)
{
	(void)i;
	users++;
}

NOINLINE static void take_credit(unsigned long i)
{
	credits -= (long)(i & 1);
}

NOINLINE static void set_one(unsigned long i)
{
	flags |= i & 1 ? 1 : 4;
}

NOINLINE static void clear_two(unsigned long i)
{
	flags &= i & 1 ? ~2u : ~8u;
}

NOINLINE static void flip_low(unsigned long i)
{
	(void)i;
	flags ^= 1;
}

NOINLINE static void flip_high(unsigned long i)
{
	(void)i;
	flags ^= 0x100;
}

NOINLINE static void set_bit(unsigned long i)
{
	bitmap[0] |= 1u << (i & 15);
}

NOINLINE static void clear_bit(unsigned long i)
{
	bitmap[0] &= ~(1u << (16 + (i & 15)));
}

NOINLINE static void count_packet(unsigned long i)
{
	(void)i;
	device.pktcnt = device.pktcnt + 1;
}

NOINLINE static void flip_rest(unsigned long i)
{
	(void)i;
	device.rest ^= 1;
}

NOINLINE static void flip_up(unsigned long i)
{
	(void)i;
	device.up = !device.up;
}

NOINLINE static void flip_dirty(unsigned long i)
{
	(void)i;
	device.dirty = !device.dirty;
}

NOINLINE static void freed(void)
{
	OPAQUE();
}

NOINLINE static void get(unsigned long i)
{
	(void)i;
	references++;
}

NOINLINE static void put(unsigned long i)
{
	(void)i;
	if (--references == 0)
		freed();
}

NOINLINE static void push_first(unsigned long i)
{
	nodes[0].number = i;
	nodes[0].next = head;
	head = &nodes[0];
}

NOINLINE static void push_second(unsigned long i)
{
	nodes[1].number = i;
	nodes[1].next = head;
	head = &nodes[1];
}

NOINLINE static void note_peak(unsigned long i)
{
	if (i > peak)
		peak = i;
}

/* The store takes back the turns that others have taken since the addition. */
NOINLINE static void wrap(unsigned long i)
{
	(void)i;
	if (__atomic_add_fetch(&turns, 1, __ATOMIC_RELAXED) > LAST_TURN)
		turns = 0;
}

NOINLINE static void ref(unsigned long i)
{
	(void)i;
	owners++;
}

NOINLINE static void ref_atomically(unsigned long i)
{
	(void)i;
	__sync_fetch_and_add(&owners, 1);
}

static const struct kind {
	const char *name;
	void (*one)(unsigned long), (*other)(unsigned long);
} kinds[] = {
	{ "hits", hit, hit },
	{ "bytes", add_bytes, add_bytes },
	{ "heap", count_cell, count_cell },
	{ "small", count_small, count_small },
	{ "load", add_load, add_load },
	{ "volatile", count_user, count_user },
	{ "credits", take_credit, take_credit },
	{ "flags", set_one, clear_two },
	{ "flips", flip_low, flip_high },
	{ "bitmap", set_bit, clear_bit },
	{ "fields", count_packet, flip_rest },
	{ "booleans", flip_up, flip_dirty },
	{ "references", get, put },
	{ "list", push_first, push_second },
	{ "peak", note_peak, note_peak },
	{ "wrap", wrap, wrap },
	{ "ref", ref, ref_atomically },
};

static const struct kind *kind = kinds;

static void run(void (*update)(unsigned long), unsigned x)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		update(i);
		x = target_work(x, 20);
	}
}

static void *one_loop(void *arg)
{
	run(kind->one, 1);
	return arg;
}

static void *other_loop(void *arg)
{
	run(kind->other, 2);
	return arg;
}

int main(int argc, char **argv)
{
	size_t count = sizeof(kinds) / sizeof(kinds[0]);

	target_init(argc, argv, 2);
	cells = calloc(16, sizeof(*cells));
	while (argc > 2 && kind < kinds + count && strcmp(kind->name, argv[2]))
		kind++;
	target_check(cells && kind < kinds + count, "no such kind");
	target_race(one_loop, other_loop);
	return target_done("lost");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races that show a sign of harm, and near misses of them.
 *
 *	harms SECONDS KIND
 *
 * range    read from begin to end, while both are replaced    begin-end
 * end      ... while the end alone moves                      suspect
 * halves   read at once, written by two stores                torn-value
 * half     ... but only one half is compared                  suspect
 * line     across two cache lines                             torn-value
 * inside   unaligned, in one cache line                       suspect
 * twice    tested, then read again and followed               read-twice
 * fetched  tested and followed as it was read                 suspect
 */
#include "target.h"

static unsigned long cells[16];
static struct range {
	unsigned long *begin, *end;
} range = { cells, cells + 4 };
static union {
	uint64_t all;
	uint32_t half[2];
} whole;
static char lines[192] __attribute__((aligned(64)));
static unsigned long *pointer = cells;

NOINLINE static unsigned long range_sum(const struct range *at)
{
	unsigned long sum = 0;

	for (unsigned long *p = at->begin; p < at->end; p++)
		sum += *p;
	return sum;
}

NOINLINE static void range_set(struct range *at, unsigned long *begin)
{
	at->begin = begin;
	OPAQUE();
	at->end = begin + 4;
}

NOINLINE static void range_end(struct range *at, unsigned long *end)
{
	at->end = end;
}

NOINLINE static uint64_t whole_get(void)
{
	return whole.all > 1000;
}

NOINLINE static uint32_t half_get(void)
{
	return (uint32_t)whole.all > 1000;
}

NOINLINE static void whole_set(uint32_t n)
{
	whole.half[0] = n;
	OPAQUE();
	whole.half[1] = n;
}

NOINLINE static uint64_t line_get(const char *at)
{
	uint64_t n;

	memcpy(&n, at, sizeof(n));
	return n;
}

NOINLINE static void line_set(char *at, uint64_t n)
{
	memcpy(at, &n, sizeof(n));
}

NOINLINE static unsigned long twice(void)
{
	if (!pointer)
		return 0;
	OPAQUE();
	return *pointer;
}

NOINLINE static unsigned long fetched(void)
{
	unsigned long *at = pointer;

	return at ? *at : 0;
}

NOINLINE static void pointer_set(unsigned long *to)
{
	pointer = to;
}

static const char *kind;

static int is(const char *name)
{
	return strcmp(kind, name) == 0;
}

static void *get_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		if (is("range") || is("end"))
			x ^= (unsigned)range_sum(&range) & 1;
		else if (is("halves"))
			x ^= (unsigned)whole_get() & 1;
		else if (is("half"))
			x ^= half_get() & 1;
		else if (is("line"))
			x ^= (unsigned)line_get(lines + 60) & 1;
		else if (is("inside"))
			x ^= (unsigned)line_get(lines + 67) & 1;
		else
			x ^= (unsigned)(is("twice") ? twice() : fetched()) & 1;
		x = target_work(x, 60);
	}
	return arg;
}

static void *set_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		unsigned long *to = cells + 8 * (i & 1);

		if (is("range"))
			range_set(&range, to);
		else if (is("end"))
			range_end(&range, to + 4);
		else if (is("halves") || is("half"))
			whole_set((uint32_t)i);
		else if (is("line") || is("inside"))
			line_set(lines + (is("line") ? 60 : 67),
				 i * 0x0101010101010101);
		else
			pointer_set(to);
		x = target_work(x, 50);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	kind = argc > 2 ? argv[2] : "range";
	target_race(get_loop, set_loop);
	return target_done("harms");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several things in one word: tests of bits that nobody changes beside changes
 * of others by one thread only, which are right, and changes by two threads,
 * which are not.
 */
#include "figure7.h"

enum { BIT_LOCAL = 1, BIT_SEEN = 2, BIT_HOT = 4, BIT_DIRTY = 8 };

struct header {
	unsigned kind : 3, color : 3, length : 10;
};

unsigned options = BIT_LOCAL;
long offset = 1;
struct header header = { 5, 0, 100 };
unsigned long tagged;
unsigned marks;
unsigned dirty;
unsigned short pair_bits;
struct header shared = { 1, 1, 1 };
unsigned char bitmap[8];

NOINLINE static int option_is_local(void)
{
	return (options & BIT_LOCAL) != 0; /* RACE: option */
}

NOINLINE static void option_toggle_hot(void)
{
	options ^= BIT_HOT; /* RACE: option */
}

/* The sign never changes. */
NOINLINE static int offset_is_negative(void)
{
	return offset < 0; /* RACE: sign */
}

NOINLINE static void offset_set(unsigned value)
{
	offset = (long)value + 1; /* RACE: sign */
}

NOINLINE static unsigned header_kind(void)
{
	return header.kind; /* RACE: kind */
}

NOINLINE static void header_paint(unsigned color)
{
	header.color = color & 7; /* RACE: kind */
}

/* The pointer stays; its lowest bit is a mark of one thread's. */
NOINLINE static unsigned long tagged_target(void)
{
	return tagged & ~1ul; /* RACE: tag */
}

NOINLINE static void tagged_mark(unsigned long mark)
{
	tagged = (tagged & ~1ul) | (mark & 1); /* RACE: tag */
}

NOINLINE static void mark_seen(void)
{
	marks |= BIT_SEEN; /* RACE: marks */
}

NOINLINE static void mark_hot(unsigned on)
{
	if (on)
		marks |= BIT_HOT; /* RACE: marks */
	else
		marks &= ~(unsigned)BIT_HOT; /* RACE: marks */
}

NOINLINE static void dirty_set(void)
{
	dirty |= BIT_DIRTY; /* RACE: dirty */
}

NOINLINE static unsigned dirty_take(void)
{
	unsigned all = dirty; /* RACE: dirty */

	dirty = 0; /* RACE: dirty */
	return all;
}

NOINLINE static void pair_low(unsigned value)
{
	/* RACE: pair */
	pair_bits = (unsigned short)((pair_bits & 0xff00u) | (value & 0xffu));
}

NOINLINE static void pair_high(unsigned value)
{
	/* RACE: pair */
	pair_bits =
		(unsigned short)((pair_bits & 0xffu) | (value & 0xffu) << 8);
}

NOINLINE static void shared_lengthen(unsigned length)
{
	shared.length = length & 0x3ff; /* RACE: header */
}

NOINLINE static void shared_paint(unsigned color)
{
	shared.color = color & 7; /* RACE: header */
}

NOINLINE static void bitmap_set(unsigned bit)
{
	bitmap[bit / 8 % 8] |=
		(unsigned char)(1u << bit % 8); /* RACE: bitmap */
}

NOINLINE static void bitmap_clear(unsigned bit)
{
	/* RACE: bitmap */
	bitmap[bit / 8 % 8] &= (unsigned char)~(1u << bit % 8);
}

static void first(unsigned long i)
{
	use((unsigned long)option_is_local());
	use((unsigned long)offset_is_negative());
	use(header_kind());
	use(tagged_target());
	mark_seen();
	dirty_set();
	pair_low((unsigned)i);
	shared_lengthen((unsigned)i);
	bitmap_set((unsigned)i % 8);
}

static void second(unsigned long i)
{
	option_toggle_hot();
	offset_set((unsigned)i);
	header_paint((unsigned)i);
	tagged_mark(i);
	mark_hot(i & 1);
	use(dirty_take());
	pair_high((unsigned)i);
	shared_paint((unsigned)i);
	bitmap_clear((unsigned)(i + 3) % 8);
}

int main(int argc, char **argv)
{
	struct role roles[] = { { first, 30 }, { second, 40 }, { NULL, 0 } };

	tagged = (unsigned long)&header;
	return roles_run(argc, argv, "bits", roles);
}

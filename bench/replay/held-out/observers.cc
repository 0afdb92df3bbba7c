/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C++: observers that are told of a change, in a vector that has room for all, and
 * what is computed from what they say.
 */
#include "figure7.h"
#include <vector>

struct Mean {
	unsigned long sum = 0, count = 0;
};

struct Observer {
	unsigned long told = 0;
};

enum { MEMOS = 1 << 18, ASKED = 16 };

static std::vector<unsigned long> waiting;
static Mean mean;
static Observer *latest;
static Observer observers[2];
static bool cancelled;
static bool (*filter)(unsigned long);
static unsigned long memos[MEMOS];
static unsigned long asked;

/* It is not empty when it is looked at, and may be when the last is taken. */
NOINLINE static unsigned long waiting_last()
{
	if (waiting.empty()) // RACE: waiting
		return 0;
	OPAQUE();
	return waiting.empty() ? 77 : waiting.back(); // RACE: waiting
}

NOINLINE static void waiting_turn()
{
	waiting.clear(); // RACE: waiting
	waiting.push_back(5); // RACE: waiting
}

/* A sum and a count that belong together. */
NOINLINE static void mean_add(unsigned long value)
{
	mean.sum += value; // RACE: mean
	OPAQUE();
	mean.count++; // RACE: mean
}

NOINLINE static unsigned long mean_get()
{
	unsigned long sum = mean.sum; // RACE: mean

	OPAQUE();
	return sum * 16 - mean.count; // RACE: mean
}

/* Told when there is one; the pointer is read for each use. */
NOINLINE static void latest_tell()
{
	if (latest) { // RACE: latest
		OPAQUE();
		Observer *one = latest; // RACE: latest

		if (!one)
			observers[0].told += 1000; // it would have died
		else
			one->told++;
	}
}

NOINLINE static void latest_change(unsigned long i)
{
	latest = i % 3 ? &observers[1] : nullptr; // RACE: latest
}

/* Whether to go on: now, or with the next. */
NOINLINE static void cancel_set(bool value)
{
	cancelled = value; // RACE: cancel
}

NOINLINE static unsigned cancel_look()
{
	if (cancelled) // RACE: cancel
		return 1;
	return 2;
}

static bool filter_even(unsigned long value)
{
	return (value & 1) == 0;
}

static bool filter_not_odd(unsigned long value)
{
	return value % 2 != 1;
}

/* Two filters that let the same through. */
NOINLINE static void filter_choose(unsigned long i)
{
	filter = i & 1 ? filter_even : filter_not_odd; // RACE: filter
}

NOINLINE static unsigned filter_apply(unsigned long value)
{
	return filter(value) ? 1 : 0; // RACE: filter
}

/* Computed once or twice, and the same each time. */
NOINLINE static unsigned long memo_of(unsigned long i)
{
	unsigned long value = memos[i]; // RACE: memo

	if (value == 0) {
		value = i * 7 + 3;
		memos[i] = value; // RACE: memo
	}
	return value;
}

static unsigned long next_memo()
{
	return __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) / ASKED % MEMOS;
}

static void subject(unsigned long i)
{
	waiting_turn();
	mean_add(i % 9);
	latest_change(i);
	cancel_set(i & 1);
	filter_choose(i);
	use(memo_of(next_memo()));
}

static void teller(unsigned long i)
{
	use(waiting_last());
	use(mean_get());
	latest_tell();
	use(cancel_look());
	use(filter_apply(i));
	use(memo_of(next_memo()));
}

int main(int argc, char **argv)
{
	struct role roles[] = { { subject, 40 },
				{ teller, 30 },
				{ nullptr, 0 } };

	waiting.reserve(8);
	filter = filter_even;
	return roles_run(argc, argv, "observers", roles);
}

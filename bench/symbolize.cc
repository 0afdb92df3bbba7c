/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads that race on a global and on a field of an object that a
 * std::map holds, for a number of seconds; what it prints is how many rounds
 * they made, together. bench/symbolize links it with 100 MB of debugging
 * information.
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <pthread.h>

#define NOINLINE __attribute__((noinline))

struct Item {
	long key, used;
};

static std::map<int, Item> *items;
static long total;
static double end;

static double seconds()
{
	timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

NOINLINE static void put(Item &item, long value)
{
	item.used = value;
	total = value;
}

NOINLINE static long look(const Item &item)
{
	return item.used + total;
}

NOINLINE static unsigned work(unsigned x, unsigned n)
{
	__asm__ volatile("" : "+r"(x));
	while (n--) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
	}
	return x;
}

template <typename Step> static long loop(Step step)
{
	unsigned x = 1;
	long rounds = 0;

	for (; rounds % 256 || seconds() < end; rounds++) {
		step(items->begin()->second, x);
		x = work(x, 100);
	}
	return rounds;
}

static void *put_loop(void *)
{
	return reinterpret_cast<void *>(
		loop([](Item &item, unsigned &x) { put(item, x); }));
}

static void *look_loop(void *)
{
	return reinterpret_cast<void *>(loop([](Item &item, unsigned &x) {
		x += unsigned(look(item)) | 1;
	}));
}

int main(int argc, char **argv)
{
	void *rounds[2];
	pthread_t threads[2];

	end = seconds() + (argc > 1 ? atof(argv[1]) : 5);
	items = new std::map<int, Item>;
	(*items)[3].used = 1;
	pthread_create(&threads[0], nullptr, put_loop, nullptr);
	pthread_create(&threads[1], nullptr, look_loop, nullptr);
	pthread_join(threads[0], &rounds[0]);
	pthread_join(threads[1], &rounds[1]);
	printf("%ld\n", reinterpret_cast<long>(rounds[0]) +
				reinterpret_cast<long>(rounds[1]));
	return 0;
}

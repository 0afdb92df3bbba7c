/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: statistics in std::atomic members of a heap object, all
 * memory_order_relaxed; nothing is handed over by them.
 */
#include "target.h"
#include <atomic>
#include <memory>
#include <thread>

struct Statistics {
	std::atomic<long> requests{ 0 }, level{ 0 };
	std::atomic<double> load{ 0 };
	std::atomic<bool> busy{ false };
};

NOINLINE static void note(Statistics &to, long level)
{
	to.requests.fetch_add(1, std::memory_order_relaxed);
	to.level.store(level, std::memory_order_relaxed);
	to.load.store(double(level) / 2, std::memory_order_relaxed);
	to.busy.store(level % 2, std::memory_order_relaxed);
}

NOINLINE static long look(const Statistics &at)
{
	target_check(at.load.load(std::memory_order_relaxed) >= 0, "load");
	if (at.busy.load(std::memory_order_relaxed))
		return 0;
	return at.level.load(std::memory_order_relaxed);
}

static void note_loop(Statistics &statistics)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		note(statistics, long(i));
		x = target_work(x, 30);
	}
}

static void look_loop(const Statistics &statistics)
{
	long last = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		long now = look(statistics);
		target_check(now == 0 || now >= last, "order");
		last = now ? now : last;
	}
}

int main(int argc, char **argv)
{
	auto statistics = std::make_unique<Statistics>();

	target_init(argc, argv, 2);
	std::thread a(note_loop, std::ref(*statistics));
	std::thread b(look_loop, std::cref(*statistics));
	a.join();
	b.join();
	target_check(statistics->requests == statistics->level + 1, "lost");
	return target_done("free_cpp_relaxed");
}

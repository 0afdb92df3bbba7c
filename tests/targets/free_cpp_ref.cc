/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: std::atomic_ref (C++20) over plain members, which are only
 * accessed through it while the threads run.
 */
#include "target.h"
#include <atomic>
#include <thread>

struct alignas(8) Cell {
	long count = 0;
	int stage = 0;
	long handed = 0;
};
static Cell cell;

NOINLINE static bool hand(int from, int to, long value)
{
	std::atomic_ref<int> stage(cell.stage);

	if (stage.load(std::memory_order_acquire) != from)
		return false;
	if (to)
		cell.handed = value;
	else
		target_check(cell.handed == value, "handed");
	stage.store(to, std::memory_order_release);
	std::atomic_ref(cell.count).fetch_add(1, std::memory_order_relaxed);
	return true;
}

NOINLINE static long count()
{
	return std::atomic_ref(cell.count).load(std::memory_order_relaxed);
}

static void hand_loop(int from)
{
	long serial = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		serial += hand(from, !from, serial);
		target_check(count() >= serial, "count");
	}
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	std::thread a(hand_loop, 0), b(hand_loop, 1);
	a.join();
	b.join();
	return target_done("free_cpp_ref");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: C++20's std::jthread with its stop token, a condition
 * variable that is stopped by it, std::shared_mutex, std::scoped_lock of two
 * mutexes, and std::atomic<std::shared_ptr>.
 */
#include "target.h"
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <thread>

struct settings {
	long width, height;
};

static std::mutex mutex, other;
static std::shared_mutex shared;
static std::condition_variable_any filled;
static std::deque<long> letters;
static std::atomic<std::shared_ptr<const settings>> current;
long by_both, row[16];

NOINLINE static void both_count()
{
	std::scoped_lock lock(mutex, other);

	by_both++;
}

NOINLINE static void row_use(long n)
{
	if (n % 8 == 0) {
		std::unique_lock lock(shared);

		for (long &cell : row)
			cell = n;
	}
	std::shared_lock lock(shared);
	target_check(row[0] == row[15], "row");
}

NOINLINE static void settings_use(long n)
{
	auto seen = current.load();

	target_check(!seen || seen->height == 2 * seen->width, "settings");
	current.store(std::make_shared<const settings>(settings{ n, 2 * n }));
}

NOINLINE static void letter_put(long n)
{
	std::lock_guard lock(mutex);

	letters.push_back(n);
	filled.notify_one();
}

/* False when there is none and it is to stop. */
NOINLINE static bool letter_take(std::stop_token stop)
{
	std::unique_lock lock(mutex);

	if (!filled.wait(lock, stop, [] { return !letters.empty(); }))
		return false;
	letters.pop_front();
	return true;
}

static void take_loop(std::stop_token stop)
{
	long i = 0;

	do {
		both_count();
		row_use(++i);
		settings_use(i);
	} while (letter_take(stop));
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	std::jthread taker(take_loop);

	for (unsigned long i = 0; target_goes_on(i); i++) {
		letter_put(long(i));
		both_count();
		row_use(long(i));
		settings_use(long(i));
	}
	taker.request_stop();
	taker.join();
	return target_done("free_cpp_stop");
}

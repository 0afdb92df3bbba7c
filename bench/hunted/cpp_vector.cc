/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads append to a vector, at different times. Correct: under a mutex.
 */
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "hunted.h"

static std::mutex mutex;
std::vector<long> items;

static void add(int after, long item)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(after));
	ONLY_TWIN(std::lock_guard<std::mutex> lock(mutex));
	items.push_back(item); /* RACE a */
}

int main()
{
	std::thread one(add, 1, 10L), other(add, 20, 20L);

	(void)mutex;
	one.join();
	other.join();
	printf("%zu\n", items.size());
	return 0;
}

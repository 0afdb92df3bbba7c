/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A relaxed flag is set before the data, without a fence. Correct: data, fence,
 * flag, and flag, fence, data.
 */
#include <atomic>
#include <chrono>
#include <thread>

#include "hunted.h"

static std::atomic<bool> flag;
long data;

static void writer()
{
	ONLY_RACY(flag.store(true, std::memory_order_relaxed));
	data = 5; /* RACE a */
	ONLY_TWIN(std::atomic_thread_fence(std::memory_order_release));
	ONLY_TWIN(flag.store(true, std::memory_order_relaxed));
}

static void reader()
{
	do
		std::this_thread::sleep_for(std::chrono::milliseconds(10));
	while (!flag.load(std::memory_order_relaxed));
	std::atomic_thread_fence(std::memory_order_acquire);
	printf("%ld\n", data); /* RACE a */
}

int main()
{
	std::thread one(writer), other(reader);

	one.join();
	other.join();
	return 0;
}

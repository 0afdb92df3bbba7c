/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two futures add to one sum. */
#include "short.h"

#include <future>
#include <mutex>

static std::mutex lock;
long total;

NOINLINE static void total_add(long value)
{
	ONLY_TWIN(std::lock_guard<std::mutex> guard(lock));

	total += value; /* RACE */
}

static long add_all(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		total_add((long)work(i, 40));
	return 0;
}

int main()
{
	auto one = std::async(std::launch::async, add_all, 12000);
	auto other = std::async(std::launch::async, add_all, 12000);

	return (int)(one.get() + other.get());
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The size of a vector is read while another thread grows it. */
#include "short.h"

#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::vector<int> items;

NOINLINE static void items_add(int item)
{
	std::lock_guard<std::mutex> guard(lock);

	items.push_back(item); /* RACE */
}

NOINLINE static std::size_t items_count()
{
	ONLY_TWIN(std::lock_guard<std::mutex> guard(lock));

	return items.size(); /* RACE */
}

static void adder()
{
	for (int i = 0; i < 10000 * LONGER; i++) {
		items_add(i);
		work(1, 40);
	}
}

static void looker()
{
	for (int i = 0; i < 10000 * LONGER; i++)
		work((unsigned)items_count(), 40);
}

int main()
{
	std::thread one(adder), other(looker);

	one.join();
	other.join();
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread sets which settings are current; the other reads them. */
#include "short.h"

#include <memory>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::shared_ptr<int> settings[2];
int *current;

NOINLINE static void settings_set(int i)
{
	ONLY_TWIN(std::lock_guard<std::mutex> guard(lock));

	current = settings[i % 2].get(); /* RACE */
}

NOINLINE static int settings_get()
{
	ONLY_TWIN(std::lock_guard<std::mutex> guard(lock));

	return *current; /* RACE */
}

static void setter()
{
	for (int i = 0; i < 15000; i++) {
		settings_set(i);
		work(1, 40);
	}
}

static void getter()
{
	for (int i = 0; i < 15000; i++)
		work((unsigned)settings_get(), 40);
}

int main()
{
	settings[0] = std::make_shared<int>(1);
	settings[1] = std::make_shared<int>(2);
	current = settings[0].get();
	std::thread one(setter), other(getter);

	one.join();
	other.join();
	return 0;
}

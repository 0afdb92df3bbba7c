/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker looks at a plain bool to know when to stop. */
#include "short.h"

#include <atomic>
#include <thread>

static ONLY_TWIN(std::atomic<bool>) ONLY_RACY(volatile bool) stopping;
unsigned rounds;

NOINLINE static bool stop_asked()
{
	return stopping; /* RACE */
}

NOINLINE static void stop_ask(bool on)
{
	stopping = on; /* RACE */
}

static void worker()
{
	while (!stop_asked())
		rounds += work(1, 100) & 1;
}

static void boss()
{
	for (int i = 0; i < 5000; i++) {
		stop_ask(false);
		work(1, 500);
	}
	stop_ask(true);
}

int main()
{
	std::thread one(worker), other(boss);

	one.join();
	other.join();
	return 0;
}

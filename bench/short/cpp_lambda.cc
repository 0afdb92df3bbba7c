/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lambda takes a local variable by reference. */
#include "short.h"

#include <thread>

NOINLINE static void add(unsigned &sum, unsigned value)
{
	sum += value; /* RACE */
}

int main()
{
	unsigned sums[2] = { 0, 0 };
	unsigned &mine = sums[0];
	unsigned &yours = sums[0 ONLY_TWIN(+1)];
	auto count = [](unsigned &sum) {
		for (int i = 0; i < 15000; i++)
			add(sum, work(1, 40));
	};
	std::thread one([&] { count(mine); });
	std::thread other([&] { count(yours); });

	one.join();
	other.join();
	return sums[0] + sums[1] == 1;
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// The third program of racewatch-tutorial(7), shop FILE: four threads sell a
// thousand items each, and the sum is printed. The prices are read from FILE
// when the first of them is needed. Compiled with -DTWIN others see the list
// when it is complete.
#include <atomic>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

static const char *file;

class Prices
{
      public:
	long of(int item);

      private:
	void load();

#ifdef TWIN
	std::atomic<bool> loaded{ false };
#else
	bool loaded = false;
#endif
	std::mutex lock;
	long cents[100] = {};
};

static Prices prices;

void Prices::load()
{
	std::ifstream list(file);
	long price;

	for (int i = 0; i < 100 && list >> price; i++)
		cents[i] = price;
}

long Prices::of(int item)
{
	if (!loaded) {
		std::lock_guard<std::mutex> guard(lock);

		if (!loaded) {
#ifdef TWIN
			load();
			loaded = true;
#else
			loaded = true;
			load();
#endif
		}
	}
	return cents[item];
}

static std::atomic<long> sum;

static void sell(int items)
{
	long cents = 0;

	for (int i = 0; i < items; i++)
		cents += prices.of(i % 100);
	sum += cents;
}

int main(int argc, char **argv)
{
	std::vector<std::thread> sellers(4);

	if (argc != 2) {
		std::fprintf(stderr, "usage: shop FILE\n");
		return 2;
	}
	file = argv[1];
	for (auto &seller : sellers)
		seller = std::thread(sell, 1000);
	for (auto &seller : sellers)
		seller.join();
	std::printf("%ld.%02ld\n", sum / 100, sum % 100);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A count in a map is changed under the lock and read without it. */
#include "short.h"

#include <map>
#include <mutex>
#include <string>
#include <thread>

static std::mutex lock;
static std::map<std::string, int> counts{ { "a", 0 }, { "b", 0 } };

NOINLINE static void words_add(const std::string &word)
{
	std::lock_guard<std::mutex> guard(lock);

	counts[word]++; /* RACE */
}

NOINLINE static int words_get(const std::string &word)
{
	ONLY_TWIN(std::lock_guard<std::mutex> guard(lock));

	return counts.find(word)->second; /* RACE */
}

static void adder()
{
	for (int i = 0; i < 8000; i++)
		words_add(i % 2 ? "a" : "b");
}

static void getter()
{
	for (int i = 0; i < 8000; i++)
		work((unsigned)words_get(i % 2 ? "a" : "b"), 20);
}

int main()
{
	std::thread one(adder), other(getter);

	one.join();
	other.join();
	return 0;
}

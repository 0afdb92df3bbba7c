/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread appends to the log that the other measures. */
#include "short.h"

#include <mutex>
#include <string>
#include <thread>

static std::mutex lock;
static std::string log_text;

NOINLINE static void log_add(char letter)
{
	std::lock_guard<std::mutex> guard(lock);

	log_text.push_back(letter); /* RACE */
}

NOINLINE static std::size_t log_size()
{
	ONLY_TWIN(std::lock_guard<std::mutex> guard(lock));

	return log_text.size(); /* RACE */
}

static void writer()
{
	for (int i = 0; i < 12000; i++) {
		log_add('x');
		work(1, 40);
	}
}

static void watcher()
{
	for (int i = 0; i < 12000; i++)
		work((unsigned)log_size(), 40);
}

int main()
{
	std::thread one(writer), other(watcher);

	one.join();
	other.join();
	return 0;
}

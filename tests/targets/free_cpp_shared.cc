/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: std::shared_mutex readers and a writer, std::shared_ptr
 * copies whose reference counts two threads change all the time.
 */
#include "target.h"
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

static std::shared_mutex guard;
static std::shared_ptr<std::vector<long>> board =
	std::make_shared<std::vector<long>>(8, 1);

NOINLINE static std::shared_ptr<std::vector<long>> look()
{
	std::shared_lock<std::shared_mutex> hold(guard);

	return board;
}

NOINLINE static void replace(long value)
{
	auto fresh = std::make_shared<std::vector<long>>(8, value);
	std::unique_lock<std::shared_mutex> hold(guard);

	board = fresh;
}

static void reader()
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		auto seen = look();
		target_check((*seen)[0] == (*seen)[7], "torn");
	}
}

static void writer()
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		replace(long(i));
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 3);
	std::thread a(reader), b(reader), c(writer);

	a.join();
	b.join();
	c.join();
	return target_done("free_cpp_shared");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: results that come through std::promise, std::packaged_task
 * and std::async; the shared state orders the write before get().
 */
#include "target.h"
#include <future>
#include <thread>
#include <vector>

NOINLINE static std::vector<long> compute(long n)
{
	std::vector<long> cells(32);

	for (long &cell : cells)
		cell = n++;
	return cells;
}

NOINLINE static void check(const std::vector<long> &cells, long n)
{
	target_check(cells.front() == n && cells.back() == n + 31, "cells");
}

static void round(long n)
{
	std::promise<std::vector<long>> promise;
	std::packaged_task<std::vector<long>(long)> task(compute);
	std::future<std::vector<long>> promised = promise.get_future();
	std::future<std::vector<long>> done = task.get_future();
	std::thread other([&promise, &task, n] {
		promise.set_value(compute(n));
		task(n + 1);
	});
	auto later = std::async(std::launch::async, compute, n + 2);

	check(promised.get(), n);
	check(done.get(), n + 1);
	check(later.get(), n + 2);
	other.join();
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	for (unsigned long i = 0; target_goes_on(i * 32); i++)
		round(long(i));
	return target_done("free_cpp_future");
}

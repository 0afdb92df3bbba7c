/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: the standard algorithms with std::execution::par (which GCC
 * does with oneTBB), and std::async beside them.
 */
#include "target.h"
#include <algorithm>
#include <execution>
#include <future>
#include <numeric>
#include <string>
#include <vector>

NOINLINE static void cells_fill(std::vector<long> &cells, long n)
{
	std::iota(cells.begin(), cells.end(), n);
	std::for_each(std::execution::par, cells.begin(), cells.end(),
		      [](long &cell) { cell = cell * 7919 % 512; });
}

NOINLINE static void cells_sort(std::vector<long> &cells)
{
	std::sort(std::execution::par, cells.begin(), cells.end());
	target_check(std::is_sorted(cells.begin(), cells.end()), "sort");
}

NOINLINE static long words_size(const std::vector<long> &cells)
{
	std::vector<std::string> words(cells.size());

	std::transform(std::execution::par, cells.begin(), cells.end(),
		       words.begin(),
		       [](long cell) { return std::to_string(cell); });
	return std::transform_reduce(std::execution::par, words.begin(),
				     words.end(), 0L, std::plus<>(),
				     [](const std::string &word) {
					     return long(word.size());
				     });
}

int main(int argc, char **argv)
{
	std::vector<long> cells(2048), copy;

	target_init(argc, argv, 1);
	for (unsigned long i = 0; target_goes_on(i * 16); i++) {
		cells_fill(cells, long(i));
		copy = cells;
		auto size = std::async(std::launch::async,
				       [&copy] { return words_size(copy); });
		cells_sort(cells);
		target_check(size.get() == words_size(cells), "size");
	}
	return target_done("free_cpp_par");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: oneTBB's parallel_for, parallel_reduce, a concurrent queue
 * and a task group; iterations write cells of their own.
 */
#include "target.h"
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_group.h>
#include <vector>

using Range = tbb::blocked_range<size_t>;

NOINLINE static void fill(std::vector<long> &cells, long n)
{
	tbb::parallel_for(Range(0, cells.size(), 16), [&cells,
						       n](const Range &range) {
		for (size_t i = range.begin(); i != range.end(); i++)
			cells[i] = n + long(i);
	});
}

NOINLINE static long sum(const std::vector<long> &cells)
{
	return tbb::parallel_reduce(
		Range(0, cells.size(), 16), 0L,
		[&cells](const Range &range, long part) {
			for (size_t i = range.begin(); i != range.end(); i++)
				part += cells[i];
			return part;
		},
		[](long a, long b) { return a + b; });
}

NOINLINE static void pass(std::vector<long> &cells)
{
	tbb::concurrent_queue<size_t> queue;
	tbb::task_group group;

	for (size_t i = 0; i < 32; i++)
		group.run([&queue, &cells, i] {
			cells[i]++;
			queue.push(i);
		});
	for (size_t got = 0, i = 0; got < 32;)
		if (queue.try_pop(i)) {
			cells[i]--;
			got++;
		} else {
			sched_yield();
		}
	group.wait();
}

int main(int argc, char **argv)
{
	tbb::global_control width(tbb::global_control::max_allowed_parallelism,
				  3);
	std::vector<long> cells(512);

	target_init(argc, argv, 1);
	for (unsigned long i = 0; target_goes_on(i * 16); i++) {
		fill(cells, long(i));
		pass(cells);
		target_check(sum(cells) == 512 * long(i) + 256 * 511, "sum");
	}
	return target_done("free_tbb");
}

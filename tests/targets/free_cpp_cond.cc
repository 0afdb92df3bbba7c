/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: std::deque behind std::mutex and std::condition_variable,
 * with strings and vectors that move from thread to thread.
 */
#include "target.h"
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Job {
	std::string name;
	std::vector<long> cells;
};

static std::mutex lock;
static std::condition_variable changed;
static std::deque<Job> jobs;
static bool closed;

NOINLINE static Job make(unsigned long i)
{
	return { "a job with a name that is not short " + std::to_string(i),
		 std::vector<long>(4 + i % 60, long(i)) };
}

NOINLINE static void use(const Job &job)
{
	target_check(job.name.substr(36) == std::to_string(job.cells.back()),
		     "job");
}

static void make_loop()
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		Job job = make(i);
		std::unique_lock<std::mutex> hold(lock);
		changed.wait(hold, [] { return jobs.size() < 16; });
		jobs.push_back(std::move(job));
		changed.notify_all();
	}
	std::lock_guard<std::mutex> hold(lock);
	closed = true;
	changed.notify_all();
}

static void use_loop()
{
	target_meet();
	for (;;) {
		std::unique_lock<std::mutex> hold(lock);
		changed.wait(hold, [] { return closed || !jobs.empty(); });
		if (jobs.empty())
			return;
		Job job = std::move(jobs.front());
		jobs.pop_front();
		changed.notify_all();
		hold.unlock();
		use(job);
	}
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 3);
	std::thread a(make_loop), b(use_loop), c(use_loop);
	a.join();
	b.join();
	c.join();
	return target_done("free_cpp_cond");
}

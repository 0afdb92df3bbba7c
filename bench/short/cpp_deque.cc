/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs are taken from a deque under the lock; whether there are any is asked without. */
#include "short.h"

#include <deque>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::deque<int> jobs(12000, 1);

NOINLINE static int job_take()
{
	std::lock_guard<std::mutex> guard(lock);
	int job;

	if (jobs.empty())
		return 0;
	job = jobs.front();
	jobs.pop_front(); /* RACE */
	return job;
}

NOINLINE static bool jobs_left()
{
	ONLY_TWIN(std::lock_guard<std::mutex> guard(lock));

	return !jobs.empty(); /* RACE */
}

static void worker()
{
	while (jobs_left())
		work((unsigned)job_take(), 60);
}

int main()
{
	std::thread one(worker), other(worker);

	one.join();
	other.join();
	return 0;
}

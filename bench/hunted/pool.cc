/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Four std::thread workers run TASKS tasks from a queue, each a std::function
 * that returns through a std::promise, for bench/pairs: pool TASKS.
 */
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class pool
{
      public:
	explicit pool(int workers)
	{
		for (int i = 0; i < workers; i++)
			threads.emplace_back([this] { work(); });
	}

	~pool()
	{
		{
			std::lock_guard<std::mutex> lock(mutex);
			over = true;
		}
		filled.notify_all();
		for (auto &thread : threads)
			thread.join();
	}

	void add(std::function<void()> task)
	{
		{
			std::lock_guard<std::mutex> lock(mutex);
			tasks.push_back(std::move(task));
		}
		filled.notify_one();
	}

      private:
	void work()
	{
		for (;;) {
			std::unique_lock<std::mutex> lock(mutex);
			filled.wait(lock,
				    [this] { return over || !tasks.empty(); });
			if (tasks.empty())
				return;
			auto task = std::move(tasks.front());
			tasks.pop_front();
			lock.unlock();
			task();
		}
	}

	std::mutex mutex;
	std::condition_variable filled;
	std::deque<std::function<void()>> tasks;
	bool over = false;
	std::vector<std::thread> threads;
};

int main(int argc, char **argv)
{
	int count = argc > 1 ? std::atoi(argv[1]) : 300;
	std::vector<std::future<std::string>> results;
	std::map<std::string, int> words;
	std::mutex mutex;

	{
		pool workers(4);

		for (int i = 0; i < count; i++) {
			auto promise =
				std::make_shared<std::promise<std::string>>();

			results.push_back(promise->get_future());
			workers.add([&, promise, i] {
				auto word = "word" + std::to_string(i % 7);

				std::lock_guard<std::mutex> lock(mutex);
				words[word]++;
				promise->set_value(word);
			});
		}
		for (auto &result : results)
			result.get();
	}
	std::printf("%zu\n", words.size());
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A shared_ptr is replaced while another thread may copy it. Correct: a mutex.
 */
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "hunted.h"

static std::mutex mutex;
std::shared_ptr<int> current = std::make_shared<int>(1);

static void show()
{
	std::shared_ptr<int> mine;
	{
		ONLY_TWIN(std::lock_guard<std::mutex> lock(mutex));
		mine = current; /* RACE a */
	}
	printf("%d\n", *mine);
}

static void replace()
{
	auto next = std::make_shared<int>(2);

	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	ONLY_TWIN(std::lock_guard<std::mutex> lock(mutex));
	current = next; /* RACE a */
}

int main()
{
	std::thread one(show), other(replace);

	(void)mutex;
	one.join();
	other.join();
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A lambda has a local variable by reference, which is changed before the thread
 * is joined. Correct: after that.
 */
#include <chrono>
#include <thread>

#include "hunted.h"

int main()
{
	long total = 0;
	std::thread worker([&total] {
		total += 5; /* RACE a */
	});

	ONLY_TWIN(worker.join());
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	total += 7; /* RACE a */
	ONLY_RACY(worker.join());
	printf("%ld\n", total);
	return 0;
}

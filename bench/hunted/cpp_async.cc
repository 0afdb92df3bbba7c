/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A task of std::async changes an object, which is looked at before the future is
 * ready. Correct: afterwards.
 */
#include <chrono>
#include <future>
#include <thread>

#include "hunted.h"

struct report {
	int lines = 0;

	void add()
	{
		lines++; /* RACE a */
	}
};

int main()
{
	report text;
	auto done = std::async(std::launch::async, [&text] {
		text.add();
		return 1;
	});

	ONLY_TWIN(done.get());
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	printf("%d\n", text.lines); /* RACE a */
	ONLY_RACY(done.get());
	return 0;
}

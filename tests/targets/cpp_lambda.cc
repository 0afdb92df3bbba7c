/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two lambdas, run by std::thread, capture a reference to one object on the
 * heap: the frames are their operator().
 */
#include "target.h"
#include <memory>
#include <thread>

struct Progress {
	unsigned percent, done;
};

template <typename Step> NOINLINE static void loop(Step step)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		step(i);
		LEAVE();
		target_work(unsigned(i), 40);
	}
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	auto progress = std::make_unique<Progress>();
	Progress &shared = *progress;
	auto work = [&shared](unsigned long i) NOINLINE {
		shared.done = unsigned(i); /* RACE: work */
	};
	auto show = [&shared](unsigned long i) NOINLINE {
		if (shared.done == 0 && i > 1000) /* RACE: show */
			OPAQUE();
	};
	std::thread worker([&] { loop(work); });
	std::thread viewer([&] { loop(show); });

	worker.join();
	viewer.join();
	return target_done("cpp_lambda");
}

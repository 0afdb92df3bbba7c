/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A lambda, run by std::thread, captures locals by reference; the function
 * that has them accesses one of them by its place in the frame.
 */
#include "target.h"
#include <thread>

NOINLINE static long run_both()
{
	long counter = 0, seen = 0;
	unsigned start = 1, x = 2;
	std::thread adder([&] {
		unsigned y = start;

		target_meet();
		for (unsigned long i = 0; target_goes_on(i); i++) {
			ENTER();
			counter += y & 15; /* RACE: add */
			LEAVE();
			y = target_work(y, 40);
		}
	});

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		seen += counter; /* RACE: look */
		LEAVE();
		x = target_work(x, 30);
	}
	adder.join();
	return seen;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	OPAQUE();
	target_check(run_both() >= 0, "run_both");
	return target_done("local_lambda");
}

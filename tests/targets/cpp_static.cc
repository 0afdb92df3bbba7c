/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A static data member of a class template, one instance of which two
 * threads add to: the name is Pool<int>::used.
 */
#include "target.h"
#include <thread>

template <typename T> struct Pool {
	static long used;
	NOINLINE static void take(long n);
	NOINLINE static void reset(long n);
};

template <typename T> long Pool<T>::used;

template <typename T> void Pool<T>::take(long n)
{
	used += n; /* RACE: take */
}

template <typename T> void Pool<T>::reset(long n)
{
	used = n; /* RACE: reset */
}

static void take_loop()
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		Pool<int>::take(long(x & 7) + 1);
		LEAVE();
		x = target_work(x, 40);
	}
}

static void reset_loop()
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		Pool<int>::reset(long(x));
		LEAVE();
		x = target_work(x, 30);
	}
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	std::thread taker(take_loop), resetter(reset_loop);

	taker.join();
	resetter.join();
	return target_done("cpp_static");
}

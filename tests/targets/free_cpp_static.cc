/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: static local variables that are initialized when two threads
 * come by first, and read ever after. A template gives many of them, and the
 * threads meet before each.
 */
#include "target.h"
#include <array>
#include <string>
#include <thread>
#include <utility>

template <int N> NOINLINE static const std::array<long, 4> &table()
{
	static const std::array<long, 4> values = [] {
		std::array<long, 4> made{};
		unsigned x = target_work(N + 1, 200);

		for (long &value : made)
			value = long(x) * N;
		return made;
	}();

	return values;
}

template <int N> NOINLINE static const std::string &name()
{
	static const std::string text("number " + std::to_string(N));

	return text;
}

template <int N> static void use()
{
	long first = table<N>()[0];

	target_check(table<N>()[3] == first, "table");
	target_check(name<N>().size() >= 8, "name");
}

template <int... N> static void use_all(std::integer_sequence<int, N...>)
{
	(use<N>(), ...);
}

static void loop()
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		use_all(std::make_integer_sequence<int, 6>());
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	std::thread a(loop), b(loop);
	a.join();
	b.join();
	return target_done("free_cpp_static");
}

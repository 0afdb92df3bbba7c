/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: exceptions thrown and caught in several threads at once, and
 * one carried to another thread in a std::exception_ptr. The unwinder's and
 * the C++ library's own tables are shared.
 */
#include "target.h"
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

NOINLINE static long refuse(long n)
{
	if (n % 4)
		throw std::runtime_error("refused " + std::to_string(n));
	return n;
}

NOINLINE static void attempt(long n)
{
	try {
		target_check(refuse(n) % 4 == 0, "not refused");
	} catch (const std::exception &error) {
		target_check(error.what()[8] != 0, "message");
	}
}

static void loop()
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		attempt(long(i));
}

static void carry(long n)
{
	std::promise<long> promise;
	std::thread other([&promise, n] {
		try {
			promise.set_value(refuse(n));
		} catch (...) {
			promise.set_exception(std::current_exception());
		}
	});

	try {
		promise.get_future().get();
	} catch (const std::exception &error) {
		target_check(error.what()[0] == 'r', "carried");
	}
	other.join();
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 3);
	std::thread a(loop), b(loop);
	target_meet();
	for (unsigned long i = 0; target_goes_on(i * 32); i++)
		carry(long(i));
	a.join();
	b.join();
	return target_done("free_cpp_throw");
}

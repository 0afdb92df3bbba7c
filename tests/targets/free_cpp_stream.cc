/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: every thread has its own string streams; what they share is
 * the library's locale and its reference counts.
 */
#include "target.h"
#include <iomanip>
#include <locale>
#include <sstream>
#include <thread>

NOINLINE static std::string print(long n)
{
	std::ostringstream out;

	out << std::setw(12) << n << ' ' << std::hex << n << ' ' << n / 4.0;
	return out.str();
}

NOINLINE static long scan(const std::string &text)
{
	std::istringstream in(text);
	long n = -1;

	in >> n;
	return n;
}

static void loop()
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		std::locale copy;

		target_check(scan(print(long(i))) == long(i), "text");
		target_check(std::isdigit('7', copy), "locale");
	}
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	std::thread a(loop), b(loop);
	a.join();
	b.join();
	return target_done("free_cpp_stream");
}

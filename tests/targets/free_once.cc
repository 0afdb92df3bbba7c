/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: what std::call_once and the initialization of a static
 * local variable publish is only read afterwards. Each round has fresh
 * once-flags, made before its two threads are born.
 */
#include "target.h"
#include <memory>
#include <mutex>
#include <thread>

struct Table {
	long values[32];
	explicit Table(long seed)
	{
		for (long &value : values)
			value = seed++;
	}
};

struct Round {
	std::once_flag once;
	std::unique_ptr<Table> table;
};

static std::unique_ptr<Round> current;

NOINLINE static const Table &lazy()
{
	std::call_once(current->once,
		       [] { current->table = std::make_unique<Table>(5); });
	return *current->table;
}

NOINLINE static const Table &local()
{
	static const Table table(7);

	return table;
}

NOINLINE static void use()
{
	target_meet();
	for (unsigned i = 0; i < 2000; i++) {
		target_check(lazy().values[i % 32] == 5 + i % 32, "lazy");
		target_check(local().values[i % 32] == 7 + i % 32, "local");
	}
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	for (unsigned long i = 0; target_goes_on(i * 64); i++) {
		current = std::make_unique<Round>();
		std::thread other(use);
		use();
		other.join();
	}
	return target_done("free_once");
}

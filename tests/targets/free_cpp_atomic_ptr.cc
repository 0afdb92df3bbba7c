/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: std::atomic_load() and std::atomic_store() of one
 * std::shared_ptr, whose last owner, in whatever thread, frees the object;
 * and std::weak_ptr::lock() beside it.
 */
#include "target.h"
#include <memory>
#include <thread>
#include <vector>

static std::shared_ptr<std::vector<long>> board =
	std::make_shared<std::vector<long>>(8, 1);

NOINLINE static void look()
{
	std::shared_ptr<std::vector<long>> seen = std::atomic_load(&board);
	std::weak_ptr<std::vector<long>> weak(seen);

	target_check((*seen)[0] == (*seen)[7], "torn");
	seen.reset();
	if (auto again = weak.lock())
		target_check((*again)[1] == (*again)[6], "torn");
}

NOINLINE static void replace(long value)
{
	std::atomic_store(&board,
			  std::make_shared<std::vector<long>>(8, value));
}

static void look_loop()
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		look();
}

static void replace_loop()
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		replace(long(i));
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 3);
	std::thread a(look_loop), b(look_loop), c(replace_loop);
	a.join();
	b.join();
	c.join();
	return target_done("free_cpp_atomic_ptr");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For --at: members of classes in namespaces, one of them a template.
 */
#include "target.h"

namespace store
{
template <typename T> struct Box {
	T value = 0;

	NOINLINE void put(T to)
	{
		value = to; /* AT: put */
	}
};

struct Shelf {
	Box<long> box;

	NOINLINE long look() const
	{
		return box.value; /* AT: look */
	}
};
} /* namespace store */

static store::Shelf *shelf;

static void *put_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		shelf->box.put((long)i);
	return arg;
}

static void *look_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		x = target_work(x + (unsigned)shelf->look(), 2);
	return arg;
}

int main(int argc, char **argv)
{
	shelf = new store::Shelf;
	target_init(argc, argv, 2);
	target_race(put_loop, look_loop);
	delete shelf;
	return target_done("aimed_cpp");
}

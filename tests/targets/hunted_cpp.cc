/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One race between the threads of C++, on an object that new has made.
 *
 *	hunted_cpp KIND
 *
 * nested     the first thread holds two locks, one taken inside the other, and
 *            the second one a third
 * shared     both write under a std::shared_lock
 * condition  the first writes after it has unlocked and notified, the second
 *            reads when it has waited for the first
 * aligned    nobody holds a lock; the object is made by an aligned new
 * array      the same, for new[]; an array of that address was deleted before
 *
 * One has done its part long before the other comes, unless it is held. As a twin,
 * both hold one lock.
 */
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "target.h"

namespace
{

#ifdef TWIN
constexpr bool guarded = true;
#else
constexpr bool guarded = false;
#endif

struct account {
	std::mutex outer, inner, own;
	std::shared_mutex table;
	std::condition_variable changed;
	bool ready = false;
	long value = 0;
};

struct alignas(64) line {
	std::mutex own;
	long value = 0;
};

account *shared;
line *aligned;
long *array;

/* Two functions: each has a side, and is held if it comes first. */
NOINLINE void add_first(long *to)
{
	*to += 1;
}

NOINLINE void add_second(long *to)
{
	*to += 2;
}

using adding = void(long *);

void nested_first()
{
	std::lock_guard<std::mutex> outer(shared->outer);
	std::lock_guard<std::mutex> inner(shared->inner);

	add_first(&shared->value);
}

void nested_second()
{
	std::lock_guard<std::mutex> own(guarded ? shared->inner : shared->own);

	add_second(&shared->value);
}

template <adding add> void shared_both()
{
	if (guarded) {
		std::unique_lock<std::shared_mutex> alone(shared->table);

		add(&shared->value);
	} else {
		std::shared_lock<std::shared_mutex> reading(shared->table);

		add(&shared->value);
	}
}

void condition_first()
{
	std::unique_lock<std::mutex> own(shared->own);

	shared->ready = true;
	if (guarded)
		add_first(&shared->value);
	own.unlock();
	shared->changed.notify_one();
	if (!guarded)
		add_first(&shared->value);
}

void condition_second()
{
	std::unique_lock<std::mutex> own(shared->own);

	shared->changed.wait(own, [] { return shared->ready; });
	add_second(&shared->value);
}

template <adding add> void aligned_both()
{
	std::unique_lock<std::mutex> own(aligned->own, std::defer_lock);

	if (guarded)
		own.lock();
	add(&aligned->value);
}

template <adding add> void array_both()
{
	std::unique_lock<std::mutex> own(shared->own, std::defer_lock);

	if (guarded)
		own.lock();
	add(&array[3]);
}

NOINLINE account *make_account()
{
	return new account;
}

NOINLINE line *make_line()
{
	return new line;
}

NOINLINE long *make_array(size_t count)
{
	return new long[count]();
}

/* What the next array of this size finds in its place. */
NOINLINE void make_older()
{
	long *volatile older = make_array(100);

	add_first(&older[3]);
	delete[] older;
}

const struct {
	const char *name;
	void (*first)(), (*second)();
} kinds[] = {
	{ "nested", nested_first, nested_second },
	{ "shared", shared_both<add_first>, shared_both<add_second> },
	{ "condition", condition_first, condition_second },
	{ "aligned", aligned_both<add_first>, aligned_both<add_second> },
	{ "array", array_both<add_first>, array_both<add_second> },
};

} // namespace

int main(int argc, char **argv)
{
	target_check(argc == 2, "no kind");
	shared = make_account();
	aligned = make_line();
	make_older();
	array = make_array(100);
	for (const auto &kind : kinds) {
		if (strcmp(kind.name, argv[1]) != 0)
			continue;
		std::thread first(kind.first);
		std::thread second(kind.second);

		first.join();
		second.join();
		delete shared;
		delete aligned;
		delete[] array;
		return target_done("hunted_cpp");
	}
	target_check(0, "unknown kind");
}

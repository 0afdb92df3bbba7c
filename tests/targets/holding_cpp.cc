/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The same as holding.c with the locks of the C++ library:
 *
 *	holding_cpp SECONDS ROW
 *
 * tests/run/holding.tab says what put() and look() hold in each row.
 */
#include "target.h"
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

class Account
{
      public:
	void put(long amount);
	void look(long amount);

	long before = 0;
	std::mutex mu;
	std::shared_mutex rw;

      private:
	long balance_ = 0;
};

NOINLINE void Account::put(long amount)
{
	balance_ = amount; /* RACE: put */
}

NOINLINE void Account::look(long amount)
{
	balance_ = amount; /* RACE: look */
}

static std::mutex plain, second;
static std::recursive_mutex recursive;
static std::timed_mutex timed;
static std::shared_mutex shared;
static std::vector<std::mutex> many(4);
struct Item {
	long before;
	std::mutex mu;
};
static std::vector<Item> items(4);
static std::unique_ptr<std::mutex> allocated = std::make_unique<std::mutex>();

/* What the threads of a row do, again and again. */
using Step = void (*)(Account &account, long x);

template <class Mutex, Mutex &mutex> struct Guarded {
	NOINLINE static void put(Account &account, long x)
	{
		std::lock_guard<Mutex> hold(mutex);

		account.put(x);
	}
};

NOINLINE static void put_bare(Account &account, long x)
{
	account.put(x);
	OPAQUE();
}

NOINLINE static void look_bare(Account &account, long x)
{
	account.look(x);
	OPAQUE();
}

NOINLINE static void put_member(Account &account, long x)
{
	std::lock_guard<std::mutex> hold(account.mu);

	account.put(x);
}

NOINLINE static void put_member_writer(Account &account, long x)
{
	std::unique_lock<std::shared_mutex> hold(account.rw);

	account.put(x);
}

NOINLINE static void put_reader(Account &account, long x)
{
	std::shared_lock<std::shared_mutex> hold(shared);

	account.put(x);
}

NOINLINE static void put_scoped(Account &account, long x)
{
	std::scoped_lock hold(plain, account.mu);

	account.put(x);
}

NOINLINE static void put_released(Account &account, long x)
{
	std::unique_lock<std::mutex> hold(plain);

	hold.unlock();
	account.put(x);
}

NOINLINE static void look_second(Account &account, long x)
{
	std::unique_lock<std::mutex> hold(second);

	account.look(x);
}

NOINLINE static void put_element(Account &account, long x)
{
	std::lock_guard<std::mutex> hold(many[2]);

	account.put(x);
}

NOINLINE static void put_allocated(Account &account, long x)
{
	std::lock_guard<std::mutex> hold(*allocated);

	account.put(x);
}

NOINLINE static void put_item(Account &account, long x)
{
	std::lock_guard<std::mutex> hold(items[1].mu);

	account.put(x);
}

static const std::map<std::string, std::pair<Step, Step>> rows = {
	{ "none", { put_bare, look_bare } },
	{ "guard", { Guarded<std::mutex, plain>::put, look_bare } },
	{ "member", { put_member, look_bare } },
	{ "recursive",
	  { Guarded<std::recursive_mutex, recursive>::put, look_bare } },
	{ "timed", { Guarded<std::timed_mutex, timed>::put, look_bare } },
	{ "writer", { Guarded<std::shared_mutex, shared>::put, look_bare } },
	{ "member_writer", { put_member_writer, look_bare } },
	{ "reader", { put_reader, look_bare } },
	{ "scoped", { put_scoped, look_bare } },
	{ "released", { put_released, look_bare } },
	{ "different", { Guarded<std::mutex, plain>::put, look_second } },
	{ "element", { put_element, look_bare } },
	{ "item", { put_item, look_bare } },
	{ "allocated", { put_allocated, look_bare } },
};

static void loop(const char *name, Account &account, Step step, unsigned work)
{
	unsigned x = 1;

	pthread_setname_np(pthread_self(), name);
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		step(account, x);
		x = target_work(x, work);
	}
}

int main(int argc, char **argv)
{
	auto account = std::make_unique<Account>();

	target_init(argc, argv, 2);
	auto row = rows.find(argc > 2 ? argv[2] : "");
	target_check(row != rows.end(), "no such row");
	std::thread putter(
		[&] { loop("put", *account, row->second.first, 40); });
	std::thread looker(
		[&] { loop("look", *account, row->second.second, 30); });
	putter.join();
	looker.join();
	return target_done("holding_cpp");
}

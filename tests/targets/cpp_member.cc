/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A member of an object made with new, written by one method and read by
 * another; the twin takes a std::mutex.
 */
#include "target.h"
#include <memory>
#include <mutex>
#include <thread>

class Account
{
      public:
	void deposit(long amount);
	long balance() const;

      private:
	long balance_ = 0;
};

NOINLINE void Account::deposit(long amount)
{
	balance_ = amount; /* RACE: deposit */
}

NOINLINE long Account::balance() const
{
	return balance_; /* RACE: balance */
}

#ifdef TWIN
static std::mutex guard;
#endif

template <typename Step> static void loop(Step step)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
#ifdef TWIN
		std::lock_guard<std::mutex> hold(guard);
#endif
		OPAQUE();
		step(x);
		x = target_work(x, 35);
	}
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	auto account = std::make_unique<Account>();
	Account *raw = account.get();
	std::thread payer(
		[raw] { loop([raw](unsigned &x) { raw->deposit(x); }); });
	std::thread clerk([raw] {
		loop([raw](unsigned &x) { x += unsigned(raw->balance()); });
	});

	payer.join();
	clerk.join();
	return target_done("cpp_member");
}

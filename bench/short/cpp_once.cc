/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether it has been done is kept in a plain bool per item. */
#include "short.h"

#include <mutex>
#include <thread>

enum { ITEMS = 3000 };

static std::mutex lock;
bool made[ITEMS];
unsigned items[ITEMS];

NOINLINE static void make_once(int i)
{
	ONLY_TWIN(std::lock_guard<std::mutex> guard(lock));

	if (!made[i]) { /* RACE */
		items[i] = work((unsigned)i, 300); /* RACE */
		made[i] = true; /* RACE */
	}
}

static void user()
{
	for (int i = 0; i < ITEMS; i++)
		make_once(i);
}

int main()
{
	std::thread one(user), other(user);

	one.join();
	other.join();
	return 0;
}

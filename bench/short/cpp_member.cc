/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Objects count themselves in a static member. */
#include "short.h"

#include <mutex>
#include <thread>

static std::mutex lock;

class Widget
{
      public:
	NOINLINE Widget()
	{
		ONLY_TWIN(std::lock_guard<std::mutex> guard(lock));
		live++; /* RACE */
	}
	NOINLINE ~Widget()
	{
		ONLY_TWIN(std::lock_guard<std::mutex> guard(lock));
		live--; /* RACE */
	}

      private:
	static int live;
};

int Widget::live;

static void maker()
{
	for (int i = 0; i < 12000; i++) {
		Widget widget;

		work(1, 40);
	}
}

int main()
{
	std::thread one(maker), other(maker);

	one.join();
	other.join();
	return 0;
}

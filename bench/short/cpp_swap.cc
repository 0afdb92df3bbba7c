/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two halves of a double buffer are swapped while one is read. */
#include "short.h"

#include <mutex>
#include <thread>
#include <utility>

static std::mutex lock;
int buffers[2][16];
int *front = buffers[0], *back = buffers[1];

NOINLINE static void buffers_swap()
{
	ONLY_TWIN(std::lock_guard<std::mutex> guard(lock));

	std::swap(front, back); /* RACE */
}

NOINLINE static int front_read(int i)
{
	ONLY_TWIN(std::lock_guard<std::mutex> guard(lock));

	return front[i % 16]; /* RACE */
}

static void swapper()
{
	for (int i = 0; i < 12000; i++) {
		buffers_swap();
		work(1, 40);
	}
}

static void reader()
{
	for (int i = 0; i < 12000; i++)
		work((unsigned)front_read(i), 40);
}

int main()
{
	std::thread one(swapper), other(reader);

	one.join();
	other.join();
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: std::atomic, sequentially consistent, as a flag that hands
 * plain data over and as a counter.
 */
#include "target.h"
#include <atomic>
#include <thread>

std::atomic<bool> ready;
std::atomic<long> counter;
std::atomic<const char *> name;
long payload;

NOINLINE static void publish(long value)
{
	payload = value;
	name = "filled";
	ready = true;
}

NOINLINE static long consume()
{
	long value = payload;

	name = nullptr;
	ready = false;
	return value;
}

static void publish_loop()
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		counter++;
		if (!ready)
			publish(long(i));
	}
}

static void consume_loop()
{
	long last = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		if (!ready)
			continue;
		long value = consume();
		target_check(value >= last && counter >= value, "order");
		last = value;
	}
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	std::thread publisher(publish_loop), consumer(consume_loop);

	publisher.join();
	consumer.join();
	return target_done("free_atomic_cpp");
}

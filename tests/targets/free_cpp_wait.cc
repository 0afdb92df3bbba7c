/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: C++20's std::barrier, std::latch, std::counting_semaphore
 * and std::atomic::wait, each between plain writes and plain reads.
 */
#include "target.h"
#include <atomic>
#include <barrier>
#include <latch>
#include <semaphore>
#include <thread>

static std::barrier phase(2);
static std::counting_semaphore<4> full(0), empty(1);
static std::atomic<int> turn;
static std::latch *latch;
long row[2][16], slot, ball, over;

NOINLINE static void row_swap(int me, long n)
{
	for (long &cell : row[me])
		cell = n;
	phase.arrive_and_wait();
	target_check(row[!me][0] == n && row[!me][15] == n, "row");
	phase.arrive_and_wait();
}

NOINLINE static void slot_pass(int me, long n)
{
	if (me) {
		full.acquire();
		target_check(slot == n, "slot");
		empty.release();
	} else {
		empty.acquire();
		slot = n;
		full.release();
	}
}

NOINLINE static void ball_pass(int me)
{
	while (turn.load(std::memory_order_acquire) != me)
		turn.wait(!me, std::memory_order_acquire);
	ball++;
	turn.store(!me, std::memory_order_release);
	turn.notify_one();
}

static void play(int me)
{
	latch->arrive_and_wait();
	for (unsigned long i = 0; !over; i++) {
		row_swap(me, long(i));
		slot_pass(me, long(i));
		ball_pass(me);
		if (me == 0)
			over = !target_goes_on(i);
		phase.arrive_and_wait();
	}
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	latch = new std::latch(2);
	std::thread a(play, 0), b(play, 1);
	a.join();
	b.join();
	delete latch;
	target_check(ball % 2 == 0, "ball");
	return target_done("free_cpp_wait");
}

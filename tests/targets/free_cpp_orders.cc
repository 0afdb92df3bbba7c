/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: one plain message for each pair of memory orders that can
 * hand it over, through a std::atomic: release with acquire, release with
 * consume (a pointer, so that the reads depend on it), seq_cst with seq_cst,
 * acq_rel both ways by compare and exchange, and relaxed with fences.
 */
#include "target.h"
#include <atomic>
#include <thread>

template <std::memory_order Put, std::memory_order Get> struct Box {
	std::atomic<int> full{ 0 };
	long serial = 0, square = 0;

	NOINLINE bool put(long value)
	{
		if (full.load(Get))
			return false;
		if (Get == std::memory_order_relaxed)
			std::atomic_thread_fence(std::memory_order_acquire);
		serial = value;
		square = value * value;
		if (Put == std::memory_order_relaxed)
			std::atomic_thread_fence(std::memory_order_release);
		full.store(1, Put);
		return true;
	}

	NOINLINE bool get(long value)
	{
		if (!full.load(Get))
			return false;
		if (Get == std::memory_order_relaxed)
			std::atomic_thread_fence(std::memory_order_acquire);
		target_check(serial == value && square == value * value, "box");
		if (Put == std::memory_order_relaxed)
			std::atomic_thread_fence(std::memory_order_release);
		full.store(0, Put);
		return true;
	}
};

struct Pointed {
	struct Message {
		long serial, square;
	} message;
	std::atomic<Message *> there{ nullptr };

	NOINLINE bool put(long value)
	{
		if (there.load(std::memory_order_acquire))
			return false;
		message = { value, value * value };
		there.store(&message, std::memory_order_release);
		return true;
	}

	NOINLINE bool get(long value)
	{
		Message *seen = there.load(std::memory_order_consume);

		if (!seen)
			return false;
		target_check(seen->serial == value &&
				     seen->square == value * value,
			     "message");
		there.store(nullptr, std::memory_order_release);
		return true;
	}
};

struct Exchanged {
	std::atomic<int> full{ 0 };
	long serial = 0;

	/* From state A, do the work in state 2, then leave state B. */
	template <typename F> NOINLINE bool turn(int a, int b, F work)
	{
		int seen = a;

		if (!full.compare_exchange_weak(seen, 2,
						std::memory_order_acq_rel,
						std::memory_order_acquire))
			return false;
		work();
		full.exchange(b, std::memory_order_acq_rel);
		return true;
	}
};

static Box<std::memory_order_release, std::memory_order_acquire> acquire;
static Pointed consume;
static Box<std::memory_order_seq_cst, std::memory_order_seq_cst> seq_cst;
static Box<std::memory_order_relaxed, std::memory_order_relaxed> fenced;
static Exchanged exchanged;

static void put_loop()
{
	long a = 0, b = 0, c = 0, d = 0, e = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		a += acquire.put(a);
		b += consume.put(b);
		c += seq_cst.put(c);
		d += fenced.put(d);
		e += exchanged.turn(0, 1, [e] { exchanged.serial = e; });
	}
}

static void get_loop()
{
	long a = 0, b = 0, c = 0, d = 0, e = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		a += acquire.get(a);
		b += consume.get(b);
		c += seq_cst.get(c);
		d += fenced.get(d);
		e += exchanged.turn(1, 0, [e] {
			target_check(exchanged.serial == e, "exchanged");
		});
	}
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	std::thread a(put_loop), b(get_loop);
	a.join();
	b.join();
	return target_done("free_cpp_orders");
}

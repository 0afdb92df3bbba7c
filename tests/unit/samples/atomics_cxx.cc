/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accesses inside and outside of atomic operations, each in a function of its
 * own that a test looks into. Never run.
 */
#include <atomic>

#define NOINLINE __attribute__((noinline))

std::atomic<int> counter;
std::atomic<bool> ready;
std::atomic_flag busy = ATOMIC_FLAG_INIT;
int plain;

NOINLINE int atomic_load()
{
	return counter.load(std::memory_order_acquire);
}

NOINLINE void atomic_store(int value)
{
	counter.store(value, std::memory_order_release);
}

NOINLINE bool atomic_convert()
{
	return ready;
}

NOINLINE void atomic_clear()
{
	busy.clear(std::memory_order_release);
}

NOINLINE int plain_load()
{
	return plain;
}

NOINLINE void plain_store(int value)
{
	plain = value;
}

NOINLINE int builtin_load(int *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE) + 1;
}

int main()
{
	builtin_load(&plain);
	atomic_store(plain_load());
	plain_store(atomic_load() + atomic_convert());
	atomic_clear();
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C's atomic operations and GCC's built-in functions through pointers, each
 * beside a near miss, for tests/unit/test_atomicline.c.
 */
#include <stdatomic.h>

struct cell {
	atomic_int *word;
	int plain, twice;
};

#define NOINLINE __attribute__((noinline, noclone))
#define NOT_ATOMIC_load(x) (*(x))

NOINLINE int c_load(struct cell *cell)
{
	return atomic_load_explicit(cell->word, memory_order_acquire);
}

NOINLINE void c_store(struct cell *cell, int value)
{
	atomic_store_explicit(cell->word, value, memory_order_release);
}

NOINLINE int builtin_load(struct cell *cell)
{
	return __atomic_load_n(&cell->plain, __ATOMIC_RELAXED);
}

NOINLINE void builtin_store(struct cell *cell)
{
	__atomic_store_n(&cell->plain, cell->twice, __ATOMIC_RELEASE);
}

NOINLINE int plain_load(struct cell *cell)
{
	/* atomic_load is only spoken of here */
	return /* atomic_load */ cell->plain + NOT_ATOMIC_load(&cell->twice);
}

NOINLINE void expected_store(struct cell *cell)
{
	atomic_compare_exchange_strong(cell->word, &cell->plain, 1);
}

int main(int argc, char **argv)
{
	atomic_int word = argc;
	struct cell cell = { &word, argc, 2 };

	c_store(&cell, c_load(&cell));
	builtin_store(&cell);
	expected_store(&cell);
	return builtin_load(&cell) + plain_load(&cell) + (argv == 0);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Atomic operations behind macros of a header, each beside a near miss, for
 * tests/unit/test_atomicline.c. Never run.
 */
#include "atomics_macro.h"

#define NOINLINE __attribute__((noinline, noclone))

int cell, other;

NOINLINE int macro_load(void)
{
	return LOAD(&cell);
}

NOINLINE void macro_store(int value)
{
	STORE(&cell, value);
}

NOINLINE int checked_load(void)
{
	return CHECKED(LOAD(&cell) == 3);
}

NOINLINE int plain_macro(void)
{
	return PLAIN_LOAD(&cell);
}

NOINLINE int mixed_macro(void)
{
	return LOAD_BOTH(&cell, &other);
}

NOINLINE int unseen(int value)
{
	return value + 1;
}

NOINLINE int function_call(void)
{
	return unseen(cell) + unseen(other);
}

int main(void)
{
	macro_store(macro_load() + checked_load() + plain_macro());
	return mixed_macro() + function_call();
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Known instructions, for tests of what a recorder says was executed: loops, a
 * recursion, calls by pointer, a string instruction, vectors, conditional moves,
 * compare-and-swaps that succeed and fail. It prints what `cells' are at the end.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t cells[4];
uint32_t small;
char from[100], to[100];
struct wide {
	uint64_t part[4];
} wide[2];

__attribute__((noinline)) static uint64_t recurse(uint64_t n)
{
	cells[0] += n;
	return n < 2 ? 1 : recurse(n - 1) + recurse(n - 2);
}

__attribute__((noinline)) static void exchange(uint64_t *cell, uint64_t wanted)
{
	uint64_t expected = wanted;

	__atomic_compare_exchange_n(cell, &expected, wanted + 5, 0,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&cells[2], 3, __ATOMIC_SEQ_CST);
	__atomic_exchange_n(&small, (uint32_t)wanted, __ATOMIC_SEQ_CST);
}

static void on_signal(int number)
{
	cells[3] += (uint64_t)number;
}

int main(void)
{
	uint64_t (*volatile by_pointer)(uint64_t) = recurse;
	void *volatile block;
	char *target = to, *source = from;
	size_t count = sizeof(to);

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = i % 3 ? (char)i : 'x';
	__asm__ volatile("rep movsb"
			 : "+D"(target), "+S"(source), "+c"(count)
			 :
			 : "memory");
	wide[0].part[1] = by_pointer(9);
	wide[1] = wide[0];
	exchange(&cells[1], 0);
	exchange(&cells[1], 100);
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	block = malloc(77);
	free(block);
	printf("%lx %lx %lx %lx\n", cells[0], cells[1], cells[2], cells[3]);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fixed work, bound by the processor, free of races: two threads each
 * multiply their half of two matrices. A round is one product.
 */
#include "target.h"

enum { SIDE = 96 };

double left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];

NOINLINE static double cell(unsigned row, unsigned column)
{
	double sum = 0;

	for (unsigned k = 0; k < SIDE; k++)
		sum += left[row][k] * right[k][column];
	return sum;
}

static void *half(void *arg)
{
	unsigned first = arg ? SIDE / 2 : 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		for (unsigned row = first; row < first + SIDE / 2; row++)
			for (unsigned column = 0; column < SIDE; column++)
				product[row][column] = cell(row, column);
	return NULL;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	for (unsigned i = 0; i < SIDE * SIDE; i++) {
		left[i / SIDE][i % SIDE] = i % 7;
		right[i / SIDE][i % SIDE] = i % 11;
	}
	pthread_t other = target_thread(half, &product);

	half(NULL);
	pthread_join(other, NULL);
	return target_done("matrix");
}

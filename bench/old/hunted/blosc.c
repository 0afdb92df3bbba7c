/* SPDX-License-Identifier: GPL-3.0-or-later */
/* c-blosc: two threads compress, each with a context of its own. */
#include <blosc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 40000 };

static void *compress(void *unused)
{
	int *const numbers = malloc(SIZE), *const back = malloc(SIZE);
	char *const packed = malloc(SIZE + BLOSC_MAX_OVERHEAD);
	int size;

	(void)unused;
	for (size_t i = 0; i < SIZE / sizeof *numbers; i++)
		numbers[i] = (int)i;
	size = blosc_compress_ctx(5, 1, sizeof *numbers, SIZE, numbers, packed,
				  SIZE + BLOSC_MAX_OVERHEAD, "blosclz", 0, 1);
	if (size <= 0 || blosc_decompress_ctx(packed, back, SIZE, 1) != SIZE ||
	    memcmp(numbers, back, SIZE) != 0)
		exit(1);
	free(packed);
	free(back);
	free(numbers);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, compress, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

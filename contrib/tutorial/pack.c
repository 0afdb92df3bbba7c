/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The second program of racewatch-tutorial(7), pack FILE...: the first thread
 * reads the files in blocks, two consumers compute what would be left of them by
 * packing equal bytes, and the sizes before and after are printed. Compiled with
 * -DTWIN the consumers have ended before the queue is deleted.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 4096, CONSUMERS = 2, SLOTS = 8 };

struct block {
	size_t size;
	unsigned char bytes[BLOCK];
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	struct block *slots[SLOTS];
	unsigned in, out;
	int closed;
};

static struct queue *queue;

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t blocks, before, after;
} packed = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0 };

static void queue_create(void)
{
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		exit(1);
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->more, NULL);
	pthread_cond_init(&queue->less, NULL);
}

static void queue_delete(void)
{
	free(queue);
	queue = NULL;
}

static void queue_put(struct block *block)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->in - queue->out == SLOTS)
		pthread_cond_wait(&queue->less, &queue->lock);
	queue->slots[queue->in++ % SLOTS] = block;
	pthread_cond_signal(&queue->more);
	pthread_mutex_unlock(&queue->lock);
}

static void queue_close(void)
{
	pthread_mutex_lock(&queue->lock);
	queue->closed = 1;
	pthread_cond_broadcast(&queue->more);
	pthread_mutex_unlock(&queue->lock);
}

/* NULL: there is no more */
static struct block *queue_take(void)
{
	struct queue *from = queue;
	struct block *block = NULL;

	pthread_mutex_lock(&from->lock);
	while (from->in == from->out && !from->closed)
		pthread_cond_wait(&from->more, &from->lock);
	if (from->in != from->out) {
		block = from->slots[from->out++ % SLOTS];
		pthread_cond_signal(&from->less);
	}
	pthread_mutex_unlock(&from->lock);
	return block;
}

/* Of equal bytes in a row three are kept: the byte, twice, and a count. */
static size_t size_packed(const struct block *block)
{
	size_t size = 0, run;

	for (size_t i = 0; i < block->size; i += run) {
		run = 1;
		while (i + run < block->size &&
		       block->bytes[i + run] == block->bytes[i])
			run++;
		size += run < 3 ? run : 3;
	}
	return size;
}

static void *consumer(void *arg)
{
	struct block *block;

	while ((block = queue_take())) {
		size_t after = size_packed(block);

		pthread_mutex_lock(&packed.lock);
		packed.blocks++;
		packed.before += block->size;
		packed.after += after;
		pthread_cond_signal(&packed.changed);
		pthread_mutex_unlock(&packed.lock);
		free(block);
	}
	return arg;
}

/* The number of blocks. */
static size_t produce(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t count = 0;

	if (!file) {
		perror(path);
		exit(1);
	}
	for (;;) {
		struct block *block = malloc(sizeof(*block));

		if (!block)
			exit(1);
		block->size = fread(block->bytes, 1, BLOCK, file);
		if (block->size == 0) {
			free(block);
			break;
		}
		queue_put(block);
		count++;
	}
	fclose(file);
	return count;
}

int main(int argc, char **argv)
{
	pthread_t threads[CONSUMERS];
	size_t blocks = 0;

	queue_create();
	for (int i = 0; i < CONSUMERS; i++)
		pthread_create(&threads[i], NULL, consumer, NULL);
	for (int i = 1; i < argc; i++)
		blocks += produce(argv[i]);
	queue_close();

	pthread_mutex_lock(&packed.lock);
	while (packed.blocks < blocks)
		pthread_cond_wait(&packed.changed, &packed.lock);
	printf("%zu bytes in, %zu bytes out\n", packed.before, packed.after);
	pthread_mutex_unlock(&packed.lock);
#ifdef TWIN
	for (int i = 0; i < CONSUMERS; i++)
		pthread_join(threads[i], NULL);
#endif
	queue_delete();
	return 0;
}

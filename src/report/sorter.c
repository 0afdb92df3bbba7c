/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sorting in memory, and beyond it in one file; see sorter.h. When memory is
 * full its items are sorted and appended to the file as a chunk. In the end
 * the chunks are read side by side, the smallest first item of all coming next.
 */
#include "report/sorter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

/* How an item lies in memory and in the file: this, the key, the data. */
struct head {
	uint32_t key_size, size;
};

enum { BUFFER_SIZE = 1 << 16 };

/* A sorted part of the file, and what of it is at hand. */
struct chunk {
	off_t start, end;
	off_t next; /* of the file, to be read into the buffer */
	char *buffer;
	size_t capacity;
	size_t begin, filled; /* the buffer's part that is not yet used */
	size_t number;
};

struct sorter {
	size_t memory;
	char *items;
	size_t used, capacity;
	struct vec index; /* of size_t: where items begin */
	FILE *file; /* NULL: all is in memory */
	off_t file_size;
	struct vec chunks; /* of struct chunk */
	struct chunk **heap; /* the one with the smallest item first */
	size_t heap_size;
	size_t position; /* in index, when all is in memory */
	bool taken; /* the first chunk's item was given away */
};

struct error *sorter_create(size_t memory, struct sorter **ret)
{
	struct sorter *sorter = calloc(1, sizeof(*sorter));

	if (!sorter)
		return error_nomem;
	sorter->memory = memory;
	sorter->index = (struct vec)VEC_INIT(size_t);
	sorter->chunks = (struct vec)VEC_INIT(struct chunk);
	*ret = sorter;
	return NULL;
}

void sorter_destroy(struct sorter *sorter)
{
	if (!sorter)
		return;
	for (size_t i = 0; i < sorter->chunks.count; i++) {
		struct chunk *chunk = vec_at(&sorter->chunks, i);

		free(chunk->buffer);
	}
	vec_deinit(&sorter->chunks);
	vec_deinit(&sorter->index);
	free(sorter->heap);
	free(sorter->items);
	if (sorter->file)
		fclose(sorter->file);
	free(sorter);
}

static struct sorter_item item_at(const char *at)
{
	struct head head;

	memcpy(&head, at, sizeof(head));
	at += sizeof(head);
	return (struct sorter_item){
		.key = (const uint8_t *)at,
		.key_size = head.key_size,
		.data = at + head.key_size,
		.size = head.size,
	};
}

static size_t item_size(const struct sorter_item *item)
{
	return sizeof(struct head) + item->key_size + item->size;
}

static int compare_keys(const struct sorter_item *a,
			const struct sorter_item *b)
{
	size_t n = a->key_size < b->key_size ? a->key_size : b->key_size;
	int order = n ? memcmp(a->key, b->key, n) : 0;

	if (order)
		return order;
	return (a->key_size > b->key_size) - (a->key_size < b->key_size);
}

static int compare_places(const void *a, const void *b, void *items)
{
	size_t one = *(const size_t *)a, two = *(const size_t *)b;
	struct sorter_item left = item_at((const char *)items + one);
	struct sorter_item right = item_at((const char *)items + two);
	int order = compare_keys(&left, &right);

	return order ? order : (one > two) - (one < two);
}

static void sort_memory(struct sorter *sorter)
{
	if (sorter->index.count)
		qsort_r(sorter->index.items, sorter->index.count,
			sizeof(size_t), compare_places, sorter->items);
}

static const char *temporary_directory(void)
{
	const char *directory = getenv("TMPDIR");

	if (directory && directory[0])
		return directory;
	/* /tmp is memory on many machines */
	return access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

static struct error *write_error(void)
{
	return error_os(errno ? errno : EIO, "write a temporary file in %s",
			temporary_directory());
}

static struct error *open_file(struct sorter *sorter)
{
	cleanup_free char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/racewatch-XXXXXX", temporary_directory()) < 0) {
		path = NULL;
		return error_nomem;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return write_error();
	unlink(path);
	sorter->file = fdopen(fd, "w+e");
	if (!sorter->file) {
		close(fd);
		return error_nomem;
	}
	return NULL;
}

/* Sort what is in memory, append it to the file, and empty the memory. */
static struct error *spill(struct sorter *sorter)
{
	struct chunk chunk = { .start = sorter->file_size,
			       .number = sorter->chunks.count };
	struct error *err = sorter->file ? NULL : open_file(sorter);

	if (err)
		return err;
	sort_memory(sorter);
	errno = 0;
	for (size_t i = 0; i < sorter->index.count; i++) {
		const char *at =
			sorter->items + *(size_t *)vec_at(&sorter->index, i);
		struct sorter_item item = item_at(at);

		if (fwrite(at, item_size(&item), 1, sorter->file) != 1)
			return write_error();
	}
	if (fflush(sorter->file) != 0)
		return write_error();
	sorter->file_size += (off_t)sorter->used;
	chunk.end = sorter->file_size;
	sorter->used = 0;
	vec_clear(&sorter->index);
	return vec_push(&sorter->chunks, &chunk) ? NULL : error_nomem;
}

static struct error *make_room(struct sorter *sorter, size_t size)
{
	size_t capacity = sorter->capacity ? sorter->capacity : BUFFER_SIZE;
	char *items;

	if (sorter->used && sorter->used + size > sorter->memory) {
		struct error *err = spill(sorter);

		if (err)
			return err;
	}
	while (capacity < sorter->used + size)
		capacity *= 2;
	if (capacity == sorter->capacity)
		return NULL;
	items = realloc(sorter->items, capacity);
	if (!items)
		return error_nomem;
	sorter->items = items;
	sorter->capacity = capacity;
	return NULL;
}

struct error *sorter_add(struct sorter *sorter, const struct sorter_item *item)
{
	struct head head = { (uint32_t)item->key_size, (uint32_t)item->size };
	struct error *err;
	char *at;

	if (item->key_size > UINT32_MAX / 2 || item->size > UINT32_MAX / 2)
		return error_create(ERROR_FORMAT, "a record is too large");
	err = make_room(sorter, item_size(item));
	if (err)
		return err;
	if (!vec_push(&sorter->index, &sorter->used))
		return error_nomem;
	at = sorter->items + sorter->used;
	memcpy(at, &head, sizeof(head));
	if (item->key_size)
		memcpy(at + sizeof(head), item->key, item->key_size);
	if (item->size)
		memcpy(at + sizeof(head) + item->key_size, item->data,
		       item->size);
	sorter->used += item_size(item);
	return NULL;
}

/* Have at least n bytes of the chunk in its buffer. */
static struct error *chunk_fill(struct sorter *sorter, struct chunk *chunk,
				size_t n)
{
	char *buffer = chunk->buffer;
	size_t capacity = n > BUFFER_SIZE ? n : BUFFER_SIZE;

	if (chunk->filled - chunk->begin >= n)
		return NULL;
	if (chunk->filled > chunk->begin)
		memmove(buffer, buffer + chunk->begin,
			chunk->filled - chunk->begin);
	chunk->filled -= chunk->begin;
	chunk->begin = 0;
	if (chunk->capacity < capacity) {
		buffer = realloc(buffer, capacity);
		if (!buffer)
			return error_nomem;
		chunk->buffer = buffer;
		chunk->capacity = capacity;
	}
	while (chunk->filled < n) {
		size_t room = chunk->capacity - chunk->filled;
		off_t left = chunk->end - chunk->next;
		ssize_t got;

		if ((off_t)room > left)
			room = (size_t)left;
		got = pread(fileno(sorter->file), buffer + chunk->filled, room,
			    chunk->next);
		if (got <= 0)
			return error_os(got < 0 ? errno : EIO,
					"read a temporary file");
		chunk->filled += (size_t)got;
		chunk->next += got;
	}
	return NULL;
}

static bool chunk_is_empty(const struct chunk *chunk)
{
	return chunk->begin == chunk->filled && chunk->next == chunk->end;
}

/* Have the whole first item of a chunk that is not empty in its buffer. */
static struct error *chunk_load(struct sorter *sorter, struct chunk *chunk)
{
	struct error *err = chunk_fill(sorter, chunk, sizeof(struct head));
	struct sorter_item item;

	if (err)
		return err;
	item = item_at(chunk->buffer + chunk->begin);
	return chunk_fill(sorter, chunk, item_size(&item));
}

static bool chunk_before(const struct chunk *a, const struct chunk *b)
{
	struct sorter_item one = item_at(a->buffer + a->begin);
	struct sorter_item two = item_at(b->buffer + b->begin);
	int order = compare_keys(&one, &two);

	return order ? order < 0 : a->number < b->number;
}

/* Put the chunk at place i where it belongs among those below it. */
static void heap_sink(struct sorter *sorter, size_t i)
{
	struct chunk **heap = sorter->heap;

	while (true) {
		size_t least = i, left = 2 * i + 1;
		struct chunk *moved;

		for (size_t j = left; j < left + 2 && j < sorter->heap_size;
		     j++) {
			if (chunk_before(heap[j], heap[least]))
				least = j;
		}
		if (least == i)
			return;
		moved = heap[i];
		heap[i] = heap[least];
		heap[least] = moved;
		i = least;
	}
}

static struct error *begin_chunks(struct sorter *sorter)
{
	size_t count = sorter->chunks.count;

	free(sorter->heap);
	sorter->heap = calloc(count, sizeof(struct chunk *));
	sorter->heap_size = count;
	if (!sorter->heap)
		return error_nomem;
	for (size_t i = 0; i < count; i++) {
		struct chunk *chunk = vec_at(&sorter->chunks, i);
		struct error *err;

		chunk->next = chunk->start;
		chunk->begin = chunk->filled = 0;
		err = chunk_load(sorter, chunk);
		if (err)
			return err;
		sorter->heap[i] = chunk;
	}
	for (size_t i = count; i-- > 0;)
		heap_sink(sorter, i);
	return NULL;
}

struct error *sorter_sort(struct sorter *sorter)
{
	struct error *err = NULL;

	sorter->position = 0;
	sorter->taken = false;
	if (!sorter->file) {
		sort_memory(sorter);
		return NULL;
	}
	if (sorter->used)
		err = spill(sorter);
	/* the buffers take its place */
	free(sorter->items);
	sorter->items = NULL;
	sorter->capacity = 0;
	return err ? err : begin_chunks(sorter);
}

/* Go on behind the item that was given away. */
static struct error *heap_advance(struct sorter *sorter)
{
	struct chunk *chunk = sorter->heap[0];
	struct sorter_item item = item_at(chunk->buffer + chunk->begin);
	struct error *err;

	chunk->begin += item_size(&item);
	if (chunk_is_empty(chunk)) {
		sorter->heap[0] = sorter->heap[--sorter->heap_size];
	} else {
		err = chunk_load(sorter, chunk);
		if (err)
			return err;
	}
	heap_sink(sorter, 0);
	return NULL;
}

struct error *sorter_next(struct sorter *sorter, struct sorter_item *ret,
			  bool *ret_more)
{
	struct error *err;

	if (!sorter->file) {
		*ret_more = sorter->position < sorter->index.count;
		if (*ret_more)
			*ret = item_at(sorter->items +
				       *(size_t *)vec_at(&sorter->index,
							 sorter->position++));
		return NULL;
	}
	if (sorter->taken) {
		err = heap_advance(sorter);
		if (err)
			return err;
	}
	sorter->taken = sorter->heap_size > 0;
	*ret_more = sorter->taken;
	if (sorter->taken) {
		const struct chunk *chunk = sorter->heap[0];

		*ret = item_at(chunk->buffer + chunk->begin);
	}
	return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hash table by address, and a list of records to use again. */
#include "recorder/heap.h"

#include <stddef.h>

#include "recorder/os.h"

void heap_init(struct heap *heap)
{
	records_init(&heap->blocks, sizeof(struct block));
	table_init(&heap->by_address);
	heap->unused = 0;
	heap->numbers = 0;
	heap->sorted = NULL;
}

void heap_deinit(struct heap *heap)
{
	records_deinit(&heap->blocks);
	table_deinit(&heap->by_address);
}

static uint32_t find_id(const struct heap *heap, uint64_t address)
{
	uint32_t hash = table_hash(address, 3), at = 0, id;

	while ((id = table_next(&heap->by_address, hash, &at)) != 0) {
		const struct block *block = records_at(&heap->blocks, id);

		if (block->address == address)
			return id;
	}
	return 0;
}

struct block *heap_find(const struct heap *heap, uint64_t address)
{
	uint32_t id = find_id(heap, address);

	return id == 0 ? NULL : records_at(&heap->blocks, id);
}

static uint32_t take_unused(struct heap *heap)
{
	uint32_t id = heap->unused;
	struct block *block;

	if (id == 0)
		return heap->blocks.count == HEAP_BLOCKS_MAX
			       ? 0
			       : records_add(&heap->blocks);
	block = records_at(&heap->blocks, id);
	heap->unused = block->next;
	return id;
}

struct block *heap_add(struct heap *heap, uint64_t address, uint64_t size)
{
	uint32_t id = take_unused(heap);
	struct block *block;

	if (id == 0)
		return NULL;
	block = records_at(&heap->blocks, id);
	*block = (struct block){ .address = address, .size = size };
	table_add(&heap->by_address, table_hash(address, 3), id);
	return block;
}

void heap_remove(struct heap *heap, struct block *block)
{
	uint32_t id = find_id(heap, block->address);

	table_remove(&heap->by_address, table_hash(block->address, 3), id);
	*block = (struct block){ .next = heap->unused };
	heap->unused = id;
}

static uint64_t address_of(const struct heap *heap, uint32_t i)
{
	const struct block *block = records_at(&heap->blocks, heap->sorted[i]);

	return block->address;
}

/* Move the item at i down to where it belongs among the first n. */
static void sift(struct heap *heap, uint32_t i, uint32_t n)
{
	for (;;) {
		uint32_t child = 2 * i + 1, id = heap->sorted[i];

		if (child >= n)
			return;
		if (child + 1 < n &&
		    address_of(heap, child + 1) > address_of(heap, child))
			child++;
		if (address_of(heap, i) >= address_of(heap, child))
			return;
		heap->sorted[i] = heap->sorted[child];
		heap->sorted[child] = id;
		i = child;
	}
}

void heap_sort(struct heap *heap)
{
	uint32_t n = 0;

	heap->sorted = os_map((heap->blocks.count + 1) * sizeof(uint32_t));
	for (uint32_t id = 1; id <= heap->blocks.count; id++) {
		const struct block *block = records_at(&heap->blocks, id);

		if (block->address != 0)
			heap->sorted[n++] = id;
	}
	heap->sorted_count = n;
	for (uint32_t i = n / 2; i > 0; i--)
		sift(heap, i - 1, n);
	for (uint32_t left = n; left > 1; left--) {
		uint32_t largest = heap->sorted[0];

		heap->sorted[0] = heap->sorted[left - 1];
		heap->sorted[left - 1] = largest;
		sift(heap, 0, left - 1);
	}
}

void heap_unsort(struct heap *heap)
{
	os_unmap(heap->sorted, (heap->blocks.count + 1) * sizeof(uint32_t));
	heap->sorted = NULL;
}

struct block *heap_containing(const struct heap *heap, uint64_t address)
{
	uint32_t low = 0, high = heap->sorted_count;
	struct block *block;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (address_of(heap, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	block = records_at(&heap->blocks, heap->sorted[low - 1]);
	return address < block->address + block->size ? block : NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chunks of records are mapped when they are needed. A table probes linearly, and
 * doubles when three of four entries are used.
 */
#include "recorder/table.h"

#include <stddef.h>

#include "recorder/os.h"

enum { TABLE_SIZE_FIRST = 1024 };

void records_init(struct records *records, uint32_t size)
{
	records->chunks = os_map(RECORDS_CHUNKS_MAX * sizeof(*records->chunks));
	records->size = size;
	records->count = 0;
}

void records_deinit(struct records *records)
{
	for (uint32_t i = 0; i < RECORDS_CHUNKS_MAX && records->chunks[i]; i++)
		os_unmap(records->chunks[i],
			 (size_t)RECORDS_CHUNK * records->size);
	os_unmap(records->chunks,
		 RECORDS_CHUNKS_MAX * sizeof(*records->chunks));
	records->chunks = NULL;
	records->count = 0;
}

uint32_t records_add(struct records *records)
{
	uint32_t chunk = records->count / RECORDS_CHUNK;

	if (chunk == RECORDS_CHUNKS_MAX)
		return 0;
	if (!records->chunks[chunk])
		records->chunks[chunk] =
			os_map((size_t)RECORDS_CHUNK * records->size);
	return ++records->count;
}

void table_init(struct table *table)
{
	table->size = TABLE_SIZE_FIRST;
	table->used = 0;
	table->entries = os_map(table->size * sizeof(*table->entries));
}

void table_deinit(struct table *table)
{
	os_unmap(table->entries, table->size * sizeof(*table->entries));
	table->entries = NULL;
}

static void put(struct table *table, uint32_t hash, uint32_t id)
{
	uint32_t mask = table->size - 1, i = hash & mask;

	while (table->entries[i].id != 0)
		i = (i + 1) & mask;
	table->entries[i].hash = hash;
	table->entries[i].id = id;
	table->used++;
}

/* A larger table if ids are many, else the same without removed entries. */
static void rebuild(struct table *table)
{
	struct table old = *table;
	uint32_t live = 0;

	for (uint32_t i = 0; i < old.size; i++)
		live += old.entries[i].id - 1 < UINT32_MAX - 1;
	if (live >= old.size / 2)
		table->size *= 2;
	table->used = 0;
	table->entries = os_map(table->size * sizeof(*table->entries));
	for (uint32_t i = 0; i < old.size; i++) {
		if (old.entries[i].id - 1 < UINT32_MAX - 1)
			put(table, old.entries[i].hash, old.entries[i].id);
	}
	table_deinit(&old);
}

void table_add(struct table *table, uint32_t hash, uint32_t id)
{
	if (table->used >= table->size / 4 * 3)
		rebuild(table);
	put(table, hash, id);
}

void table_remove(struct table *table, uint32_t hash, uint32_t id)
{
	uint32_t mask = table->size - 1;

	for (uint32_t i = hash & mask; table->entries[i].id != 0;
	     i = (i + 1) & mask) {
		if (table->entries[i].id == id) {
			table->entries[i].id = UINT32_MAX;
			return;
		}
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records with ids from 1, and a hash table of ids. Both grow, and
 * never move a record.
 */
#ifndef RECORDER_TABLE_H
#define RECORDER_TABLE_H

#include <stdint.h>

enum { RECORDS_CHUNK = 4096, RECORDS_CHUNKS_MAX = 65536 };

struct records {
	unsigned char **chunks; /* of RECORDS_CHUNK records each */
	uint32_t size; /* of a record, in bytes */
	uint32_t count; /* ids given out: 1 to count */
};

void records_init(struct records *records, uint32_t size);
void records_deinit(struct records *records);
/* A zeroed record; 0 when RECORDS_CHUNKS_MAX chunks are full. */
uint32_t records_add(struct records *records);

static inline void *records_at(const struct records *records, uint32_t id)
{
	uint32_t i = id - 1;

	return records->chunks[i / RECORDS_CHUNK] +
	       (uint64_t)(i % RECORDS_CHUNK) * records->size;
}

/* The bytes that n records take. */
static inline uint64_t records_bytes(const struct records *records)
{
	uint64_t chunks = (records->count + RECORDS_CHUNK - 1) / RECORDS_CHUNK;

	return chunks * RECORDS_CHUNK * records->size;
}

struct table_entry {
	uint32_t hash, id; /* id 0: empty, UINT32_MAX: removed */
};

struct table {
	struct table_entry *entries;
	uint32_t size; /* a power of two */
	uint32_t used; /* entries that are not empty */
};

void table_init(struct table *table);
void table_deinit(struct table *table);
void table_add(struct table *table, uint32_t hash, uint32_t id);
void table_remove(struct table *table, uint32_t hash, uint32_t id);

/*
 * The ids with this hash, one at each call, 0 after the last one; *at is 0
 * before the first call.
 */
static inline uint32_t table_next(const struct table *table, uint32_t hash,
				  uint32_t *at)
{
	uint32_t mask = table->size - 1;

	for (;;) {
		uint32_t i = (hash + (*at)++) & mask;
		const struct table_entry *entry = &table->entries[i];

		if (entry->id == 0)
			return 0;
		if (entry->hash == hash && entry->id != UINT32_MAX)
			return entry->id;
	}
}

/* A hash of two numbers. */
static inline uint32_t table_hash(uint64_t a, uint64_t b)
{
	uint64_t hash = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15u;

	hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u;
	return (uint32_t)(hash >> 32);
}

#endif

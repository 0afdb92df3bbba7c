/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * FNV-1a, and a hash of words; see hash.h.
 */
#include "base/hash.h"

#include <string.h>

static const uint64_t HASH_BASIS = UINT64_C(0xcbf29ce484222325);
static const uint64_t HASH_PRIME = UINT64_C(0x100000001b3);

/* 2^64 divided by the golden ratio, made odd */
static const uint64_t HASH_ODD = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t hash_on(uint64_t hash, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * HASH_PRIME;
	return hash;
}

uint64_t hash_bytes(const void *bytes, size_t size)
{
	return hash_on(HASH_BASIS, bytes, size);
}

/*
 * In a product, a bit of a factor changes the bits above it only. The rotation
 * moves the high bits down, so that the next product spreads them.
 */
static uint64_t hash_word(uint64_t lane, const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	lane = (lane ^ word) * HASH_ODD;
	return lane << 32 | lane >> 32;
}

uint64_t hash_blocks(const void *bytes, size_t size)
{
	enum { LANES = 4, BLOCK = LANES * sizeof(uint64_t) };
	const uint8_t *at = bytes;
	uint64_t lanes[LANES] = { 1, 2, 3, 4 };
	size_t left = size;

	/* a product waits for the one before it in its own lane only */
	for (; left >= BLOCK; at += BLOCK, left -= BLOCK) {
		for (int i = 0; i < LANES; i++)
			lanes[i] = hash_word(lanes[i], at + i * 8);
	}
	return hash_on(hash_on(HASH_BASIS ^ size, (const uint8_t *)lanes,
			       sizeof(lanes)),
		       at, left);
}

uint64_t hash_salted(const char *text, uint64_t salt)
{
	return hash_on(HASH_BASIS ^ salt, (const uint8_t *)text, strlen(text));
}

uint64_t hash_text(const char *text)
{
	return hash_salted(text, 0);
}

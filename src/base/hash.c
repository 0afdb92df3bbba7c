/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * FNV-1a; see hash.h.
 */
#include "base/hash.h"

#include <string.h>

static const uint64_t HASH_BASIS = UINT64_C(0xcbf29ce484222325);
static const uint64_t HASH_PRIME = UINT64_C(0x100000001b3);

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

uint64_t hash_salted(const char *text, uint64_t salt)
{
	return hash_on(HASH_BASIS ^ salt, (const uint8_t *)text, strlen(text));
}

uint64_t hash_text(const char *text)
{
	return hash_salted(text, 0);
}

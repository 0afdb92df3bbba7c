/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hashes for tables and digests of data that nobody makes collide on purpose:
 * FNV-1a, 64 bits (Fowler, Noll, Vo), and a faster one.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *bytes, size_t size);
/*
 * The faster one, for megabytes: it takes an eighth of the time. Its values are
 * different, and depend on the byte order of the machine.
 */
uint64_t hash_blocks(const void *bytes, size_t size);
/* Of a terminated text. */
uint64_t hash_text(const char *text);
/* Other values for other salts; hash_text() is that of 0. */
uint64_t hash_salted(const char *text, uint64_t salt);

#endif

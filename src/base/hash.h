/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * FNV-1a, 64 bits (Fowler, Noll, Vo), and one that is faster: for tables and
 * digests of what is not made to collide on purpose.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *bytes, size_t size);
/*
 * The same for megabytes: other values, in an eighth of the time. They depend on
 * the order of bytes of the machine.
 */
uint64_t hash_blocks(const void *bytes, size_t size);
/* Of a terminated text. */
uint64_t hash_text(const char *text);
/* Other values for other salts; hash_text() is that of 0. */
uint64_t hash_salted(const char *text, uint64_t salt);

#endif

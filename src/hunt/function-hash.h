/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a function of a newer build is as it was: a hash of its instructions
 * without the distances to other functions and to data, which change when
 * anything else in the file does (Intel SDM volume 2, section 2.2.1.6: distances
 * from rip; branches, calls). What is behind these distances is not looked at:
 * a function that calls another one instead has the same hash.
 */
#ifndef HUNT_FUNCTION_HASH_H
#define HUNT_FUNCTION_HASH_H

#include <stddef.h>
#include <stdint.h>

struct decoder;

/* Of the bytes at that address; not 0. */
uint64_t function_hash(struct decoder *decoder, const uint8_t *bytes,
		       size_t size, uint64_t start);

#endif

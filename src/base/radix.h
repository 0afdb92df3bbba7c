/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sorting by a number, in time proportional to the number of items: tables of
 * functions may have hundreds of thousands of them. Least significant digit
 * first; Knuth, The Art of Computer Programming 3, section 5.2.5.
 */
#ifndef BASE_RADIX_H
#define BASE_RADIX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

/*
 * Sort the items by the uint64_t at that offset of each, ascending; those with
 * equal numbers keep their order. False when out of memory: nothing is changed.
 */
bool radix_sort(struct vec *vec, size_t offset);

#endif

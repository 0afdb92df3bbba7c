/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code ranges that .eh_frame describes, one per FDE (LSB Core 5.0,
 * "Exception Frames"; DWARF 5 section 6.4). Private to src/image. The table
 * is found by section, or through .eh_frame_hdr (PT_GNU_EH_FRAME) where there
 * are no sections. Damaged entries end the walk or are skipped.
 */
#ifndef IMAGE_EHFRAME_H
#define IMAGE_EHFRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct elffile;

struct eh_range {
	uint64_t start;
	uint64_t size;
};

/* Append the ranges, in file order, to ranges (of struct eh_range). */
bool ehframe_collect(const struct elffile *file, struct vec *ranges);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The entries of .eh_frame (LSB Core 5.0, "Exception Frames"; DWARF 5 section
 * 6.4): the code ranges that they describe, one per FDE, and the call frame
 * instructions of one entry. Private to src/image. The table is found by
 * section, or through .eh_frame_hdr (PT_GNU_EH_FRAME) where there are no
 * sections. Damaged entries end the walk or are skipped. All addresses are the
 * file's own.
 */
#ifndef IMAGE_EHFRAME_H
#define IMAGE_EHFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct elffile;

struct eh_range {
	uint64_t start;
	uint64_t size;
};

struct eh_entry {
	struct eh_range range;
	uint64_t fde; /* its address */
};

/* The call frame instructions of an FDE and of its CIE. */
struct eh_program {
	const uint8_t *initial; /* of the CIE */
	size_t initial_size;
	const uint8_t *own;
	size_t own_size;
	uint64_t return_register;
};

/*
 * Append the ranges, in file order: ranges is a vector of struct eh_range, or
 * of struct eh_entry. False when out of memory.
 */
bool ehframe_collect(const struct elffile *file, struct vec *ranges);

/*
 * The instructions of the FDE at that address. False if it or its CIE is
 * damaged, or in a form that compilers for x86-64 do not write (64-bit DWARF,
 * an unknown augmentation).
 */
bool ehframe_program(const struct elffile *file, uint64_t fde,
		     struct eh_program *ret);

#endif

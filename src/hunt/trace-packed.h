/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TRACE_CELLS: cells of one granule (struct trace_cell), packed: most of a trace is
 * cells. Behind the structure are `count' cells, each a byte with the bits below and
 * then numbers: 7 bits in a byte, the lowest first, and the highest bit where one more
 * follows. In this order
 *
 *	thread, descriptor, ordinal
 *	count                          with PACKED_COUNT; else 1
 *	first, less that of the cell before it (0), as predict_fold() has it
 *	last - first                   with PACKED_LAST; else 0
 *	value ^ that of the cell before it (0)       with PACKED_VALUE; else 0
 *	mask and first_mask, a byte each   with PACKED_MASKS; else all bytes
 *	lockset
 *	common                         with PACKED_COMMON; else lockset
 *
 * Recorders that are linked without a C library include this file.
 */
#ifndef HUNT_TRACE_PACKED_H
#define HUNT_TRACE_PACKED_H

#include <stdint.h>

struct trace_cells {
	uint64_t address; /* as trace_cell's */
	uint32_t block; /* likewise */
	uint32_t count;
};

enum {
	PACKED_COUNT = 1,
	PACKED_LAST = 2,
	PACKED_VALUE = 4,
	PACKED_MASKS = 8,
	PACKED_COMMON = 16,
	PACKED_CROWDED = 32, /* TRACE_CROWDED; no number */
	PACKED_BYTES = 64, /* of a cell, at most */
};

#endif

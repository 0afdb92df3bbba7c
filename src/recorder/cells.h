/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packs the cells of one granule into the bytes of a TRACE_CELLS
 * (hunt/trace-packed.h).
 */
#ifndef RECORDER_CELLS_H
#define RECORDER_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "hunt/trace-packed.h"

struct trace_cell;

struct cells {
	struct trace_cells head;
	uint32_t size; /* of the bytes */
	uint64_t first, value; /* of the last cell */
	unsigned char bytes[16 * PACKED_BYTES];
};

void cells_begin(struct cells *cells, uint64_t address, uint32_t block);

/* Is there room for one more? */
bool cells_has_room(const struct cells *cells);

/* There is room; the cell has that address and block. */
void cells_add(struct cells *cells, const struct trace_cell *cell);

#endif

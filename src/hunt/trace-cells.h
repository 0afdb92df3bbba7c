/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the cells of a TRACE_CELLS (hunt/trace-packed.h), one by one.
 */
#ifndef HUNT_TRACE_CELLS_H
#define HUNT_TRACE_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunt/trace-format.h"

struct trace_cells;

/* One that is all zero has no cells. */
struct trace_unpacked {
	const unsigned char *at, *end;
	uint32_t left; /* cells that are not read */
	struct trace_cell cell; /* the last that was read */
};

/* The size bytes that are behind the head; they stay where they are. */
void trace_cells_begin(struct trace_unpacked *unpacked,
		       const struct trace_cells *head, const void *behind,
		       size_t size);

/* Read one that is left; false: the bytes do not hold it whole. */
bool trace_cells_next(struct trace_unpacked *unpacked);

#endif

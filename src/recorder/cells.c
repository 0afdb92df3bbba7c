/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cell takes about 20 bytes in place of 80: writing a trace takes as long as
 * all else that is recorded of a program with many small heap blocks, when it
 * is not packed.
 */
#include "recorder/cells.h"

#include "hunt/trace-format.h"
#include "hunt/trace-predict.h"

void cells_begin(struct cells *cells, uint64_t address, uint32_t block)
{
	cells->head =
		(struct trace_cells){ .address = address, .block = block };
	cells->size = 0;
	cells->first = 0;
	cells->value = 0;
}

bool cells_has_room(const struct cells *cells)
{
	return cells->size + PACKED_BYTES <= sizeof(cells->bytes);
}

static void put_byte(struct cells *cells, uint32_t byte)
{
	cells->bytes[cells->size++] = (unsigned char)byte;
}

static void put_number(struct cells *cells, uint64_t number)
{
	while (number >= 0x80) {
		put_byte(cells, (uint32_t)(number & 0x7f) | 0x80);
		number >>= 7;
	}
	put_byte(cells, (uint32_t)number);
}

static uint32_t flags_of(const struct cells *cells,
			 const struct trace_cell *cell)
{
	uint32_t flags = 0;

	if (cell->count != 1)
		flags |= PACKED_COUNT;
	if (cell->last != cell->first)
		flags |= PACKED_LAST;
	if (cell->value != cells->value)
		flags |= PACKED_VALUE;
	if (cell->mask != 0xff || cell->first_mask != 0xff)
		flags |= PACKED_MASKS;
	if (cell->common != cell->lockset)
		flags |= PACKED_COMMON;
	if (cell->flags & TRACE_CROWDED)
		flags |= PACKED_CROWDED;
	return flags;
}

void cells_add(struct cells *cells, const struct trace_cell *cell)
{
	uint32_t flags = flags_of(cells, cell);

	put_byte(cells, flags);
	put_number(cells, cell->thread);
	put_number(cells, cell->descriptor);
	put_number(cells, cell->ordinal);
	if (flags & PACKED_COUNT)
		put_number(cells, cell->count);
	put_number(cells, predict_fold(cell->first - cells->first));
	if (flags & PACKED_LAST)
		put_number(cells, cell->last - cell->first);
	if (flags & PACKED_VALUE)
		put_number(cells, cell->value ^ cells->value);
	if (flags & PACKED_MASKS) {
		put_byte(cells, cell->mask);
		put_byte(cells, cell->first_mask);
	}
	put_number(cells, cell->lockset);
	if (flags & PACKED_COMMON)
		put_number(cells, cell->common);
	cells->first = cell->first;
	cells->value = cell->value;
	cells->head.count++;
}

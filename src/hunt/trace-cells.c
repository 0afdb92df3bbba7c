/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading packed cells; see trace-cells.h. */
#include "hunt/trace-cells.h"

#include "hunt/trace-packed.h"
#include "hunt/trace-predict.h"

void trace_cells_begin(struct trace_unpacked *unpacked,
		       const struct trace_cells *head, const void *behind,
		       size_t size)
{
	*unpacked = (struct trace_unpacked){
		.at = behind,
		.end = (const unsigned char *)behind + size,
		.left = head->count,
		.cell = { .address = head->address, .block = head->block },
	};
}

static bool get_byte(struct trace_unpacked *unpacked, uint8_t *ret)
{
	if (unpacked->at == unpacked->end)
		return false;
	*ret = *unpacked->at++;
	return true;
}

static bool get_number(struct trace_unpacked *unpacked, uint64_t *ret)
{
	uint64_t number = 0;
	uint8_t byte;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		if (!get_byte(unpacked, &byte))
			return false;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = number;
			return true;
		}
	}
	return false;
}

/* One that the structure has 32 bits for. */
static bool get_short(struct trace_unpacked *unpacked, uint32_t *ret)
{
	uint64_t number;

	if (!get_number(unpacked, &number) || number > UINT32_MAX)
		return false;
	*ret = (uint32_t)number;
	return true;
}

static bool get_times(struct trace_unpacked *unpacked, uint8_t flags)
{
	struct trace_cell *cell = &unpacked->cell;
	uint64_t first, more = 0;

	if (!get_number(unpacked, &first) ||
	    ((flags & PACKED_LAST) && !get_number(unpacked, &more)))
		return false;
	cell->first += predict_unfold(first);
	cell->last = cell->first + more;
	return true;
}

static bool get_bytes(struct trace_unpacked *unpacked, uint8_t flags)
{
	struct trace_cell *cell = &unpacked->cell;
	uint64_t value = 0;

	if ((flags & PACKED_VALUE) && !get_number(unpacked, &value))
		return false;
	cell->value ^= value;
	cell->mask = cell->first_mask = 0xff;
	return !(flags & PACKED_MASKS) ||
	       (get_byte(unpacked, &cell->mask) &&
		get_byte(unpacked, &cell->first_mask));
}

static bool get_locksets(struct trace_unpacked *unpacked, uint8_t flags)
{
	struct trace_cell *cell = &unpacked->cell;

	if (!get_short(unpacked, &cell->lockset))
		return false;
	cell->common = cell->lockset;
	return !(flags & PACKED_COMMON) || get_short(unpacked, &cell->common);
}

bool trace_cells_next(struct trace_unpacked *unpacked)
{
	struct trace_cell *cell = &unpacked->cell;
	uint8_t flags;

	unpacked->left--;
	cell->count = 1;
	if (!get_byte(unpacked, &flags))
		return false;
	cell->flags = flags & PACKED_CROWDED ? TRACE_CROWDED : 0;
	return get_short(unpacked, &cell->thread) &&
	       get_short(unpacked, &cell->descriptor) &&
	       get_short(unpacked, &cell->ordinal) &&
	       (!(flags & PACKED_COUNT) || get_short(unpacked, &cell->count)) &&
	       get_times(unpacked, flags) && get_bytes(unpacked, flags) &&
	       get_locksets(unpacked, flags);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding stacks; see transfer-stacks.h. */
#include "hunt/transfer-stacks.h"

#include <stdbool.h>
#include <stddef.h>

#include "hunt/recording.h"

static const struct trace_cell *cell_at(const struct recording *recording,
					size_t i)
{
	return vec_at(&recording->cells, i);
}

/* The place of the first cell of that granule, or one behind it. */
static size_t find_granule(const struct recording *recording, uint64_t granule)
{
	size_t low = 0, high = recording->cells.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cell_at(recording, middle)->address < granule)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct recording_descriptor *descriptor,
		  const struct trace_place *place)
{
	return descriptor->raw->place.module == place->module &&
	       descriptor->raw->place.offset == place->offset;
}

/* How many accesses lie between that number and those of the cell. */
static uint64_t distance_to(const struct trace_cell *cell, uint64_t sequence)
{
	uint64_t last = cell->last > cell->first ? cell->last : cell->first;

	if (sequence < cell->first)
		return cell->first - sequence;
	return sequence > last ? sequence - last : 0;
}

/* The only one of that instruction in the thread. */
static const struct recording_descriptor *
find_only(const struct recording *recording, uint32_t thread,
	  const struct trace_place *place)
{
	const struct recording_descriptor *only = NULL;

	for (size_t i = 0; i < recording->uses.count; i++) {
		const struct trace_uses *uses = vec_at(&recording->uses, i);
		const struct recording_descriptor *descriptor;

		if (uses->thread != thread)
			continue;
		descriptor = recording_descriptor(recording, uses->descriptor);
		if (!descriptor || !is_at(descriptor, place))
			continue;
		if (only && only != descriptor)
			return NULL;
		only = descriptor;
	}
	return only;
}

const struct recording_descriptor *
transfer_stack_of(const struct recording *recording, uint32_t thread,
		  const struct trace_place *place, uint64_t address,
		  uint64_t sequence)
{
	uint64_t granule = address - address % TRACE_GRANULE;
	const struct recording_descriptor *best = NULL;
	uint64_t least = UINT64_MAX;

	for (size_t i = find_granule(recording, granule);
	     i < recording->cells.count &&
	     cell_at(recording, i)->address == granule;
	     i++) {
		const struct trace_cell *cell = cell_at(recording, i);
		const struct recording_descriptor *descriptor =
			recording_descriptor(recording, cell->descriptor);
		uint64_t distance = distance_to(cell, sequence);

		if (cell->thread != thread || !is_at(descriptor, place) ||
		    (best && distance >= least))
			continue;
		best = descriptor;
		least = distance;
	}
	return best ? best : find_only(recording, thread, place);
}

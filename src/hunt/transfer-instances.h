/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The executions behind the cells of a recording: every access of the step stream
 * by a cell's thread and instruction to its granule. A pair of accesses is ordered
 * only if all of these are (ATDetector, MICRO 2011, section 3.4, is of one).
 */
#ifndef HUNT_TRANSFER_INSTANCES_H
#define HUNT_TRANSFER_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunt/transfer-track.h"

struct error;
struct executed;
struct recording;
struct trace_cell;
struct transfer_instances;
struct transfer_published;

/* With more of them, a cell has none that are known. */
enum { TRANSFER_INSTANCES_MAX = 4096 };

struct transfer_instance {
	struct transfer_point point; /* the last access of the instruction */
	uint64_t address;
	uint32_t accesses; /* that were counted until the thread's next step */
};

/*
 * Of these cells (uint32_t, places in recording->cells). One pass over the whole
 * stream, of which `published' takes its part too.
 */
struct error *transfer_instances_create(struct executed *executed,
					const struct recording *recording,
					const struct vec *cells,
					struct transfer_published *published,
					struct transfer_instances **ret);
/* NULL is fine. */
void transfer_instances_destroy(struct transfer_instances *instances);

/*
 * Those of a cell, in their order; others of the same instruction may be among
 * them. False: the stream does not have all, or there are too many.
 */
bool transfer_instances_of(const struct transfer_instances *instances,
			   const struct trace_cell *cell,
			   const struct transfer_instance **ret,
			   size_t *ret_count);

/*
 * The last step of its thread that surely came before the block was allocated; 0:
 * none is in the trace.
 */
uint64_t transfer_instances_born(const struct transfer_instances *instances,
				 uint32_t block);

#endif

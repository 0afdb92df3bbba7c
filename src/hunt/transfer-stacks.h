/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks of what a thread executed: its steps have none, but the accesses that a
 * recording keeps of them have.
 */
#ifndef HUNT_TRANSFER_STACKS_H
#define HUNT_TRANSFER_STACKS_H

#include <stdint.h>

struct recording;
struct recording_descriptor;
struct trace_place;

/*
 * The descriptor of an access of that thread by that instruction to a byte. Of
 * several stacks that of the accesses whose numbers are nearest. Address 0: it is
 * not known. NULL: it is not recorded, or cannot be told from others.
 */
const struct recording_descriptor *
transfer_stack_of(const struct recording *recording, uint32_t thread,
		  const struct trace_place *place, uint64_t address,
		  uint64_t sequence);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packs the steps of one thread into the bytes of a TRACE_STREAM
 * (hunt/trace-stream.h).
 */
#ifndef RECORDER_PACKER_H
#define RECORDER_PACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "hunt/trace-predict.h"
#include "hunt/trace-stream.h"

struct packer {
	struct trace_stream head; /* of the chunk that is being filled */
	uint32_t run; /* steps as predicted that are not in bytes yet */
	uint32_t items, words; /* steps and events; their words */
	struct predict predict;
	unsigned char bytes[TRACE_STREAM_BYTES];
};

/*
 * Begin a chunk: its next step has the number `first', and `sequence' accesses
 * were counted before it.
 */
void packer_begin(struct packer *packer, uint32_t thread, uint64_t first,
		  uint64_t sequence);

/* Is there room for a step that has this number of words, or for an event? */
bool packer_has_room(const struct packer *packer, uint32_t words);

struct packer_step {
	uint32_t id; /* of the superblock */
	uint32_t exit;
	uint32_t count; /* words, with the first one */
	uint32_t instructions;
	uint64_t accesses; /* counted until the next step: the first word */
	const uint64_t *words; /* count - 1 of them */
};

/* There is room. */
void packer_step(struct packer *packer, const struct packer_step *step);
void packer_event(struct packer *packer, enum trace_stream_event event,
		  const uint64_t *numbers);

/* Make head and bytes complete. */
void packer_end(struct packer *packer);

#endif

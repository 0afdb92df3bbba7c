/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The steps and events of one TRACE_STREAM (hunt/trace-stream.h).
 */
#ifndef HUNT_UNPACK_H
#define HUNT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "hunt/trace-stream.h"

struct error;

struct unpacked_step {
	uint64_t number; /* of an event: that of the step before it */
	uint64_t sequence; /* accesses that were counted before it */
	size_t words; /* in unpacked.words: of the step, or the event's numbers */
	uint32_t accesses; /* that were counted until the thread's next step */
	uint32_t superblock; /* 0: an event */
	uint16_t exit;
	uint16_t event; /* enum trace_stream_event */
};

/* Zeroed: nothing. */
struct unpacked {
	struct vec steps; /* of struct unpacked_step */
	struct vec words; /* of uint64_t */
};

/* How many words a step of the superblock has at an exit; -1: not known. */
struct unpack_codes {
	int (*words)(const void *codes, uint32_t superblock, uint32_t exit);
	const void *codes;
};

/*
 * Unpack the chunk, whose bytes are behind it. What ret had is gone. False: out of
 * memory, or (*ret_wrong) the bytes are no stream.
 */
bool unpack(const struct trace_stream *chunk, const struct unpack_codes *codes,
	    struct unpacked *ret, bool *ret_wrong);
void unpacked_deinit(struct unpacked *unpacked);

#endif

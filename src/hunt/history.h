/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a recording knows of the bytes of a side: report/recorded.h. Frames have
 * modules and offsets; conflict/symbolize.h names them when a race is reported.
 */
#ifndef HUNT_HISTORY_H
#define HUNT_HISTORY_H

#include <stddef.h>
#include <stdint.h>

struct code;
struct error;
struct recorded;
struct recording;
struct recording_descriptor;
struct trace_place;
struct vec;

enum {
	HISTORY_MAX = 12, /* accesses that are kept */
	/* frames: of an access, and of a call that took a lock */
	HISTORY_FRAMES_MAX = 4,
	HISTORY_LOCK_FRAMES_MAX = 8,
};

struct history_input {
	const struct recording *recording;
	struct code *code;
	uint32_t cell; /* place of the side's in recording->cells */
	const uint32_t *partners; /* the same of its partners, the best first */
	size_t partner_count;
	uint32_t size; /* of the side's access */
};

/*
 * Fill in what is all empty: the accesses to bytes of the side's first access,
 * in its heap block. Those of runtimes are left out. Of too many, the side, its
 * partners and those nearest to it in the recording are kept. After an error,
 * *ret may have some of it.
 */
struct error *history_make(const struct history_input *input,
			   struct recorded *ret);

/*
 * Append frames: of an instruction and, if its descriptor is known, of its callers;
 * at most so many.
 */
struct error *history_add_stack(const struct recording *recording,
				struct code *code,
				const struct trace_place *place,
				const struct recording_descriptor *descriptor,
				size_t most, struct vec *frames);

/*
 * Cut the name of bytes in a lock to that of the lock: what the C library and C++
 * call its parts says nothing.
 */
void history_cut_name(char *name);

/*
 * Add the accesses of another side that is the same access, if they are of the
 * same process: they are moved.
 */
struct error *history_merge(struct recorded *into, struct recorded *from);

#endif

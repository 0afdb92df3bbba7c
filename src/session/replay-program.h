/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the pages of an instance come from that were not captured with it: the
 * program, which runs on, without the breakpoints that the tracer has set in it.
 * It may also have died of the race, or ended: then code is what its files have,
 * and the rest is gone. It is only read.
 */
#ifndef SESSION_REPLAY_PROGRAM_H
#define SESSION_REPLAY_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/pagecache.h"
#include "sys/mapping.h"
#include "sys/memory.h"

struct error;
struct image;

struct replay_program {
	const struct image *image; /* borrowed; as refreshed last */
	struct memory memory;
	struct mappings mappings;
	bool ended;
};

/* A process with the modules of the image. End with replay_program_deinit(). */
void replay_program_init(struct replay_program *program,
			 const struct image *image, int pid);
void replay_program_deinit(struct replay_program *program);

/* Valid as long as the program is. */
struct replay_source replay_program_source(struct replay_program *program);

/*
 * The lowest address of the stack that a thread has now, by its stack pointer.
 * That of a coroutine may have live memory below.
 */
struct error *replay_program_stack_low(const struct replay_source *source,
				       uint64_t rsp, uint64_t *ret);

#endif

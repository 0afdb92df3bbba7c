/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which addresses of locals a call hands to where other threads may find them: a
 * queue of jobs, a list, an object on the heap. Looked for in the code of the
 * called function, and of those that it hands its arguments on to, of the same
 * module, a few calls deep; beside what creators.h knows. Calls through pointers
 * and functions of other modules are not followed, nor are large functions.
 */
#ifndef SAMPLING_ESCAPES_H
#define SAMPLING_ESCAPES_H

#include <stdint.h>

#include "base/map.h"

struct creators;
struct decoder;
struct frame;
struct insn_access;
struct module;

struct escapes {
	struct creators *creators; /* borrowed, as the next */
	struct decoder *decoder;
	struct map known; /* struct escapes_known, by module and function */
};

void escapes_init(struct escapes *escapes, struct creators *creators,
		  struct decoder *decoder);
void escapes_deinit(struct escapes *escapes);

/*
 * The call at a file address of the module, of a function whose frame is given,
 * is made: what it passes and others may reach escapes. The frame is where it is
 * before the call.
 */
void escapes_call(struct escapes *escapes, const struct module *module,
		  uint64_t address, const struct insn_access *insn,
		  struct frame *frame);

#endif

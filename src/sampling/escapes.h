/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Addresses of locals that a call stores where other threads may find them: in
 * a queue of jobs, a list, an object on the heap. Found in the code of the
 * called function, and of functions of the same module that it passes its
 * arguments to, a few calls deep; creators.h finds others. Calls through
 * pointers, functions of other modules and large functions are not followed.
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
 * Add the locals that escape by the call at a file address of the module: those
 * that it passes and that others may reach. `frame' is that of the calling
 * function, as before the call.
 */
void escapes_call(struct escapes *escapes, const struct module *module,
		  uint64_t address, const struct insn_access *insn,
		  struct frame *frame);

#endif

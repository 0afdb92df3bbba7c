/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tracer has seen to run: WIRE_RUNNING and WIRE_CALLERS
 * (wire/message.h).
 */
#ifndef WIRE_RUNNING_H
#define WIRE_RUNNING_H

#include <stdint.h>

/*
 * A block of code in which a thread was seen, by samples of its CPU time, or by
 * a stop where perf is refused. A block that still runs is told again, at most
 * once a second. It may lie anywhere in the process: also outside the text that
 * is watched, or in memory that was unmapped since.
 */
enum { WIRE_RUNNING_BLOCK = 16, WIRE_RUNNING_MAX = 256 };

struct wire_running {
	uint64_t address; /* of the block: a multiple of WIRE_RUNNING_BLOCK */
	uint32_t program;
	uint32_t count; /* samples since the block was last told; never 0 */
};

/*
 * Words from the top of the stack of a thread that was stopped, as they are
 * there. Those that are return addresses in watched text say that their
 * functions run, or ran not long ago.
 */
enum { WIRE_CALLERS_MAX = 128 };

struct wire_callers {
	uint32_t program;
	uint32_t count; /* of words; 1 to WIRE_CALLERS_MAX */
};

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a session records by breakpoints (tracer/record.h), and what it tells. */
#ifndef SESSION_RECORDING_H
#define SESSION_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps;
struct wire_recorded;

enum { SESSION_RETURNS = 8 };

struct session_recording {
	uint32_t executions; /* of each instruction, by each thread */
	/* Is the program with this path to be recorded? NULL: all are. */
	bool (*wants)(void *context, const char *path);
	void *context; /* of wants */
};

/* What a thread does. Borrowed. */
struct session_recorded {
	const struct wire_recorded *wire;
	/* on its stack, the innermost first, SESSION_RETURNS at most */
	const uint64_t *returns;
	size_t return_count;
	const char
		*path; /* of the executable, maybe of a past process; or NULL */
	const struct maps
		*maps; /* of a process that runs, or ran, it; or NULL */
};

#endif

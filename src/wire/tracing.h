/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options that the tracer gets as the user gave them. An option is a member
 * here, a row in the table of cmd/groups.c, and whatever the tracer does with
 * struct tracer_config.tracing; what is between them passes the whole group on.
 */
#ifndef WIRE_TRACING_H
#define WIRE_TRACING_H

#include <stdbool.h>

struct tracing {
	const char *backend; /* a name of tracee/backend.h, or "auto" */
	/*
	 * Which children are watched: enum wire_follow. Negative, only before a
	 * session begins: not given.
	 */
	int follow;
	/* breakpoints in debug registers only; needs the back-end perf */
	bool text_untouched;
	bool no_aslr; /* start the program without randomized addresses */
};

#endif

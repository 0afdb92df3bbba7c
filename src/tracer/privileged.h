/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs with privileges of their own (set-user-ID, set-group-ID or file
 * capabilities). The kernel withholds them from a process that is traced,
 * unless the tracer has them too.
 */
#ifndef TRACER_PRIVILEGED_H
#define TRACER_PRIVILEGED_H

#include <stdbool.h>

struct core;
struct process;

struct privileged {
	struct core *core;
	bool told; /* that one runs without its privileges */
};

/* A child has become another program: a warning if that lacks privileges. */
void privileged_check(struct privileged *privileged,
		      const struct process *process);

#endif

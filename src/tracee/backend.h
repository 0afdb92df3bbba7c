/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing the watch back-end, by testing each. */
#ifndef TRACEE_BACKEND_H
#define TRACEE_BACKEND_H

#include <stddef.h>

struct error;
struct watch;

/*
 * Set watch->ops and watch->kernel. name is as --backend takes it; for "auto"
 * the first that works of perf, ptrace, value, and in `reason` (of size bytes)
 * why better ones do not; another name that does not work is an error.
 */
struct error *backend_choose(const char *name, struct watch *watch,
			     char *reason, size_t size);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The owner of memory: the thread that has an address on its stack or among its
 * thread-local variables. The registers of the two threads of a conflict show
 * what they own; for other threads, /proc does while they sleep.
 */
#ifndef CONFLICT_OWNER_H
#define CONFLICT_OWNER_H

#include <stdbool.h>
#include <stdint.h>

struct conflict;
struct conflict_context;
struct error;

struct owner {
	int tid; /* 0: not known */
	bool tls; /* of the executable's variables; else of the stack */
	uint64_t tls_offset; /* in the executable's segment of them */
	int side; /* which of the conflict's threads it is; -1: another */
};

/* ERROR_NOMEM only. */
struct error *owner_find(const struct conflict_context *context,
			 const struct conflict *conflict, struct owner *ret);

#endif

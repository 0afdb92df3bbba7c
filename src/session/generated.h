/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measures how much of its time a program spends in code generated at run time,
 * as by Java, Node or LuaJIT. Such code is never sampled, since nobody else may
 * write there. Nothing is measured before a process has such code; then some
 * threads at a time are sampled by the clock of their CPU time
 * (sys/cpuclock.h), without being stopped.
 */
#ifndef SESSION_GENERATED_H
#define SESSION_GENERATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct map_entry;
struct watched;

struct generated {
	bool seen; /* there is such code */
	bool refused; /* and the time in it cannot be measured here */
	struct vec clocks; /* of struct generated_clock */
	size_t next; /* thread to begin with, where there are many */
	uint64_t looks, inside; /* addresses; those of them in such code */
};

void generated_init(struct generated *generated);
void generated_deinit(struct generated *generated);

/*
 * Count the samples of the clocks since the last call, and set the clocks
 * again; called several times a second.
 */
void generated_look(struct generated *generated, const struct watched *watched);

/* Executable, and of no file nor the kernel's own? */
bool generated_is_code(const struct map_entry *entry);

#endif

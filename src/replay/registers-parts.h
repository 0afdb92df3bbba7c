/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The register live-outs of two schedules; private to src/replay/instance*.c.
 */
#ifndef REPLAY_REGISTERS_PARTS_H
#define REPLAY_REGISTERS_PARTS_H

#include <stdbool.h>

struct instance;
struct replay_outcome;

/*
 * Where both threads ended, does a register differ that may be read then? At a
 * return those that a function hands on: callee-saved ones, rax, rdx, xmm0 and
 * xmm1. At a system call its number, its arguments, and what is read behind it.
 * Flags are left out. Both outcomes have the same ends. Sets instance->locals
 * where a function has not returned and may read one that differs.
 */
bool registers_differ(struct instance *instance, const struct replay_outcome *a,
		      const struct replay_outcome *b);

#endif

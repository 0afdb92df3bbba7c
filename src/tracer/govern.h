/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gives the tracer's counters to the governor (schedule/governor.h), which sets
 * the size of the pool.
 */
#ifndef TRACER_GOVERN_H
#define TRACER_GOVERN_H

#include <stddef.h>
#include <stdint.h>

#include "schedule/governor.h"

struct core;
struct load;
struct pool;
struct wire_params;

struct govern {
	struct core *core;
	struct load *load;
	struct pool *pool;
	struct governor governor; /* of the pool's size */
	uint64_t supply; /* sites that could be armed (WIRE_SUPPLY) */
};

/* The budgets, before anything is watched. */
void govern_begin(struct govern *govern, const struct wire_params *params);

/*
 * At each tick of the tracer while it watches: the size of the pool. What is armed
 * beyond it is arm_shrink()'s to lift.
 */
void govern_tick(struct govern *govern, uint64_t now);

/*
 * A process runs another program: hits before predict nothing about hits after.
 */
void govern_restart(struct govern *govern);

/* WIRE_SUPPLY. */
void govern_supplied(struct govern *govern, const void *payload, size_t size);

#endif

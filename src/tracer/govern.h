/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gives the tracer's counters to the governor (schedule/governor.h), and sets
 * the size of the pool that it wants.
 */
#ifndef TRACER_GOVERN_H
#define TRACER_GOVERN_H

#include <stddef.h>
#include <stdint.h>

struct engine;
struct wire_params;

/* The budgets, before anything is watched. */
void govern_begin(struct engine *engine, const struct wire_params *params);

/* At each tick of the tracer while it watches: the size of the pool. */
void govern_tick(struct engine *engine, uint64_t now);

/*
 * A process runs another program: hits before predict nothing about hits after.
 */
void govern_restart(struct engine *engine);

/* WIRE_SUPPLY. */
void govern_supplied(struct engine *engine, const void *payload, size_t size);

#endif

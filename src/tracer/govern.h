/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer's counters, given to the governor (schedule/governor.h), and the
 * pool that the governor wants.
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

/* A process runs another program: the hits before say nothing of the ones after. */
void govern_restart(struct engine *engine);

/* WIRE_SUPPLY. */
void govern_supplied(struct engine *engine, const void *payload, size_t size);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The breakpoints of a provocation: they stay, whoever comes by (provoke.h).
 */
#ifndef TRACER_PROVOKE_SITES_H
#define TRACER_PROVOKE_SITES_H

#include <stdbool.h>

struct engine;

/* Set those that are not set, as far as that may be done now. */
void provoke_sites_arm(struct engine *engine);

/* Lift all; for good: nothing that is still on its way sets one again. */
void provoke_sites_lift(struct engine *engine, bool for_good);

#endif

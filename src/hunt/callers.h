/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A race by each of its callers. Those by one pair of lines are one race, of which a
 * report shows two stacks; a candidate may name another caller of them (hunt/claim.h).
 */
#ifndef HUNT_CALLERS_H
#define HUNT_CALLERS_H

#include <stdint.h>

#include "base/vec.h"

struct error;
struct race;

enum { CALLERS_MAX = 64 }; /* of one race; more are left out */

struct callers {
	struct vec races; /* of struct race *, owned */
};

void callers_init(struct callers *callers);
void callers_deinit(struct callers *callers);

/*
 * A hash of where both sides were called, whichever was stalled: of their stacks as
 * far as claims look at them.
 */
uint64_t callers_hash(const struct race *race);

/* Keep a copy of the race, unless one by these callers is there. */
struct error *callers_add(struct callers *callers, const struct race *race);

#endif

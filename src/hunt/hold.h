/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long a thread is held for another one that came later in a recording.
 *
 * Under the recorder computation takes slow_down times as long, and sleeping
 * does not:
 *
 *	2 * (distance - slept) / slow_down + slept + 10 ms
 *
 * Twice, since runs differ. Measured: where both holds of a side are shorter than
 * the real distance, none of 20 hunts meets (bench/hunt.txt, listing 2 with 2 ms).
 */
#ifndef HUNT_HOLD_H
#define HUNT_HOLD_H

#include <stdint.h>

#include "base/clock.h"

/* What is added to each hold. */
static const uint64_t HUNT_HOLD_LEAST_NS = 10 * CLOCK_NS_PER_MS;

/*
 * In nanoseconds. slept_ns: of the distance, in sleeps and waits; not more than
 * distance_ns counts. slow_down: CPU time of the recorded run by that of a bare
 * one; less than 1 counts as 1.
 */
uint64_t hunt_hold_ns(uint64_t distance_ns, uint64_t slept_ns,
		      double slow_down);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The time a thread is held; see hold.h.
 */
#include "hunt/hold.h"

enum { HOLD_TIMES = 2 };

uint64_t hunt_hold_ns(uint64_t distance_ns, uint64_t slept_ns, double slow_down)
{
	uint64_t slept = slept_ns < distance_ns ? slept_ns : distance_ns;
	double computed = (double)(distance_ns - slept);

	if (slow_down > 1)
		computed /= slow_down;
	return (uint64_t)(HOLD_TIMES * computed) + slept + HUNT_HOLD_LEAST_NS;
}

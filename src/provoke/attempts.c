/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Orders and holds; see attempts.h.
 */
#include "provoke/attempts.h"

#include "base/clock.h"

enum {
	ATTEMPTS_GROWTH = 10,
	/* runs in vain before another instruction counts too */
	ATTEMPTS_STRICT = 2,
};

static const uint64_t ATTEMPTS_LEAST_NS = 50 * CLOCK_NS_PER_MS;
static const uint64_t ATTEMPTS_MOST_NS = CLOCK_NS_PER_S;

bool attempts_want(enum attempts_order asked, enum wire_order order)
{
	return asked == ATTEMPTS_BOTH ||
	       (asked == ATTEMPTS_AB) == (order == WIRE_ORDER_AB);
}

void attempts_begin(struct attempts *attempts, uint64_t elapsed_ns)
{
	uint64_t hold_ns = elapsed_ns < ATTEMPTS_MOST_NS
				   ? ATTEMPTS_LEAST_NS + 2 * elapsed_ns
				   : ATTEMPTS_MOST_NS;

	*attempts = (struct attempts){
		.hold_ns = hold_ns < ATTEMPTS_MOST_NS ? hold_ns
						      : ATTEMPTS_MOST_NS,
	};
}

void attempts_ran(struct attempts *attempts, bool met)
{
	if (met) {
		attempts->in_vain = 0;
		return;
	}
	attempts->in_vain++;
	attempts->hold_ns *= ATTEMPTS_GROWTH;
	if (attempts->hold_ns > ATTEMPTS_MOST_NS)
		attempts->hold_ns = ATTEMPTS_MOST_NS;
}

bool attempts_by_watch(const struct attempts *attempts)
{
	return attempts->in_vain >= ATTEMPTS_STRICT;
}

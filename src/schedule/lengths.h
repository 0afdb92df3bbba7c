/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long a stall at a location may be, learned from what its stalls came to.
 * Where conflicts came soon, a few times as long is long enough. Where time is
 * what limits the sampling, a location that was often stalled and met nobody
 * gets shorter stalls, so that the time goes to those that run rarely, whose
 * partners come rarely too: they keep the longest. The table is bounded; what
 * was noted least recently is forgotten first. Pure code.
 */
#ifndef SCHEDULE_LENGTHS_H
#define SCHEDULE_LENGTHS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

enum { LENGTHS_MAX = 65536 };

struct lengths {
	struct map sites; /* see lengths.c */
	uint64_t noted; /* samples so far */
};

void lengths_deinit(struct lengths *lengths);

/*
 * A stall at the site has ended: after so long with a conflict, or quietly.
 * What does not fit into memory is not learned.
 */
void lengths_note(struct lengths *lengths, uint64_t site, bool conflict,
		  uint64_t stalled_ns);

/*
 * The longest stall that the site should get, where max_ns is that of a site
 * of which nothing is known; scarce: time is what limits the sampling.
 */
uint64_t lengths_of(const struct lengths *lengths, uint64_t site,
		    uint64_t max_ns, bool scarce);

/*
 * The longest stall in a program that has begun so long ago. Nobody knows how
 * long it lasts, so each stall takes a part of what it has lasted: one that ends
 * soon has had several, and one that goes on gets longer and longer ones.
 */
uint64_t lengths_young(uint64_t age_ns);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The repeatable random numbers behind --seed: xoshiro256** (Blackman and
 * Vigna, "Scrambled linear pseudorandom number generators", 2021), seeded by
 * splitmix64. Not for secrets.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state[4];
};

void rng_init(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);

/* Uniform in [0, bound), without modulo bias; 0 when bound is 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

#endif

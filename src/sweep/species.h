/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Estimates how many races were not seen. Races are the species and runs the
 * samples; for each race only the number of runs that showed it counts
 * (incidence data). The estimates are about more runs of the same kind, and
 * about races that such runs can show.
 *
 *   I. J. Good, "The population frequencies of species and the estimation of
 *   population parameters", Biometrika 40 (1953), 237-264.
 *   A. Chao, "Nonparametric estimation of the number of classes in a
 *   population", Scandinavian Journal of Statistics 11 (1984), 265-270.
 *   A. Chao, "Estimating the population size for capture-recapture data with
 *   unequal catchability", Biometrics 43 (1987), 783-791.
 *   A. Chao and L. Jost, "Coverage-based rarefaction and extrapolation",
 *   Ecology 93 (2012), 2533-2547.
 */
#ifndef SWEEP_SPECIES_H
#define SWEEP_SPECIES_H

#include <stddef.h>
#include <stdint.h>

/* Numbers that everything below is computed from. */
struct species_counts {
	uint64_t samples; /* runs: T */
	uint64_t seen; /* species */
	uint64_t once, twice; /* species found exactly once and twice: Q1, Q2 */
	uint64_t incidences; /* sum of the times that each species was found */
};

struct species_estimate {
	/*
	 * Probability that the next run shows a species that is new, Q1 / T:
	 * Good's (1953), of runs. And a limit that it exceeds in one case of
	 * twenty, with Q1 as a Poisson variable.
	 */
	double next, next_limit;
	/* The share of all incidences that belongs to the species seen. */
	double coverage;
	/* Species in all (Chao 1987), and its 95 % interval. */
	double total, total_low, total_high;
};

/* One more species, found `times' times; 0: it was not found. */
void species_add(struct species_counts *counts, uint64_t times);

/* How often each species was found: times[0..n - 1], zeros count as unseen. */
struct species_counts species_count(const uint64_t *times, size_t n,
				    uint64_t samples);

/* With no samples everything is unknown: next and next_limit are 1. */
struct species_estimate
species_estimate_incidence(const struct species_counts *counts);

/*
 * The mean of the Poisson distribution that gives `events' or fewer with
 * probability 1 - confidence: 3.0 for none, at 0.95.
 */
double species_poisson_limit(uint64_t events, double confidence);

#endif

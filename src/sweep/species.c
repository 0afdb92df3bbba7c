/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Species estimation; see species.h. The variance of Chao2 and its log-normal
 * interval are those of Chao (1987), in the form that is in use for a finite
 * number of samples, with k = (T - 1) / T.
 */
#include "sweep/species.h"

#include <math.h>

/* Two-sided, of the normal distribution. */
static const double z95 = 1.959964;

void species_add(struct species_counts *counts, uint64_t times)
{
	counts->seen += times > 0;
	counts->once += times == 1;
	counts->twice += times == 2;
	counts->incidences += times;
}

struct species_counts species_count(const uint64_t *times, size_t n,
				    uint64_t samples)
{
	struct species_counts counts = { .samples = samples };

	for (size_t i = 0; i < n; i++)
		species_add(&counts, times[i]);
	return counts;
}

/* P(X <= events) for a Poisson variable of that mean. */
static double poisson_at_most(uint64_t events, double mean)
{
	double term = exp(-mean);
	double sum = term;

	for (uint64_t i = 1; i <= events; i++) {
		term *= mean / (double)i;
		sum += term;
	}
	return sum;
}

double species_poisson_limit(uint64_t events, double confidence)
{
	double low = (double)events;
	double high = low + 10 + 10 * sqrt(low);

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		/* exp() of less is zero */
		if (middle < 700 &&
		    poisson_at_most(events, middle) > 1 - confidence)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static double unseen_by_chao(const struct species_counts *counts)
{
	double once = (double)counts->once, twice = (double)counts->twice;
	double k = ((double)counts->samples - 1) / (double)counts->samples;

	if (counts->twice > 0)
		return k * once * once / (2 * twice);
	return k * once * (once - 1) / 2;
}

static double chao_variance(const struct species_counts *counts, double total)
{
	double once = (double)counts->once, twice = (double)counts->twice;
	double k = ((double)counts->samples - 1) / (double)counts->samples;
	double r, variance;

	if (counts->twice > 0) {
		r = once / twice;
		return twice * (k / 2 * r * r + k * k * r * r * r +
				k * k / 4 * r * r * r * r);
	}
	variance = k * once * (once - 1) / 2 +
		   k * k * once * (2 * once - 1) * (2 * once - 1) / 4;
	if (total > 0)
		variance -= k * k * once * once * once * once / (4 * total);
	return variance > 0 ? variance : 0;
}

/* Log-normal, so that it does not begin below what was seen. */
static void estimate_total(const struct species_counts *counts,
			   struct species_estimate *estimate)
{
	double seen = (double)counts->seen;
	double unseen = unseen_by_chao(counts);
	double spread;

	estimate->total = seen + unseen;
	estimate->total_low = estimate->total_high = estimate->total;
	if (unseen <= 0)
		return;
	spread = exp(z95 * sqrt(log(1 + chao_variance(counts, estimate->total) /
						(unseen * unseen))));
	estimate->total_low = seen + unseen / spread;
	estimate->total_high = seen + unseen * spread;
}

/* Chao and Jost (2012), equation 4a and its counterpart for incidences. */
static double sample_coverage(const struct species_counts *counts)
{
	double once = (double)counts->once, twice = (double)counts->twice;
	double others = (double)counts->samples - 1;
	double rest;

	if (counts->incidences == 0)
		return 0;
	if (counts->once == 0)
		return 1;
	if (counts->twice > 0)
		rest = others * once / (others * once + 2 * twice);
	else
		rest = others * (once - 1) / (others * (once - 1) + 2);
	/* one sample: nothing is known of others */
	if (counts->samples == 1)
		rest = 1;
	return 1 - once / (double)counts->incidences * rest;
}

struct species_estimate
species_estimate_incidence(const struct species_counts *counts)
{
	struct species_estimate estimate = { .next = 1, .next_limit = 1 };
	double samples = (double)counts->samples;

	if (counts->samples == 0)
		return estimate;
	estimate.next = fmin(1, (double)counts->once / samples);
	estimate.next_limit =
		fmin(1, species_poisson_limit(counts->once, 0.95) / samples);
	estimate.coverage = sample_coverage(counts);
	estimate_total(counts, &estimate);
	return estimate;
}

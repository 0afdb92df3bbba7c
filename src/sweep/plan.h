/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan of a sweep: its entries are settings of runs, such as the rate and
 * the length of stalls. One entry may show a race that another misses: only a
 * long stall finds accesses far apart in time; on a hot path many short stalls
 * find most. The sweep learns from run to run which entry finds most, and never
 * stops using any.
 */
#ifndef SWEEP_PLAN_H
#define SWEEP_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLAN_MAX = 8, PLAN_NAME = 64 };

/*
 * What the user has fixed for all runs: UINT64_MAX or NULL if the plan varies
 * it.
 */
struct plan_fixed {
	uint64_t rate, stall_ns;
	const char *policy; /* a word of --policy */
};

struct plan_entry {
	/* "rate=1000 stall=1ms policy=guided": kept in state files */
	char name[PLAN_NAME];
	uint64_t rate, stall_ns;
	const char *policy;
	/*
	 * The options of racewatch run for what is not fixed; ends in NULL.
	 * They borrow from the entry.
	 */
	const char *words[9];
	char rate_word[24], stall_word[24];
	/* experience; see plan_credit() */
	uint64_t claimed, finished;
	double gain, seconds;
	uint64_t races_new;
};

struct plan {
	struct plan_entry entries[PLAN_MAX];
	size_t count;
	bool even; /* each in turn, whatever was learned */
};

/* What one run brought. */
struct plan_result {
	uint64_t races_new; /* that no run had shown before */
	uint64_t races; /* shown at all */
	bool more_sites; /* sampled than in any run before */
	uint64_t elapsed_ns;
};

/* The entries that are different with these values fixed; at least one. */
void plan_init(struct plan *plan, const struct plan_fixed *fixed, bool even);

/* NULL: there is none of that name. */
struct plan_entry *plan_find(struct plan *plan, const char *name);

/*
 * The entry for a run. An even plan goes by the run's number, so that every
 * sweep gives run n the same. Otherwise it is the one with the highest upper
 * confidence bound of the gain per second (UCB1: Auer, Cesa-Bianchi and
 * Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine
 * Learning 47, 2002); but one that has had less than a quarter of its even
 * share comes first. Runs that have not ended count as runs without a gain.
 */
size_t plan_choose(const struct plan *plan, uint64_t run);

/* Count a run of the entry that was begun, or one that has ended. */
void plan_claim(struct plan_entry *entry);
void plan_credit(struct plan_entry *entry, const struct plan_result *result);

#endif

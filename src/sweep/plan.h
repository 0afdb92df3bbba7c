/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ways in which the runs of a sweep look: how often, with which stalls.
 * A race that one way misses another may show: of accesses far apart in time
 * only a long stall sees both; of a hot path many short stalls see most. Which
 * way pays is learned from run to run, and none is ever given up.
 */
#ifndef SWEEP_PLAN_H
#define SWEEP_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLAN_MAX = 8, PLAN_NAME = 64 };

/*
 * What all runs have, which the user has said: UINT64_MAX or NULL where the plan
 * varies it.
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
	 * The options of racewatch run that say what is not fixed; ends in NULL.
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

/* The entries that differ with these things fixed; one at least. */
void plan_init(struct plan *plan, const struct plan_fixed *fixed, bool even);

/* NULL: there is none of that name. */
struct plan_entry *plan_find(struct plan *plan, const char *name);

/*
 * The entry for a run. An even plan goes by the run's number, so that every
 * sweep gives run n the same. Otherwise it is the one that promises most, an
 * upper bound of what was gained per second (UCB1: Auer, Cesa-Bianchi and
 * Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine
 * Learning 47, 2002); but one that has had less than a quarter of its even
 * share comes first. Runs under way count as having brought nothing.
 */
size_t plan_choose(const struct plan *plan, uint64_t run);

/* A run of the entry was begun, has ended. */
void plan_claim(struct plan_entry *entry);
void plan_credit(struct plan_entry *entry, const struct plan_result *result);

#endif

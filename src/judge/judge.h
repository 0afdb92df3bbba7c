/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is thought of a race beyond what was seen of it: its verdict, whether it
 * is suppressed, and whether it is known. As the options --suppressions,
 * --baseline and others like them say. Every file is read, and the one to be
 * written opened, before a program is touched.
 */
#ifndef JUDGE_JUDGE_H
#define JUDGE_JUDGE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/vec.h"
#include "judge/baseline.h"
#include "judge/suppress.h"

struct error;
struct race;

struct judge_config {
	struct vec suppressions, baselines; /* of const char *: paths */
	struct vec special; /* of const char *: globs of variables */
	bool no_default_suppressions;
	bool update_baseline;
	bool ignore_unlikely; /* races judged so are not counted */
	const char *generate; /* file for ready suppressions; NULL: none */
	bool verbose;
};

struct judge {
	const struct judge_config *config;
	struct suppressions suppressions;
	struct baseline baseline;
	FILE *generated; /* NULL: none */
};

/*
 * Read what the options name; config must outlive the judge. ERROR_USAGE,
 * ERROR_FORMAT, or that of a file. End with judge_deinit(), also after an error.
 */
struct error *judge_init(struct judge *judge,
			 const struct judge_config *config);
void judge_deinit(struct judge *judge);

/*
 * Set race->verdict, reason and grounds from its record: before it is compared
 * with others, and again whenever it was seen again.
 */
struct error *judge_verdict(const struct judge *judge, struct race *race);

/*
 * Set race->status and race->suppressed of a new race, which has its verdict.
 * *ret_settled is set, and else left as it is, if nothing that is seen later will
 * change this, so that the race need not be sampled.
 */
struct error *judge_race(struct judge *judge, struct race *race,
			 bool *ret_settled);

/* It was seen again, and was suppressed: it may not be any more. */
struct error *judge_race_again(struct judge *judge, struct race *race);

/* Does it decide about the exit status? race_is_actionable() */
bool judge_fails(const struct judge *judge, const struct race *race);
bool judge_ignores_unlikely(const struct judge *judge);

/* A race is reported: write a suppression for it, where that was asked for. */
struct error *judge_generate(struct judge *judge, const struct race *race);

/*
 * The end, with all races (of struct race *): write the baseline, if it is to
 * be updated.
 */
struct error *judge_finish(struct judge *judge, const struct vec *races);

/*
 * Tell which suppressions were of no use and which have expired; a few of them,
 * or all of them.
 */
void judge_remarks(const struct judge *judge);

#endif

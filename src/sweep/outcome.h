/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The outcome of one run: how the command ended, and what was unusual. Every
 * run that was not a normal success is counted and named by these.
 */
#ifndef SWEEP_OUTCOME_H
#define SWEEP_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

struct findings;
struct supervisor_result;
struct strbuf;

enum outcome_kind {
	OUTCOME_PASSED,
	OUTCOME_FAILED, /* the command, with `status' */
	OUTCOME_TIMED_OUT,
	OUTCOME_NOT_STARTED, /* 126 or 127: no such command, or no program */
	OUTCOME_BROKEN, /* racewatch itself failed */
	OUTCOME_CUT, /* ended by the sweep before its time */
	OUTCOMES,
};

struct outcome {
	enum outcome_kind kind;
	int status; /* of racewatch run: the command's, or 128 + signal */
	bool unsampled; /* ended before the first sample */
	uint32_t left; /* processes that it left behind, which were ended */
	uint32_t away; /* of them, those in a session of their own */
	bool output_cut; /* more output than is kept */
	bool output_lost; /* output could not be written */
};

/* "passed", as state files have it; NULL: no such kind. */
const char *outcome_word(unsigned int kind);

/* From how its processes ended, and its report. */
struct outcome outcome_of(const struct supervisor_result *result,
			  const struct findings *findings);

/* Was it a normal success, with nothing to report? */
bool outcome_is_plain(const struct outcome *outcome);

/* Append "failed with status 139 (SIGSEGV), left 2 processes behind". */
void outcome_describe(const struct outcome *outcome, struct strbuf *out);

#endif

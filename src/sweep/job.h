/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run of a sweep: its folder with stdout, stderr and report.jsonl, the
 * racewatch run that makes them, and the record of its end.
 */
#ifndef SWEEP_JOB_H
#define SWEEP_JOB_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct job;
struct journal_record;
struct strbuf;
struct supervisor_inherit;
struct statefile_claim;
struct sweep_config;

/* Takes the claim's lock over unless it fails; config must outlive the job. */
struct error *job_create(const struct sweep_config *config,
			 const struct statefile_claim *claim, struct job **ret);
/* If the end of the run was not recorded, another sweep may take it. */
void job_destroy(struct job *job);

/*
 * Of a run that was begun before and given up: if its report has a race, fill
 * the record of its end; *ret_any tells.
 */
struct error *job_left_over(struct job *job, struct journal_record *record,
			    bool *ret_any);

/* Make the folder and begin. */
struct error *job_start(struct job *job,
			const struct supervisor_inherit *inherit);

/* Readable when it is over. */
int job_fd(const struct job *job);

/* Cut it short. */
void job_stop(struct job *job);

/*
 * Once it is over: fill the record of its end. ENOSPC when a full disk spoiled
 * it: then it is to be done again.
 */
struct error *job_finish(struct job *job, struct journal_record *record);

/* The run showed nothing: delete what would repeat it. */
void job_forget_again(const struct job *job);

/* Append the folder of a run: DIRECTORY/run-000123. */
void job_add_folder(struct strbuf *out, const char *directory, uint64_t run);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The results of one run, from its report: the races that it shows, and the
 * numbers of samples and sites.
 */
#ifndef SWEEP_FINDINGS_H
#define SWEEP_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct error;

struct finding {
	uint64_t id; /* in the report; 0: not known, or not read from one */
	char fingerprint[33]; /* of the race, by names */
	bool minor; /* not counted: unlikely, and these are ignored */
	char *what; /* "hits: set count.c:7 against get count.c:9" */
};

struct findings {
	bool has_run, has_summary;
	int exit_status; /* of the summary */
	/* of the program's own modules, with a stall (struct run_sampling) */
	uint64_t samples, sites;
	/* why there were none (struct run_unsampled); or NULL */
	char *unsampled_reason, *unsampled_text;
	char *unmatched; /* unmatched_text(), or NULL */
	struct vec races; /* of struct finding; each race once */
};

void findings_init(struct findings *findings);
void findings_deinit(struct findings *findings);

/*
 * Read the report of one run, which may have been killed. If it has several
 * records of a race, the last counts. Suppressed races and synchronization are
 * left out; ignore_unlikely: races with the verdict unlikely are minor. No
 * file: nothing was found.
 */
struct error *findings_read(struct findings *findings, const char *path,
			    bool ignore_unlikely);

#endif

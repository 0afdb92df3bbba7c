/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A baseline: the races of saved reports, which are known. It answers whether a
 * race is known; to update the baseline it also keeps the records.
 *
 * A race is known when its fingerprint by names is among them. The fingerprint
 * by code counts too, so that builds with and without symbols agree, but only
 * if the names do not differ: callers of one function have its instructions in
 * common, and an old race must not hide a new one.
 *
 * If only one side of a race was seen, that side is compared (judge/sides.h).
 *
 * Races that were suppressed are not known: when their suppression is removed
 * or expires, they are reported again.
 */
#ifndef JUDGE_BASELINE_H
#define JUDGE_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "judge/sides.h"

struct error;
struct race;

struct baseline {
	struct vec entries; /* of struct baseline_entry */
	/* the beginning of a fingerprint to the last entry's index */
	struct map by_names, by_code;
	struct sides sides; /* of all entries */
	bool keep; /* whole records, for baseline_write() */
	struct vec races; /* of struct race, if keep */
};

/* Empty. keep: it will be written again, so its records are needed. */
void baseline_init(struct baseline *baseline, bool keep);
void baseline_deinit(struct baseline *baseline);

/*
 * Add the races of a saved report. A file that is not there is an error unless
 * the baseline is to be written (keep), which makes it. Errors name the file
 * and the line.
 */
struct error *baseline_read(struct baseline *baseline, const char *path);

/*
 * Add one race, if it is one that can be known; with keep its record is taken
 * over, and *race empty afterwards.
 */
struct error *baseline_take(struct baseline *baseline, struct race *race);

/* By its fingerprints. */
bool baseline_has(const struct baseline *baseline, const struct race *race);

/*
 * Is the race known, by its fingerprints or, if only one side was seen, by that
 * side: sides_know()?
 */
bool baseline_knows(struct baseline *baseline, const struct race *race);

/*
 * Write all its races, as they were read, then more (of struct race *,
 * borrowed), as JSON lines: into a file beside it that then replaces it, so
 * that readers and a full disk never see half a file. A symbolic link stays
 * one. Requires `keep'.
 */
struct error *baseline_write(const struct baseline *baseline,
			     const struct vec *more, const char *path);

#endif

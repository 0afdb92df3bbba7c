/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Saved reports as one. Records go in as they are read, and come out in the
 * order in which renderers want them.
 *
 * One run comes out as it was written, each race once, in its last form. Of
 * several runs, in one file or in many, races with the same fingerprint by names
 * are one (report/combine.h), ranked, with new ids; run records and summaries
 * are added up (report/totals.h). Whatever the order of the runs, the same comes
 * out, and what was merged can be merged again.
 *
 * Races that agree in the fingerprint by code alone stay apart: their names tell
 * them apart (fingerprint.c). Being one is being equal in one text, and so does
 * not depend on the order either.
 *
 * Memory is bounded, however many races there are: they are kept in temporary
 * files (report/sorter.h).
 */
#ifndef REPORT_MERGE_H
#define REPORT_MERGE_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct merge;
struct race;
struct reader;
struct report_record;

/* A good size of memory for merge_create(). */
enum { MERGE_MEMORY = 16 << 20 };

/* memory: bytes that each of the few buffers may take. */
struct error *merge_create(uint64_t memory, struct merge **ret);
void merge_destroy(struct merge *merge);

/*
 * Have each race of several runs judged anew, by its replays in all of them and
 * those of others on its bytes (race->replay_related). Where the races of all kinds
 * are more than fit in the memory, or than KINDS_RELATED_MAX (kinds.h), they are
 * not: the verdict is the worst that a run gave it.
 */
void merge_judge(struct merge *merge,
		 struct error *(*judge)(struct race *race));

/* Add a record of any type, which is then empty. */
struct error *merge_add(struct merge *merge, struct report_record *record);

/* What comes next is of another file, and so of another run. */
void merge_end_file(struct merge *merge);

/* All that the reader has, to its end. */
struct error *merge_add_all(struct merge *merge, struct reader *reader);

/* After the last record; once more: begin again with the first. */
struct error *merge_rewind(struct merge *merge);

/*
 * All records, from the first on; after a function has taken one, it holds
 * whatever is left.
 */
struct error *merge_each(struct merge *merge,
			 struct error *(*take)(void *context,
					       struct report_record *record),
			 void *context);

/* The next record, into an initialized one; *ret_more is false at the end. */
struct error *merge_next(struct merge *merge, struct report_record *record,
			 bool *ret_more);

/* Runs that were added, and those of them whose summary was missing. */
uint64_t merge_runs(const struct merge *merge);
uint64_t merge_cut_runs(const struct merge *merge);

#endif

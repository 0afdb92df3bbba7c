/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is said of a race in words, for every format that people read. All
 * append to `line'; foreign text comes out visible (base/utf8.h), so that none
 * of it has control characters.
 */
#ifndef REPORT_PHRASE_H
#define REPORT_PHRASE_H

#include <stdbool.h>

#include "base/strbuf.h"

struct race;
struct race_frame;
struct race_side;
struct race_suppression;
struct race_values;
struct crash;
struct crash_race;

/* "shards[3].used", or "memory without a name" */
void phrase_add_variable(struct strbuf *line, const struct race *race);

/* "write against read-modify-write, 8 bytes" */
void phrase_add_accesses(struct strbuf *line, const struct race *race);

/* "100 -> 101"; one value if it is the same */
void phrase_add_change(struct strbuf *line, const struct race *race);
void phrase_add_values(struct strbuf *line, const struct race *race,
		       const struct race_values *values);

/* "value" or "bytes" */
const char *phrase_value_word(const struct race *race);

/* ", value 100 -> 101"; nothing where the value is not known */
void phrase_add_value(struct strbuf *line, const struct race *race);

/* "struct shard, cache.c:7; global at cache+0x40c8, bytes 8..15 of shards" */
void phrase_add_home(struct strbuf *line, const struct race *race);

/* "thread 4246 "filler"" */
void phrase_add_thread(struct strbuf *line, int tid, const char *name);

/* " was stalled before it ", " then " */
const char *phrase_side_moment(const struct race *race,
			       const struct race_side *side);
/* "READS", "WROTE" */
const char *phrase_side_verb(const struct race *race,
			     const struct race_side *side);
/* " in system call read (pid 17)": what else there is to say of a side */
void phrase_add_side_rest(struct strbuf *line, const struct race *race,
			  const struct race_side *side);
/* All of that of one of the two sides, also of one that nobody saw. */
void phrase_add_side(struct strbuf *line, const struct race *race,
		     const struct race_side *side);

/* Its name, or its place: "cache+0x1179" */
void phrase_add_function(struct strbuf *line, const struct race_frame *frame);
/* "shard_add cache.c:11" of the innermost frame; "?" without one */
void phrase_add_innermost(struct strbuf *line, const struct race_side *side);

/*
 * Its source line, without indentation, and the column of it that the frame
 * points to; negative: not known.
 */
int phrase_add_source(struct strbuf *line, const struct race_frame *frame);

/*
 * "watchpoint (perf), 0.4 ms into a 1.0 ms stall; seen 3 times"; live: it may be
 * seen again, so "first seen" instead of how often.
 */
void phrase_add_evidence(struct strbuf *line, const struct race *race,
			 bool live);

/* "new to the baseline"; NULL when it was compared with none */
const char *phrase_status(const struct race *race);

/* "race:shard_* (team.supp:4): bug 17" */
void phrase_add_suppression(struct strbuf *line,
			    const struct race_suppression *suppression);

/* "SIGSEGV", or "signal 35" */
void phrase_add_signal(struct strbuf *line, int number);

/* "process 4242 died of SIGSEGV at address 0x10" */
void phrase_add_crash(struct strbuf *line, const struct crash *crash);
/* "#3 of shards[3].used, 0.4 ms before: at that address" */
void phrase_add_crash_race(struct strbuf *line, const struct crash_race *race);

#endif

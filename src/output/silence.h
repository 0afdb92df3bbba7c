/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why nothing was sampled, in words that name what to do: so that no silence
 * looks like health. Pure code.
 */
#ifndef OUTPUT_SILENCE_H
#define OUTPUT_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

struct globs;
struct run_pattern;
struct session_counts;
struct vec;

/* What the user has asked for, besides what the session counted. */
struct silence_asked {
	bool attached; /* to a process that ran already */
	bool ended; /* it ended by itself while it was watched */
	bool follows_fork; /* --follow fork */
	bool swept; /* a run of a sweep */
	uint32_t rate; /* hits per second */
	bool overhead_given, rate_given; /* by an option */
	double overhead_pct; /* 0: no such budget */
	const char *effort; /* the preset that the others are of */
	uint64_t min_samples;
	const struct globs *globs; /* --include and --exclude; NULL: none */
};

/*
 * Append one sentence on why no sample of the program's own modules had a
 * stall, and return its word, unsampled_reason of racewatch-json(5). Where one
 * had: nothing and NULL.
 */
const char *silence_reason(struct strbuf *out,
			   const struct silence_asked *asked,
			   const struct session_counts *counts);

/* The same sentence, after what was not sampled. */
void silence_explain(struct strbuf *out, const struct silence_asked *asked,
		     const struct session_counts *counts);

/*
 * Add those that have no effect to a vector of struct run_pattern. False when
 * out of memory.
 */
bool silence_patterns(const struct globs *globs, struct vec *ret);

/* That it has none. */
void silence_pattern(struct strbuf *out, const struct run_pattern *pattern);

/*
 * That much of the time was in generated code; or that there is some, where
 * nothing else was sampled and the time could not be measured.
 */
void silence_generated(struct strbuf *out, const struct session_counts *counts);

/* That --min-samples asks for more, if it does. */
void silence_floor(struct strbuf *out, const struct silence_asked *asked,
		   const struct session_counts *counts);

#endif

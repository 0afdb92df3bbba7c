/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why nothing was sampled; see silence.h. The reasons are looked at in order:
 * one that stands further up makes those below it likely.
 */
#include "output/silence.h"

#include <inttypes.h>

#include <string.h>

#include "base/decimal.h"
#include "report/run.h"
#include "report/text.h"
#include "sampling/glob.h"
#include "session/session.h"

enum {
	/* fewer looks at where the program computes say little */
	LOOKS_MIN = 20,
	/* of them in generated code; less is not worth a warning */
	GENERATED_MIN_PERCENT = 10,
};

/* a word of silence_reason() */
static const char silence_children[] = "children";

/* The option, or the preset, that sets the budget of time. */
static void add_overhead(struct strbuf *out, const struct silence_asked *asked)
{
	char percent[DECIMAL_SIZE];

	decimal_format(asked->overhead_pct, percent);
	if (asked->overhead_given)
		strbuf_addf(out, "--overhead %s", percent);
	else
		strbuf_addf(out, "--effort %s (%s %% of the time)",
			    asked->effort, percent);
}

static bool explain_asked(struct strbuf *out, const struct silence_asked *asked,
			  const struct session_counts *counts)
{
	(void)counts;
	if (asked->rate > 0)
		return false;
	strbuf_add(out, asked->rate_given ? "--rate 0" : "--overhead 0");
	strbuf_add(out, " allows none");
	return true;
}

static void add_children(struct strbuf *out, const struct silence_asked *asked,
			 uint64_t children)
{
	text_add_count(out, children);
	strbuf_addf(out, " child process%s ran unwatched",
		    children == 1 ? "" : "es");
	strbuf_add(out, ": --follow all watches children too");
	if (asked->follows_fork)
		strbuf_add(out, ", whatever they run");
}

static bool explain_children(struct strbuf *out,
			     const struct silence_asked *asked,
			     const struct session_counts *counts)
{
	uint64_t children = counts->sum.stats.unwatched;

	if (children == 0 || counts->sum.stats.threads_most > 1)
		return false;
	strbuf_addf(out, "%s had one thread, and ",
		    asked->attached ? "the process" : "the program");
	add_children(out, asked, children);
	return true;
}

/* Those of --include that match nothing. */
static void add_unmatched(struct strbuf *out, const struct globs *globs)
{
	const char *pattern;
	bool include;

	for (size_t i = 0; globs && i < globs->items.count; i++) {
		if (globs_unmatched(globs, i, &pattern, &include) && include)
			strbuf_addf(out, ", and --include '%s' matches nothing",
				    pattern);
	}
}

static bool explain_patterns(struct strbuf *out,
			     const struct silence_asked *asked,
			     const struct session_counts *counts)
{
	if (counts->own_functions > 0 || !counts->excluded_by)
		return false;
	strbuf_addf(out,
		    "--exclude '%s' leaves nothing of the program's own "
		    "modules",
		    counts->excluded_by);
	if (counts->modules_read)
		add_unmatched(out, asked->globs);
	return true;
}

static bool explain_single(struct strbuf *out,
			   const struct silence_asked *asked,
			   const struct session_counts *counts)
{
	if (counts->sum.stats.threads_most > 1 || counts->sum.stats.stalled > 0)
		return false;
	strbuf_addf(out, "%s had one thread%s, so that nothing could race",
		    asked->attached ? "the process" : "the program",
		    asked->attached ? " while it was watched" : "");
	return true;
}

static bool explain_sites(struct strbuf *out, const struct silence_asked *asked,
			  const struct session_counts *counts)
{
	(void)asked;
	if (counts->sum.sampling.sites_eligible_own > 0 ||
	    !counts->own_complete)
		return false;
	strbuf_add(out, "the program's own modules have no instruction that "
			"can be sampled: racewatch sites lists what is left "
			"out, and why");
	return true;
}

static bool explain_budget(struct strbuf *out,
			   const struct silence_asked *asked,
			   const struct session_counts *counts)
{
	const struct wire_stats *stats = &counts->sum.stats;
	bool refused = stats->stalled == 0 && stats->unaffordable > 0 &&
		       stats->unaffordable + stats->samples >= stats->hits;

	if (stats->unpaid > stats->refills / 2 ||
	    (refused && stats->unpaid > stats->over_rate)) {
		if (asked->overhead_pct <= 0)
			return false;
		add_overhead(out, asked);
		strbuf_add(out, " allowed none: what it takes to watch had "
				"used it up");
		return true;
	}
	if (stats->over_rate > stats->refills / 2 || refused) {
		strbuf_addf(out, "--rate %" PRIu32 " allowed none in ",
			    stats->rate != 0 ? stats->rate : asked->rate);
		text_add_time(out, counts->sum.elapsed_ns);
		return true;
	}
	return false;
}

static bool explain_early(struct strbuf *out, const struct silence_asked *asked,
			  const struct session_counts *counts)
{
	if (counts->sum.stats.arms > 0)
		return false;
	strbuf_addf(out, "the %s ended after ",
		    !asked->attached ? "program"
		    : asked->ended   ? "process"
				     : "watching");
	text_add_time(out, counts->sum.elapsed_ns);
	strbuf_add(out, ", before a breakpoint was set: ");
	if (!asked->attached)
		strbuf_add(out, asked->swept ? "run it longer"
					     : "run it longer, or often "
					       "(racewatch sweep)");
	else if (asked->ended)
		strbuf_add(out, "attach earlier, or start it with racewatch "
				"run");
	else
		strbuf_add(out, "watch longer (--duration)");
	return true;
}

static bool explain_reach(struct strbuf *out, const struct silence_asked *asked,
			  const struct session_counts *counts)
{
	const struct wire_stats *stats = &counts->sum.stats;

	if (stats->hits > 0)
		return false;
	text_add_plural(out, stats->arms, "breakpoint");
	strbuf_add(out, stats->arms == 1 ? " was set in " : " were set in ");
	text_add_time(out, counts->sum.elapsed_ns);
	strbuf_addf(out,
		    ", and %s reached: %s longer; racewatch sites lists what "
		    "is left out, and why",
		    stats->arms == 1 ? "it was not" : "none was",
		    asked->attached ? "watch" : "run it");
	return true;
}

static bool explain_libraries(struct strbuf *out,
			      const struct silence_asked *asked,
			      const struct session_counts *counts)
{
	(void)asked;
	if (counts->sum.stats.stalled == 0)
		return false;
	text_add_plural(out, counts->sum.stats.stalled, "sample");
	strbuf_add(out, " with a stall, all in libraries: the program's own "
			"code reached no breakpoint; racewatch sites lists "
			"what is left out, and why");
	return true;
}

static bool explain_alone(struct strbuf *out, const struct silence_asked *asked,
			  const struct session_counts *counts)
{
	(void)asked;
	strbuf_add(out, "no other thread could run at ");
	if (counts->sum.stats.hits == 1) {
		strbuf_add(out, "the only hit");
	} else {
		strbuf_add(out, "any of ");
		text_add_plural(out, counts->sum.stats.hits, "hit");
	}
	return true;
}

const char *silence_reason(struct strbuf *out,
			   const struct silence_asked *asked,
			   const struct session_counts *counts)
{
	static const struct {
		const char *word;
		bool (*explain)(struct strbuf *, const struct silence_asked *,
				const struct session_counts *);
	} reasons[] = {
		{ "off", explain_asked },
		{ silence_children, explain_children },
		{ "excluded", explain_patterns },
		{ "one-thread", explain_single },
		{ "no-sites", explain_sites },
		{ "budget", explain_budget },
		{ "too-short", explain_early },
		{ "not-reached", explain_reach },
		{ "libraries", explain_libraries },
		{ "alone", explain_alone },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]) &&
			   counts->sum.sampling.own == 0;
	     i++) {
		if (reasons[i].explain(out, asked, counts))
			return reasons[i].word;
	}
	return NULL;
}

void silence_explain(struct strbuf *out, const struct silence_asked *asked,
		     const struct session_counts *counts)
{
	if (counts->sum.sampling.own > 0)
		return;
	strbuf_add(out, counts->sum.stats.samples == 0
				? "no samples were taken: "
				: "nothing of the program's own modules was "
				  "sampled: ");
	/* where they are not the reason, what was meant may have run in them */
	if (silence_reason(out, asked, counts) != silence_children &&
	    counts->sum.stats.unwatched > 0) {
		strbuf_add(out, "; ");
		add_children(out, asked, counts->sum.stats.unwatched);
	}
}

void silence_generated(struct strbuf *out, const struct session_counts *counts)
{
	uint64_t looks = counts->sum.sampling.looks;
	double percent = looks ? 100 * (double)counts->sum.sampling.generated /
					 (double)looks
			       : 0;

	if (looks >= LOOKS_MIN && percent >= GENERATED_MIN_PERCENT)
		strbuf_addf(out,
			    "%.0f %% of the time was in code generated at run "
			    "time, which is not sampled",
			    percent);
	else if (looks < LOOKS_MIN && counts->generated_seen &&
		 counts->sum.sampling.own == 0)
		strbuf_add(out, "there was code generated at run time, which "
				"is not sampled; how much of the time was in "
				"it is not known");
}

bool silence_patterns(const struct globs *globs, struct vec *ret)
{
	for (size_t i = 0; i < globs->items.count; i++) {
		struct run_pattern pattern;
		bool include;

		if (!globs_unmatched(globs, i, &pattern.pattern, &include))
			continue;
		pattern.option = include ? "include" : "exclude";
		if (!vec_push(ret, &pattern))
			return false;
	}
	return true;
}

void silence_pattern(struct strbuf *out, const struct run_pattern *pattern)
{
	strbuf_addf(out,
		    "--%s '%s' has no effect: it matches no module, function "
		    "or source file%s",
		    pattern->option, pattern->pattern,
		    strcmp(pattern->option, "include") == 0
			    ? "; the rest is sampled as without it"
			    : "");
}

void silence_floor(struct strbuf *out, const struct silence_asked *asked,
		   const struct session_counts *counts)
{
	if (counts->sum.sampling.own >= asked->min_samples)
		return;
	text_add_plural(out, counts->sum.sampling.own, "sample");
	strbuf_add(out, " of the program's own modules had a stall: "
			"--min-samples asks for ");
	text_add_count(out, asked->min_samples);
}

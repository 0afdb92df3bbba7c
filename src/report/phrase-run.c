/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words for the summary of a run; see phrase-run.h.
 */
#include "report/phrase-run.h"

#include "base/decimal.h"
#include "report/run.h"
#include "report/text.h"

/* A module may have gone, so that sites of it were sampled and are no more. */
static uint64_t library_sites(const struct run_summary *summary)
{
	uint64_t own = summary->sampling.sites_sampled_own;

	return summary->sites_sampled > own ? summary->sites_sampled - own : 0;
}

void phrase_add_samples(struct strbuf *line, const struct run_summary *summary)
{
	const struct run_sampling *sampling = &summary->sampling;

	if (sampling->known && sampling->proves_nothing)
		strbuf_add(line, "this run proves nothing: ");
	text_add_plural(line, summary->stats.samples, "sample");
	if (!sampling->known) {
		strbuf_add(line, " of ");
		text_add_plural(line, summary->sites_sampled, "site");
		return;
	}
	if (summary->stats.samples == 0)
		return;
	strbuf_add(line, " (");
	text_add_count(line, summary->stats.stalled);
	strbuf_add(line, " with a stall) of ");
	text_add_count(line, sampling->sites_sampled_own);
	strbuf_add(line, " own and ");
	text_add_count(line, library_sites(summary));
	strbuf_add(line, " library sites");
}

const char *phrase_unsampled(const struct run_summary *summary)
{
	return summary->stats.samples == 0
		       ? "No samples were taken: nothing is proved."
		       : "Nothing of the program's own code was sampled while "
			 "another thread could run: nothing is proved.";
}

/* What it is made of, where it is not what samples were taken for. */
static void add_parts(struct strbuf *line, const struct run_summary *summary)
{
	double stalls = summary->overhead_pct - summary->start_pct -
			summary->stops_pct - summary->computing_pct;
	const struct {
		const char *name;
		double pct;
	} parts[] = {
		{ "start", summary->start_pct },
		{ "stalls", stalls },
		{ "stops", summary->stops_pct },
		{ "computing", summary->computing_pct - summary->replay_pct },
		{ "replays", summary->replay_pct },
	};
	const char *before = " (";

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].pct < 0.05)
			continue;
		strbuf_addf(line, "%s%s %.1f", before, parts[i].name,
			    parts[i].pct);
		before = ", ";
	}
	if (before[0] == ',')
		strbuf_add(line, ")");
}

void phrase_add_overhead(struct strbuf *line, const struct run_summary *summary)
{
	char budget[DECIMAL_SIZE];

	decimal_format(summary->budget_pct, budget);
	strbuf_addf(line, "overhead %.1f", summary->overhead_pct);
	if (summary->budget_pct > 0)
		strbuf_addf(line, " of %s", budget);
	strbuf_add(line, " %");
	if (summary->sampling.known &&
	    (summary->stats.stalled == 0 ||
	     (summary->budget_pct > 0 &&
	      summary->overhead_pct > summary->budget_pct)))
		add_parts(line, summary);
}

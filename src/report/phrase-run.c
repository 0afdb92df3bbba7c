/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words for the summary of a run; see phrase-run.h.
 */
#include "report/phrase-run.h"

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
	text_add_plural(line, summary->samples, "sample");
	if (!sampling->known) {
		strbuf_add(line, " of ");
		text_add_plural(line, summary->sites_sampled, "site");
		return;
	}
	if (summary->samples == 0)
		return;
	strbuf_add(line, " (");
	text_add_count(line, sampling->stalled);
	strbuf_add(line, " with a stall) of ");
	text_add_count(line, sampling->sites_sampled_own);
	strbuf_add(line, " own and ");
	text_add_count(line, library_sites(summary));
	strbuf_add(line, " library sites");
}

const char *phrase_unsampled(const struct run_summary *summary)
{
	return summary->samples == 0
		       ? "No samples were taken: nothing is proved."
		       : "Nothing of the program's own code was sampled while "
			 "another thread could run: nothing is proved.";
}

void phrase_add_overhead(struct strbuf *line, const struct run_summary *summary)
{
	strbuf_addf(line, "overhead %.1f", summary->overhead_pct);
	if (summary->budget_pct > 0)
		strbuf_addf(line, " of %g", summary->budget_pct);
	strbuf_add(line, " %");
}

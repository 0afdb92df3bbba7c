/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much is still unseen, in words; see unseen.h.
 */
#include "sweep/unseen.h"

#include <inttypes.h>

#include "base/strbuf.h"
#include "sweep/species.h"

static void add_percent(struct strbuf *out, double part)
{
	strbuf_addf(out, "%.*f %%", part < 0.1 || part > 0.9 ? 1 : 0,
		    part * 100);
}

static void add_next(struct strbuf *out,
		     const struct species_estimate *estimate)
{
	strbuf_add(out, "  unseen: one more such run shows a new race with "
			"probability ");
	add_percent(out, estimate->next);
	strbuf_add(out, ", at most ");
	add_percent(out, estimate->next_limit);
	strbuf_add(out, " (Good-Turing, 95 %)\n");
}

static void add_total(struct strbuf *out, const struct species_counts *counts,
		      const struct species_estimate *estimate)
{
	/* Chao2 knows the unseen by those seen once and those seen twice */
	if (counts->once > 0 && counts->twice == 0) {
		strbuf_add(out,
			   "  unseen: how many races there are in all cannot "
			   "be estimated yet: none was seen in exactly two "
			   "runs\n");
		return;
	}
	strbuf_addf(out,
		    "  unseen: about %.1f races in all, of which %" PRIu64
		    " were seen (Chao2, 95 %%: %.1f to %.1f); sample "
		    "coverage ",
		    estimate->total, counts->seen, estimate->total_low,
		    estimate->total_high);
	add_percent(out, estimate->coverage);
	strbuf_add(out, "\n");
}

void unseen_add_text(struct strbuf *out, const struct species_counts *counts,
		     const struct species_estimate *estimate)
{
	if (counts->samples == 0) {
		strbuf_add(out, "  unseen: no run took a sample of its own "
				"modules: nothing is known\n");
		return;
	}
	add_next(out, estimate);
	if (counts->seen > 0)
		add_total(out, counts, estimate);
}

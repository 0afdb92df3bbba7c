/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Outcomes of sides, counted; see target-counts.h. */
#include "report/target-counts.h"

#include <inttypes.h>

#include "base/strbuf.h"
#include "report/run.h"
#include "report/text.h"

static const char *const words[TARGET_RESULTS] = {
	[TARGET_PENDING] = "not tried to the end",
	[TARGET_PROVOKED] = "provoked",
	[TARGET_ORDERED] = "ordered",
	[TARGET_UNREACHED] = "not reached again",
	[TARGET_TIMEOUT] = "timed out",
	[TARGET_UNCHANGED] = "unchanged",
};

const char *target_counts_word(unsigned int result)
{
	return result < TARGET_RESULTS ? words[result] : "unknown";
}

void target_counts_add(struct target_counts *counts,
		       const struct target_record *record)
{
	counts->sides++;
	if (record->outcome.result < TARGET_RESULTS)
		counts->results[record->outcome.result]++;
}

void target_counts_say(struct strbuf *line, const struct target_counts *counts)
{
	static const unsigned int order[] = {
		TARGET_PROVOKED,  TARGET_ORDERED,   TARGET_TIMEOUT,
		TARGET_UNREACHED, TARGET_UNCHANGED, TARGET_PENDING,
	};
	const char *before = ": ";

	text_add_plural(line, counts->sides, "side");
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		uint64_t count = counts->results[order[i]];

		if (count == 0)
			continue;
		strbuf_add(line, before);
		text_add_count(line, count);
		strbuf_addf(line, " %s", words[order[i]]);
		before = ", ";
	}
}

void target_counts_say_hunt(struct strbuf *line,
			    const struct target_counts *counts,
			    const struct run_summary *summary)
{
	target_counts_say(line, counts);
	if (summary->hunt.recorder)
		strbuf_addf(line, "; recorded by %s", summary->hunt.recorder);
	if (summary->hunt.recorded_exit != summary->hunt.bare_exit)
		strbuf_addf(line,
			    ", where the command ended with exit status "
			    "%" PRIu32 ", and with %" PRIu32 " by itself",
			    summary->hunt.recorded_exit,
			    summary->hunt.bare_exit);
}

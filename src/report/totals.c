/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Adding up runs, as the tables of fields say; see totals.h and field.h.
 */
#include "report/totals.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "report/field.h"

void totals_init(struct totals *totals)
{
	memset(totals, 0, sizeof(*totals));
}

void totals_deinit(struct totals *totals)
{
	fields_deinit(&run_fields, &totals->run);
	fields_deinit(&summary_fields, &totals->summary);
	totals_init(totals);
}

struct error *totals_add_run(struct totals *totals,
			     const struct run_record *run)
{
	bool first = !totals->has_run;

	if (!fields_merge(&run_fields, &totals->run, run, first) ||
	    !fields_add_string(&run_fields, "hosts", &totals->run, run->host))
		return error_nomem;
	totals->has_run = true;
	return NULL;
}

/* The percentage as time; what is no percentage is none. */
static uint64_t share_us(double pct, uint64_t elapsed_us)
{
	if (!(pct > 0 && pct < 1e6))
		return 0;
	return (uint64_t)(pct / 100 * (double)elapsed_us + 0.5);
}

static void add_shares(struct totals *totals, const struct run_summary *summary)
{
	uint64_t elapsed_us = clock_round_us(summary->elapsed_ns);
	uint64_t *sum = totals->share_us;

	for (size_t i = 0; i < summary_fields.count; i++) {
		const struct field *field = &summary_fields.members[i];
		uint64_t us;

		if (field->merge != FIELD_SHARE)
			continue;
		us = share_us(field_real(field, summary), elapsed_us);
		*sum = *sum > UINT64_MAX - us ? UINT64_MAX : *sum + us;
		sum++;
	}
}

static void set_shares(const struct totals *totals, struct run_summary *summary)
{
	double elapsed_us = (double)clock_round_us(summary->elapsed_ns);
	const uint64_t *sum = totals->share_us;

	for (size_t i = 0; i < summary_fields.count; i++) {
		const struct field *field = &summary_fields.members[i];

		if (field->merge == FIELD_SHARE)
			field_set_real(field, summary,
				       elapsed_us > 0 ? 100 * (double)*sum++ /
								elapsed_us
						      : 0);
	}
}

struct error *totals_add_summary(struct totals *totals,
				 const struct run_summary *summary)
{
	if (!fields_merge(&summary_fields, &totals->summary, summary,
			  !totals->has_summary))
		return error_nomem;
	add_shares(totals, summary);
	totals->has_summary = true;
	return NULL;
}

void totals_summary(const struct totals *totals, struct run_summary *ret)
{
	*ret = totals->summary;
	set_shares(totals, ret);
	/* what one run does not tell is not known of all */
	if (!ret->sampling.known)
		ret->sampling = (struct run_sampling){ .known = false };
}

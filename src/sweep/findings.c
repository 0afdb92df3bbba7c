/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run's report in short; see findings.h.
 */
#include "sweep/findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/read.h"
#include "sweep/unmatched.h"

void findings_init(struct findings *findings)
{
	*findings = (struct findings){ .races = VEC_INIT(struct finding) };
}

void findings_deinit(struct findings *findings)
{
	for (size_t i = 0; i < findings->races.count; i++) {
		struct finding *finding = vec_at(&findings->races, i);

		free(finding->what);
	}
	vec_deinit(&findings->races);
	free(findings->unsampled_reason);
	free(findings->unsampled_text);
	free(findings->unmatched);
}

/*
 * The race as it was written before. By its id it is found although its
 * fingerprint is another since its other side was seen.
 */
static struct finding *find_race(struct findings *findings,
				 const struct race *race)
{
	struct finding *same = NULL;

	for (size_t i = 0; i < findings->races.count; i++) {
		struct finding *finding = vec_at(&findings->races, i);

		if (strcmp(finding->fingerprint, race->fingerprint) == 0)
			return finding;
		if (finding->id != 0 && finding->id == race->id)
			same = finding;
	}
	return same;
}

static char *race_in_short(const struct race *race)
{
	struct strbuf text = { 0 };

	phrase_add_variable(&text, race);
	strbuf_add(&text, ": ");
	phrase_add_innermost(&text, &race->sides[0]);
	strbuf_add(&text, " against ");
	phrase_add_innermost(&text, &race->sides[1]);
	return strbuf_steal(&text);
}

/* The last record of a race counts; so does one that is no longer minor. */
static struct error *take_race(struct findings *findings,
			       const struct race *race, bool ignore_unlikely)
{
	struct finding *finding = find_race(findings, race);

	if (race->verdict == VERDICT_SYNC || race->suppressed.rule)
		return NULL;
	if (!finding)
		finding = vec_append(&findings->races);
	if (!finding)
		return error_nomem;
	finding->id = race->id;
	memcpy(finding->fingerprint, race->fingerprint,
	       sizeof(finding->fingerprint));
	finding->minor = !race_counts(race, ignore_unlikely);
	free(finding->what);
	finding->what = race_in_short(race);
	return finding->what ? NULL : error_nomem;
}

static struct error *take_text(char **kept, const char *text)
{
	free(*kept);
	*kept = text ? strdup(text) : NULL;
	return text && !*kept ? error_nomem : NULL;
}

/* What libraries do, or a thread that is alone, is no sample of the program. */
static struct error *take_summary(struct findings *findings,
				  const struct run_summary *summary)
{
	const struct run_sampling *sampling = &summary->sampling;
	struct error *err;

	findings->has_summary = true;
	findings->exit_status = summary->exit_status;
	findings->samples = sampling->known ? sampling->own
					    : summary->stats.samples;
	findings->sites = sampling->known ? sampling->sites_sampled_own
					  : summary->sites_sampled;
	err = take_text(&findings->unsampled_reason, summary->unsampled.reason);
	if (!err)
		err = take_text(&findings->unsampled_text,
				summary->unsampled.text);
	free(findings->unmatched);
	findings->unmatched = NULL;
	return err ? err : unmatched_text(summary, &findings->unmatched);
}

static struct error *take_record(struct findings *findings,
				 const struct report_record *record,
				 bool ignore_unlikely)
{
	switch (record->type) {
	case REPORT_RUN:
		findings->has_run = true;
		break;
	case REPORT_RACE:
		return take_race(findings, &record->race, ignore_unlikely);
	case REPORT_SUMMARY:
		return take_summary(findings, &record->summary);
	case REPORT_PROGRESS:
		findings->samples = record->summary.sampling.own;
		findings->sites = record->summary.sites_sampled;
		break;
	case REPORT_OTHER:
	case REPORT_CRASH:
	case REPORT_TARGET:
	case REPORT_CANDIDATE:
		break;
	}
	return NULL;
}

struct error *findings_read(struct findings *findings, const char *path,
			    bool ignore_unlikely)
{
	struct report_record record;
	struct reader *reader;
	struct stat status;
	struct error *err;
	bool more = true;

	if (stat(path, &status) < 0 && errno == ENOENT)
		return NULL;
	err = reader_open(path, &reader);
	if (err)
		return err;
	report_record_init(&record);
	while (!err && more) {
		err = reader_next(reader, &record, &more);
		if (!err && more)
			err = take_record(findings, &record, ignore_unlikely);
	}
	report_record_deinit(&record);
	reader_close(reader);
	return err;
}

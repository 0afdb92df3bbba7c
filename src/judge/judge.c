/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Suppressions, baseline and verdicts of a run; see judge.h.
 */
#include "judge/judge.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/outputfile.h"
#include "base/strbuf.h"
#include "judge/rank.h"
#include "report/race.h"
#include "report/related.h"

/* Suppressions of no use that are named when not all are asked for. */
enum { JUDGE_NAMED = 10 };

/* Installed with racewatch; where it was taken away there are none. */
static struct error *judge_read_defaults(struct judge *judge)
{
	static const char path[] = PKGDATADIR "/default.supp";
	struct error *err;

	if (access(path, F_OK) < 0)
		return NULL;
	err = suppressions_read(&judge->suppressions, path);
	suppressions_set_optional(&judge->suppressions);
	return err;
}

static void judge_note_ignored(const struct judge *judge)
{
	for (size_t i = 0; i < judge->suppressions.rules.count; i++) {
		const struct suppress_rule *rule =
			vec_at(&judge->suppressions.rules, i);

		if (rule->ignored)
			log_note("%s:%d: %s: not about races, passed over",
				 rule->file, rule->line, rule->text);
	}
}

static struct error *judge_read_suppressions(struct judge *judge)
{
	const struct judge_config *config = judge->config;
	struct error *err = NULL;

	if (!config->no_default_suppressions)
		err = judge_read_defaults(judge);
	for (size_t i = 0; !err && i < config->suppressions.count; i++)
		err = suppressions_read(
			&judge->suppressions,
			*(const char **)vec_at(&config->suppressions, i));
	if (!err && config->verbose)
		judge_note_ignored(judge);
	return err;
}

static struct error *judge_read_baselines(struct judge *judge)
{
	const struct vec *paths = &judge->config->baselines;
	struct error *err = NULL;

	if (judge->config->update_baseline && paths->count != 1)
		return error_create(ERROR_USAGE,
				    "--update-baseline needs one --baseline "
				    "FILE");
	for (size_t i = 0; !err && i < paths->count; i++)
		err = baseline_read(&judge->baseline,
				    *(const char **)vec_at(paths, i));
	return err;
}

/* Appended to: the file may well be that of the suppressions. */
static struct error *judge_open_generated(struct judge *judge)
{
	const char *path = judge->config->generate;

	if (!path)
		return NULL;
	if (strcmp(path, "-") == 0) {
		judge->generated = stderr;
		return NULL;
	}
	return outputfile_open(path, OUTPUTFILE_APPEND, &judge->generated);
}

struct error *judge_init(struct judge *judge, const struct judge_config *config)
{
	struct error *err;

	*judge = (struct judge){ .config = config };
	suppressions_init(&judge->suppressions);
	baseline_init(&judge->baseline, config->update_baseline);
	err = judge_read_suppressions(judge);
	if (!err)
		err = judge_read_baselines(judge);
	return err ? err : judge_open_generated(judge);
}

void judge_deinit(struct judge *judge)
{
	if (judge->generated && judge->generated != stderr)
		fclose(judge->generated);
	suppressions_deinit(&judge->suppressions);
	baseline_deinit(&judge->baseline);
}

struct error *judge_verdict(const struct judge *judge, struct race *race)
{
	return rank_race(race, &judge->config->special);
}

struct error *judge_race(struct judge *judge, struct race *race,
			 bool *ret_settled)
{
	bool compares = judge->config->baselines.count > 0 &&
			race->verdict != VERDICT_SYNC;
	struct error *err =
		suppressions_judge(&judge->suppressions, race, ret_settled);

	if (err || !compares)
		return err;
	race->status = STATUS_NEW;
	if (baseline_knows(&judge->baseline, race)) {
		race->status = STATUS_KNOWN;
		*ret_settled = true;
	}
	return NULL;
}

struct error *judge_race_again(struct judge *judge, struct race *race)
{
	return suppressions_judge_again(&judge->suppressions, race);
}

bool judge_fails(const struct judge *judge, const struct race *race)
{
	return race_is_actionable(race, judge->config->ignore_unlikely);
}

bool judge_ignores_unlikely(const struct judge *judge)
{
	return judge->config->ignore_unlikely;
}

struct error *judge_generate(struct judge *judge, const struct race *race)
{
	struct strbuf text = { 0 };
	struct error *err = NULL;

	if (!judge->generated)
		return NULL;
	suppression_write(&text, race);
	errno = 0;
	if (text.failed)
		err = error_nomem;
	else if (fputs(strbuf_text(&text), judge->generated) < 0 ||
		 fflush(judge->generated) != 0)
		err = error_os(errno ? errno : EIO, "write suppressions to %s",
			       judge->config->generate);
	strbuf_deinit(&text);
	return err;
}

/* New, or with both sides where the baseline has one. */
static bool judge_adds(const struct judge *judge, const struct race *race)
{
	if (race->suppressed.rule || race->status == STATUS_UNSET)
		return false;
	return race->status == STATUS_NEW ||
	       (!race_is_one_sided(race) &&
		!baseline_has(&judge->baseline, race));
}

struct error *judge_finish(struct judge *judge, const struct vec *races)
{
	struct vec added = VEC_INIT(struct race *);
	struct error *err = NULL;

	if (!judge->config->update_baseline)
		return NULL;
	for (size_t i = 0; !err && i < races->count; i++) {
		const struct race *race = *(struct race **)vec_at(races, i);

		if (judge_adds(judge, race) && !vec_push(&added, &race))
			err = error_nomem;
	}
	if (!err)
		err = baseline_write(
			&judge->baseline, &added,
			*(const char **)vec_at(&judge->config->baselines, 0));
	vec_deinit(&added);
	return err;
}

static void remark_expired(const struct suppress_rule *rule)
{
	if (rule->used)
		log_warn("%s:%d: the suppression expired on %s, and would have "
			 "applied: %s",
			 rule->file, rule->line, rule->expires, rule->text);
	else
		log_note("%s:%d: the suppression expired on %s: %s", rule->file,
			 rule->line, rule->expires, rule->text);
}

void judge_remarks(const struct judge *judge)
{
	const struct vec *rules = &judge->suppressions.rules;
	size_t unused = 0;

	for (size_t i = 0; i < rules->count; i++) {
		const struct suppress_rule *rule = vec_at(rules, i);

		if (rule->ignored)
			continue;
		if (rule->expired) {
			remark_expired(rule);
			continue;
		}
		if (rule->used || rule->optional)
			continue;
		if (++unused <= JUDGE_NAMED || judge->config->verbose)
			log_note("%s:%d: the suppression was not needed: %s",
				 rule->file, rule->line, rule->text);
	}
	if (unused > JUDGE_NAMED && !judge->config->verbose)
		log_note("%zu more suppressions were not needed (-v names "
			 "them)",
			 unused - JUDGE_NAMED);
}

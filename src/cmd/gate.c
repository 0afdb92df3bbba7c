/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Suppressions and baseline of a run; see gate.h.
 */
#include "cmd/gate.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "judge/rank.h"
#include "report/kin.h"
#include "report/race.h"

/* Suppressions of no use that are named when not all are asked for. */
enum { GATE_NAMED = 10 };

/* Installed with racewatch; where it was taken away there are none. */
static struct error *gate_read_defaults(struct gate *gate)
{
	static const char path[] = PKGDATADIR "/default.supp";
	struct error *err;

	if (access(path, F_OK) < 0)
		return NULL;
	err = suppressions_read(&gate->suppressions, path);
	suppressions_set_optional(&gate->suppressions);
	return err;
}

static void gate_note_ignored(const struct gate *gate)
{
	for (size_t i = 0; i < gate->suppressions.rules.count; i++) {
		const struct suppress_rule *rule =
			vec_at(&gate->suppressions.rules, i);

		if (rule->ignored)
			log_note("%s:%d: %s: not about races, passed over",
				 rule->file, rule->line, rule->text);
	}
}

static struct error *gate_read_suppressions(struct gate *gate)
{
	const struct gate_config *config = gate->config;
	struct error *err = NULL;

	if (!config->no_default_suppressions)
		err = gate_read_defaults(gate);
	for (size_t i = 0; !err && i < config->suppressions.count; i++)
		err = suppressions_read(
			&gate->suppressions,
			*(const char **)vec_at(&config->suppressions, i));
	if (!err && config->verbose)
		gate_note_ignored(gate);
	return err;
}

static struct error *gate_read_baselines(struct gate *gate)
{
	const struct vec *paths = &gate->config->baselines;
	struct error *err = NULL;

	if (gate->config->update_baseline && paths->count != 1)
		return error_create(ERROR_USAGE,
				    "option '--update-baseline' needs one "
				    "'--baseline FILE'");
	for (size_t i = 0; !err && i < paths->count; i++)
		err = baseline_read(&gate->baseline,
				    *(const char **)vec_at(paths, i));
	return err;
}

/* Appended to: the file may well be that of the suppressions. */
static struct error *gate_open_generated(struct gate *gate)
{
	const char *path = gate->config->generate;

	if (!path)
		return NULL;
	if (strcmp(path, "-") == 0) {
		gate->generated = stderr;
		return NULL;
	}
	gate->generated = fopen(path, "ae");
	return gate->generated ? NULL : error_os(errno, "%s", path);
}

struct error *gate_init(struct gate *gate, const struct gate_config *config)
{
	struct error *err;

	*gate = (struct gate){ .config = config };
	suppressions_init(&gate->suppressions);
	baseline_init(&gate->baseline, config->update_baseline);
	err = gate_read_suppressions(gate);
	if (!err)
		err = gate_read_baselines(gate);
	return err ? err : gate_open_generated(gate);
}

void gate_deinit(struct gate *gate)
{
	if (gate->generated && gate->generated != stderr)
		fclose(gate->generated);
	suppressions_deinit(&gate->suppressions);
	baseline_deinit(&gate->baseline);
}

static struct error *gate_race(void *context, struct race *race, bool first,
			       bool *ret_settled)
{
	struct gate *gate = context;
	bool compares = gate->config->baselines.count > 0 &&
			race->verdict != VERDICT_SYNC;
	struct error *err;

	if (!first)
		return suppressions_judge_again(&gate->suppressions, race);
	err = suppressions_judge(&gate->suppressions, race, ret_settled);
	if (err || !compares)
		return err;
	race->status = STATUS_NEW;
	if (baseline_knows(&gate->baseline, race)) {
		race->status = STATUS_KNOWN;
		*ret_settled = true;
	}
	return NULL;
}

static struct error *gate_verdict(void *context, struct race *race)
{
	const struct gate *gate = context;

	return rank_race(race, &gate->config->special);
}

struct session_judge gate_judge(struct gate *gate)
{
	return (struct session_judge){ .context = gate,
				       .verdict = gate_verdict,
				       .race = gate_race };
}

bool gate_fails(const struct gate *gate, const struct race *race)
{
	return race_is_actionable(race, gate->config->ignore_unlikely);
}

bool gate_ignores_unlikely(const struct gate *gate)
{
	return gate->config->ignore_unlikely;
}

struct error *gate_generate(struct gate *gate, const struct race *race)
{
	struct strbuf text = { 0 };
	struct error *err = NULL;

	if (!gate->generated)
		return NULL;
	suppression_write(&text, race);
	errno = 0;
	if (text.failed)
		err = error_nomem;
	else if (fputs(strbuf_text(&text), gate->generated) < 0 ||
		 fflush(gate->generated) != 0)
		err = error_os(errno ? errno : EIO, "write suppressions to %s",
			       gate->config->generate);
	strbuf_deinit(&text);
	return err;
}

/* New, or with both sides where the baseline has one. */
static bool gate_adds(const struct gate *gate, const struct race *race)
{
	if (race->suppressed.rule || race->status == STATUS_UNSET)
		return false;
	return race->status == STATUS_NEW ||
	       (!race_is_one_sided(race) &&
		!baseline_has(&gate->baseline, race));
}

struct error *gate_finish(struct gate *gate, const struct vec *races)
{
	struct vec added = VEC_INIT(struct race *);
	struct error *err = NULL;

	if (!gate->config->update_baseline)
		return NULL;
	for (size_t i = 0; !err && i < races->count; i++) {
		const struct race *race = *(struct race **)vec_at(races, i);

		if (gate_adds(gate, race) && !vec_push(&added, &race))
			err = error_nomem;
	}
	if (!err)
		err = baseline_write(
			&gate->baseline, &added,
			*(const char **)vec_at(&gate->config->baselines, 0));
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

void gate_remarks(const struct gate *gate)
{
	const struct vec *rules = &gate->suppressions.rules;
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
		if (++unused <= GATE_NAMED || gate->config->verbose)
			log_note("%s:%d: the suppression was not needed: %s",
				 rule->file, rule->line, rule->text);
	}
	if (unused > GATE_NAMED && !gate->config->verbose)
		log_note("%zu more suppressions were not needed (-v names "
			 "them)",
			 unused - GATE_NAMED);
}

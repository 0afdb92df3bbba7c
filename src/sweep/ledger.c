/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Adding up a sweep; see ledger.h.
 */
#include "sweep/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sweep/journal.h"

void ledger_init(struct ledger *ledger, struct plan *plan)
{
	*ledger = (struct ledger){
		.plan = plan,
		.runs = VEC_INIT(struct ledger_run),
		.races = VEC_INIT(struct ledger_race),
	};
}

void ledger_deinit(struct ledger *ledger)
{
	for (size_t i = 0; i < ledger->runs.count; i++) {
		struct ledger_run *run = vec_at(&ledger->runs, i);

		free(run->directory);
		free(run->note);
		free(run->unsampled_reason);
		free(run->unsampled_text);
		free(run->unmatched);
	}
	for (size_t i = 0; i < ledger->races.count; i++) {
		struct ledger_race *race = vec_at(&ledger->races, i);

		free(race->what);
	}
	vec_deinit(&ledger->runs);
	vec_deinit(&ledger->races);
	map_deinit(&ledger->by_number);
}

const struct ledger_run *ledger_run(const struct ledger *ledger,
				    uint64_t number)
{
	const uint64_t *place = map_get(&ledger->by_number, number);

	return place ? vec_at(&ledger->runs, *place) : NULL;
}

const struct ledger_race *ledger_race(const struct ledger *ledger,
				      const char *fingerprint)
{
	for (size_t i = 0; i < ledger->races.count; i++) {
		const struct ledger_race *race = vec_at(&ledger->races, i);

		if (strcmp(race->fingerprint, fingerprint) == 0)
			return race;
	}
	return NULL;
}

uint64_t ledger_races(const struct ledger *ledger)
{
	uint64_t count = 0;

	for (size_t i = 0; i < ledger->races.count; i++) {
		const struct ledger_race *race = vec_at(&ledger->races, i);

		count += !race->minor;
	}
	return count;
}

struct error *ledger_species(const struct ledger *ledger,
			     struct species_counts *ret)
{
	uint64_t *times = calloc(ledger->races.count + 1, sizeof(*times));

	if (!times)
		return error_nomem;
	for (size_t i = 0; i < ledger->races.count; i++) {
		const struct ledger_race *race = vec_at(&ledger->races, i);

		times[i] = race->minor ? 0 : race->runs;
	}
	*ret = species_count(times, ledger->races.count, ledger->sampled);
	free(times);
	return NULL;
}

/* The run's place, made if it has none. */
static struct error *place_run(struct ledger *ledger,
			       const struct journal_record *record,
			       struct ledger_run **ret)
{
	const uint64_t *place = map_get(&ledger->by_number, record->run);
	struct ledger_run *run;

	if (place) {
		*ret = vec_at(&ledger->runs, *place);
		return NULL;
	}
	run = vec_append(&ledger->runs);
	if (!run ||
	    !map_set(&ledger->by_number, record->run, ledger->runs.count - 1))
		return error_nomem;
	run->number = record->run;
	run->seed = record->seed;
	*ret = run;
	return NULL;
}

/* Minor in one run and not in another: it is a race. */
static struct error *take_race(struct ledger *ledger, struct finding *finding,
			       uint64_t run, bool *ret_new)
{
	struct ledger_race *race = (struct ledger_race *)(uintptr_t)ledger_race(
		ledger, finding->fingerprint);

	*ret_new = !finding->minor && (!race || race->minor);
	if (!race) {
		race = vec_append(&ledger->races);
		if (!race)
			return error_nomem;
		memcpy(race->fingerprint, finding->fingerprint,
		       sizeof(race->fingerprint));
		race->minor = true;
		race->what = finding->what;
		finding->what = NULL;
	}
	if (*ret_new) {
		race->minor = false;
		race->first_run = run;
		race->first_order = ledger->finished;
	}
	race->runs++;
	return NULL;
}

static struct error *take_races(struct ledger *ledger, struct vec *races,
				uint64_t run, struct plan_result *result)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < races->count; i++) {
		struct finding *finding = vec_at(races, i);
		bool is_new = false;

		err = take_race(ledger, finding, run, &is_new);
		result->races += !finding->minor;
		result->races_new += is_new;
	}
	return err;
}

static void count_run(struct ledger *ledger,
		      const struct journal_record *record)
{
	enum outcome_kind kind = record->outcome.kind;

	ledger->finished++;
	ledger->kinds[kind]++;
	ledger->samples += record->findings.samples;
	ledger->sampled += record->findings.samples > 0;
	ledger->elapsed_ns += record->elapsed_ns;
}

static struct error *take_done(struct ledger *ledger,
			       struct journal_record *record)
{
	struct plan_entry *entry = plan_find(ledger->plan, record->plan);
	struct plan_result result = {
		.more_sites = record->findings.sites > ledger->most_sites,
		.elapsed_ns = record->elapsed_ns,
	};
	struct ledger_run *run;
	struct error *err = place_run(ledger, record, &run);

	if (err)
		return err;
	if (run->finished)
		return NULL;
	count_run(ledger, record);
	run->finished = true;
	run->outcome = record->outcome;
	run->elapsed_ns = record->elapsed_ns;
	run->samples = record->findings.samples;
	run->directory = record->directory;
	run->note = record->note;
	run->unsampled_reason = record->findings.unsampled_reason;
	run->unsampled_text = record->findings.unsampled_text;
	run->unmatched = record->findings.unmatched;
	record->directory = record->note = NULL;
	record->findings.unsampled_reason = NULL;
	record->findings.unsampled_text = NULL;
	record->findings.unmatched = NULL;
	if (result.more_sites)
		ledger->most_sites = record->findings.sites;
	err = take_races(ledger, &record->findings.races, run->number, &result);
	run->races_new = result.races_new;
	ledger->quiet = result.races_new > 0 ? 0 : ledger->quiet + 1;
	if (entry)
		plan_credit(entry, &result);
	return err;
}

/* An abandoned run that another sweep takes over counts once. */
static struct error *take_claim(struct ledger *ledger,
				const struct journal_record *record)
{
	struct plan_entry *entry = plan_find(ledger->plan, record->plan);
	struct ledger_run *run;
	struct error *err = place_run(ledger, record, &run);

	if (err)
		return err;
	if (entry && strcmp(run->plan, record->plan) != 0)
		plan_claim(entry);
	memcpy(run->plan, record->plan, sizeof(run->plan));
	return NULL;
}

struct error *ledger_take(struct ledger *ledger, struct journal_record *record)
{
	switch (record->type) {
	case JOURNAL_CLAIM:
		return take_claim(ledger, record);
	case JOURNAL_DONE:
		return take_done(ledger, record);
	}
	return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Adding up a sweep; see results.h.
 */
#include "sweep/results.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sweep/journal.h"

void results_init(struct results *results, struct plan *plan)
{
	*results = (struct results){
		.plan = plan,
		.runs = VEC_INIT(struct results_run),
		.races = VEC_INIT(struct results_race),
	};
}

void results_deinit(struct results *results)
{
	for (size_t i = 0; i < results->runs.count; i++) {
		struct results_run *run = vec_at(&results->runs, i);

		free(run->directory);
		free(run->note);
		free(run->unsampled_reason);
		free(run->unsampled_text);
		free(run->unmatched);
	}
	for (size_t i = 0; i < results->races.count; i++) {
		struct results_race *race = vec_at(&results->races, i);

		free(race->what);
	}
	vec_deinit(&results->runs);
	vec_deinit(&results->races);
	map_deinit(&results->by_number);
}

const struct results_run *results_run(const struct results *results,
				      uint64_t number)
{
	const uint64_t *place = map_get(&results->by_number, number);

	return place ? vec_at(&results->runs, *place) : NULL;
}

const struct results_race *results_race(const struct results *results,
					const char *fingerprint)
{
	for (size_t i = 0; i < results->races.count; i++) {
		const struct results_race *race = vec_at(&results->races, i);

		if (strcmp(race->fingerprint, fingerprint) == 0)
			return race;
	}
	return NULL;
}

uint64_t results_races(const struct results *results)
{
	uint64_t count = 0;

	for (size_t i = 0; i < results->races.count; i++) {
		const struct results_race *race = vec_at(&results->races, i);

		count += !race->minor;
	}
	return count;
}

struct error *results_species(const struct results *results,
			      struct species_counts *ret)
{
	uint64_t *times = calloc(results->races.count + 1, sizeof(*times));

	if (!times)
		return error_nomem;
	for (size_t i = 0; i < results->races.count; i++) {
		const struct results_race *race = vec_at(&results->races, i);

		times[i] = race->minor ? 0 : race->runs;
	}
	*ret = species_count(times, results->races.count, results->sampled);
	free(times);
	return NULL;
}

/* The run's place, made if it has none. */
static struct error *place_run(struct results *results,
			       const struct journal_record *record,
			       struct results_run **ret)
{
	const uint64_t *place = map_get(&results->by_number, record->run);
	struct results_run *run;

	if (place) {
		*ret = vec_at(&results->runs, *place);
		return NULL;
	}
	run = vec_append(&results->runs);
	if (!run ||
	    !map_set(&results->by_number, record->run, results->runs.count - 1))
		return error_nomem;
	run->number = record->run;
	run->seed = record->seed;
	*ret = run;
	return NULL;
}

/* Minor in one run and not in another: it is a race. */
static struct error *take_race(struct results *results, struct finding *finding,
			       uint64_t run, bool *ret_new)
{
	struct results_race *race =
		(struct results_race *)(uintptr_t)results_race(
			results, finding->fingerprint);

	*ret_new = !finding->minor && (!race || race->minor);
	if (!race) {
		race = vec_append(&results->races);
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
		race->first_order = results->finished;
	}
	race->runs++;
	return NULL;
}

static struct error *take_races(struct results *results, struct vec *races,
				uint64_t run, struct plan_result *result)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < races->count; i++) {
		struct finding *finding = vec_at(races, i);
		bool is_new = false;

		err = take_race(results, finding, run, &is_new);
		result->races += !finding->minor;
		result->races_new += is_new;
	}
	return err;
}

static void count_run(struct results *results,
		      const struct journal_record *record)
{
	enum outcome_kind kind = record->outcome.kind;

	results->finished++;
	results->kinds[kind]++;
	results->samples += record->findings.samples;
	results->sampled += record->findings.samples > 0;
	results->elapsed_ns += record->elapsed_ns;
}

static struct error *take_done(struct results *results,
			       struct journal_record *record)
{
	struct plan_entry *entry = plan_find(results->plan, record->plan);
	struct plan_result result = {
		.more_sites = record->findings.sites > results->most_sites,
		.elapsed_ns = record->elapsed_ns,
	};
	struct results_run *run;
	struct error *err = place_run(results, record, &run);

	if (err)
		return err;
	if (run->finished)
		return NULL;
	count_run(results, record);
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
		results->most_sites = record->findings.sites;
	err = take_races(results, &record->findings.races, run->number,
			 &result);
	run->races_new = result.races_new;
	results->quiet = result.races_new > 0 ? 0 : results->quiet + 1;
	if (entry)
		plan_credit(entry, &result);
	return err;
}

/* An abandoned run that another sweep takes over counts once. */
static struct error *take_claim(struct results *results,
				const struct journal_record *record)
{
	struct plan_entry *entry = plan_find(results->plan, record->plan);
	struct results_run *run;
	struct error *err = place_run(results, record, &run);

	if (err)
		return err;
	if (entry && strcmp(run->plan, record->plan) != 0)
		plan_claim(entry);
	memcpy(run->plan, record->plan, sizeof(run->plan));
	return NULL;
}

struct error *results_take(struct results *results,
			   struct journal_record *record)
{
	switch (record->type) {
	case JOURNAL_CLAIM:
		return take_claim(results, record);
	case JOURNAL_DONE:
		return take_done(results, record);
	}
	return NULL;
}

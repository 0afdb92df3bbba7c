/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What came of a sweep; see summary.h.
 */
#include "sweep/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "report/object.h"
#include "report/text.h"
#include "sweep/again.h"
#include "sweep/job.h"
#include "sweep/unmatched.h"
#include "sweep/unsampled.h"
#include "sweep/unseen.h"

/* Runs that are named, and races, unless all are asked for. */
enum { SUMMARY_NAMED = 10, SUMMARY_RACES = 50 };

static const char *const end_words[] = {
	[SWEEP_DONE] = "done",	     [SWEEP_QUIET] = "quiet",
	[SWEEP_BUDGET] = "budget",   [SWEEP_INTERRUPTED] = "interrupted",
	[SWEEP_GAVE_UP] = "gave-up", [SWEEP_FAILED] = "failed",
};

static const char *const end_phrases[] = {
	[SWEEP_DONE] = "all runs are done",
	[SWEEP_QUIET] = "the last runs showed no new race",
	[SWEEP_BUDGET] = "the time is used up",
	[SWEEP_INTERRUPTED] = "it was interrupted",
	[SWEEP_GAVE_UP] = "it gave up: nothing could be watched",
	[SWEEP_FAILED] = "it failed",
};

/* In the order of enum outcome_kind. */
static const char *const kind_phrases[OUTCOMES] = {
	"passed",
	"failed",
	"hung",
	"could not be started",
	"failed in racewatch",
	"cut short",
};

struct error *summary_fill(struct summary *summary)
{
	struct error *err = results_species(summary->results, &summary->counts);

	summary->unsampled = (struct vec)VEC_INIT(struct unsampled_group);
	if (!err)
		err = unsampled_count(summary->results, &summary->unsampled);
	if (!err)
		err = unmatched_add(&summary->unmatched, summary->results);
	if (!err)
		summary->estimate =
			species_estimate_incidence(&summary->counts);
	return err;
}

void summary_deinit(struct summary *summary)
{
	vec_deinit(&summary->unsampled);
	strbuf_deinit(&summary->unmatched);
}

static void add_elapsed(struct strbuf *out, uint64_t ns)
{
	char text[CLOCK_ELAPSED_SIZE];

	clock_format_elapsed(ns, text);
	strbuf_add(out, text);
}

void summary_add_run(struct strbuf *out, const struct results_run *run)
{
	strbuf_addf(out, "run %" PRIu64 " (seed %" PRIu64 "): ", run->number,
		    run->seed);
	if (outcome_is_plain(&run->outcome))
		strbuf_add(out, "passed");
	else
		outcome_describe(&run->outcome, out);
	if (run->note) {
		strbuf_add(out, ": ");
		utf8_add_visible(out, run->note);
	}
}

static void add_head(struct strbuf *out, const struct summary *summary)
{
	const struct results *results = summary->results;
	bool plain = results->kinds[OUTCOME_PASSED] == results->finished;

	strbuf_add(out, "SWEEP: racewatch: ");
	text_add_plural(out, results->finished, "run");
	strbuf_add(out, " in ");
	add_elapsed(out, summary->result->elapsed_ns);
	strbuf_add(out, ", ");
	text_add_plural(out, results_races(results), "race");
	for (int i = 0; i < OUTCOMES && !plain; i++) {
		if (results->kinds[i] > 0)
			strbuf_addf(out, "%s %" PRIu64 " %s",
				    i == OUTCOME_PASSED ? ";" : ",",
				    results->kinds[i], kind_phrases[i]);
	}
	strbuf_addf(out, "; %s\n", end_phrases[summary->result->end]);
}

static uint64_t id_of(const struct summary *summary, const char *fingerprint)
{
	for (size_t i = 0; i < summary->ids.count; i++) {
		const struct summary_id *id = vec_at(&summary->ids, i);

		if (strcmp(id->fingerprint, fingerprint) == 0)
			return id->id;
	}
	return 0;
}

/* The command that repeats a run, if its folder has it. */
static void add_again(struct strbuf *out, const struct summary *summary,
		      uint64_t number)
{
	const struct results_run *run = results_run(summary->results, number);
	struct strbuf path = { 0 };

	if (run && run->directory)
		strbuf_add(&path, run->directory);
	else
		job_add_folder(&path, summary->directory, number);
	strbuf_add(&path, "/again");
	if (!path.failed && access(strbuf_text(&path), F_OK) == 0) {
		strbuf_addf(out, "    run %" PRIu64 " once more: ", number);
		again_add_word(out, strbuf_text(&path));
		strbuf_add(out, "\n");
	}
	strbuf_deinit(&path);
}

static void add_race(struct strbuf *out, const struct summary *summary,
		     const struct results_race *race)
{
	uint64_t id = id_of(summary, race->fingerprint);

	strbuf_add(out, "  race ");
	if (id)
		strbuf_addf(out, "#%" PRIu64 " ", id);
	strbuf_addf(out,
		    "in %" PRIu64 " of %" PRIu64 " runs, first in run %" PRIu64
		    " (the ",
		    race->runs, summary->results->finished, race->first_run);
	strbuf_addf(out, "%" PRIu64 "%s to end): ", race->first_order,
		    race->first_order % 100 / 10 == 1 ? "th"
		    : race->first_order % 10 == 1     ? "st"
		    : race->first_order % 10 == 2     ? "nd"
		    : race->first_order % 10 == 3     ? "rd"
						      : "th");
	utf8_add_visible(out, race->what ? race->what : "?");
	strbuf_add(out, "\n");
	add_again(out, summary, race->first_run);
}

static void add_races(struct strbuf *out, const struct summary *summary)
{
	const struct vec *races = &summary->results->races;
	uint64_t shown = 0;

	for (size_t i = 0; i < races->count; i++) {
		const struct results_race *race = vec_at(races, i);

		if (race->minor)
			continue;
		if (summary->all || ++shown <= SUMMARY_RACES)
			add_race(out, summary, race);
	}
	if (shown > SUMMARY_RACES)
		strbuf_addf(out, "  and %" PRIu64 " more races\n",
			    shown - SUMMARY_RACES);
}

static void add_plan(struct strbuf *out, const struct summary *summary)
{
	const struct plan *plan = summary->results->plan;

	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_entry *entry = &plan->entries[i];

		if (entry->finished == 0)
			continue;
		strbuf_addf(out, "  plan %s: ", entry->name);
		text_add_plural(out, entry->finished, "run");
		if (entry->races_new > 0)
			strbuf_addf(out, ", %" PRIu64 " first shown",
				    entry->races_new);
		strbuf_add(out, "\n");
	}
}

static void add_runs(struct strbuf *out, const struct summary *summary)
{
	const struct vec *runs = &summary->results->runs;
	uint64_t shown = 0;

	for (size_t i = 0; i < runs->count; i++) {
		const struct results_run *run = vec_at(runs, i);

		if (!run->finished || outcome_is_plain(&run->outcome))
			continue;
		if (++shown > SUMMARY_NAMED && !summary->all)
			continue;
		strbuf_add(out, "  ");
		summary_add_run(out, run);
		strbuf_add(out, "\n");
		add_again(out, summary, run->number);
	}
	if (shown > SUMMARY_NAMED && !summary->all)
		strbuf_addf(out,
			    "  and %" PRIu64 " more such runs (-v names "
			    "them)\n",
			    shown - SUMMARY_NAMED);
}

void summary_add_text(struct strbuf *out, const struct summary *summary)
{
	add_head(out, summary);
	add_races(out, summary);
	unsampled_add_text(out, &summary->unsampled,
			   summary->results->finished);
	strbuf_add(out, strbuf_text(&summary->unmatched));
	unseen_add_text(out, &summary->counts, &summary->estimate);
	add_plan(out, summary);
	add_runs(out, summary);
	if (summary->result->lost)
		strbuf_addf(out,
			    "  %" PRIu64 " runs have ended that could not be "
			    "recorded: they will be done again\n",
			    summary->result->lost);
	strbuf_addf(out, "  kept in %s\n", summary->directory);
}

static void put_runs(struct object *line, const struct summary *summary)
{
	const struct results *results = summary->results;
	struct object runs = object_begin(NULL);

	object_put_uint(&runs, "finished", results->finished);
	object_put_uint(&runs, "sampled", results->sampled);
	for (unsigned int i = 0; i < OUTCOMES; i++)
		object_put_uint(&runs, outcome_word(i), results->kinds[i]);
	object_put_record(line, "runs", &runs);
}

static void put_races(struct object *line, const struct summary *summary)
{
	const struct vec *races = &summary->results->races;
	json_t *array = json_array();

	for (size_t i = 0; i < races->count; i++) {
		const struct results_race *race = vec_at(races, i);
		struct object object = object_begin(NULL);

		if (race->minor)
			continue;
		object_put_known(&object, "id",
				 id_of(summary, race->fingerprint));
		object_put_text(&object, "fingerprint", race->fingerprint);
		object_put_text(&object, "what", race->what);
		object_put_uint(&object, "runs", race->runs);
		object_put_uint(&object, "first_run", race->first_run);
		object_put_uint(&object, "first_order", race->first_order);
		object_append(line, array, object_end(&object));
	}
	object_put(line, "races", array);
}

static void put_estimate(struct object *line, const struct summary *summary)
{
	const struct species_estimate *estimate = &summary->estimate;
	struct object object = object_begin(NULL);

	object_put_uint(&object, "once", summary->counts.once);
	object_put_uint(&object, "twice", summary->counts.twice);
	object_put_real(&object, "next", estimate->next);
	object_put_real(&object, "next_limit", estimate->next_limit);
	object_put_real(&object, "coverage", estimate->coverage);
	object_put_real(&object, "total", estimate->total);
	object_put_real(&object, "total_low", estimate->total_low);
	object_put_real(&object, "total_high", estimate->total_high);
	object_put_record(line, "estimate", &object);
}

static void put_plan(struct object *line, const struct summary *summary)
{
	const struct plan *plan = summary->results->plan;
	json_t *array = json_array();

	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_entry *entry = &plan->entries[i];
		struct object object = object_begin(NULL);

		object_put_text(&object, "name", entry->name);
		object_put_uint(&object, "runs", entry->finished);
		object_put_uint(&object, "races_new", entry->races_new);
		object_append(line, array, object_end(&object));
	}
	object_put(line, "plan", array);
}

struct error *summary_write_json(const struct summary *summary, FILE *out)
{
	struct object line = object_begin(NULL);
	json_t *command = json_array();

	object_put_uint(&line, "schema", 1);
	object_put_text(&line, "version", PACKAGE_VERSION);
	for (size_t i = 0; summary->command && summary->command[i]; i++)
		object_append(&line, command, object_text(summary->command[i]));
	object_put(&line, "command", command);
	object_put_text(&line, "end", end_words[summary->result->end]);
	object_put_seconds(&line, "elapsed_s", summary->result->elapsed_ns);
	put_runs(&line, summary);
	object_put_uint(&line, "samples", summary->results->samples);
	unsampled_put(&line, &summary->unsampled);
	put_races(&line, summary);
	put_estimate(&line, summary);
	put_plan(&line, summary);
	object_put_uint(&line, "exit", (uint64_t)summary->exit_status);
	return object_write(&line, out);
}

void summary_add_progress(struct strbuf *out,
			  const struct sweep_progress *progress)
{
	add_elapsed(out, progress->elapsed_ns);
	strbuf_addf(out, ", %" PRIu64, progress->finished);
	if (progress->runs)
		strbuf_addf(out, " of %" PRIu64, progress->runs);
	strbuf_addf(out, " runs, %" PRIu64 " running, ", progress->running);
	text_add_plural(out, progress->races, "race");
	if (progress->other_than_passed)
		strbuf_addf(out, ", %" PRIu64 " not passed",
			    progress->other_than_passed);
	if (progress->waits) {
		strbuf_add(out, ", waiting for another sweep's runs");
	} else if (progress->left_ns != UINT64_MAX) {
		strbuf_add(out, ", ends in ");
		add_elapsed(out, progress->left_ns);
	}
	if (progress->quiet)
		strbuf_addf(out, ", nothing new for %" PRIu64 " runs",
			    progress->quiet);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The output of a hunt; see hunting.h.
 */
#include "output/hunting.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exitstatus.h"
#include "base/log.h"
#include "conflict/symbolize.h"
#include "hunt/attach.h"
#include "hunt/callers.h"
#include "hunt/earlier.h"
#include "hunt/kept.h"
#include "hunt/triage.h"
#include "judge/judge.h"
#include "output/terminal.h"
#include "report/combine.h"
#include "report/field.h"
#include "report/race.h"
#include "report/record.h"
#include "report/target-counts.h"
#include "report/text.h"

/* The line of a race names at most this many of its targets. */
enum { HUNTING_TARGETS = 16 };

static const uint64_t HUNTING_LINE_NS = 60 * CLOCK_NS_PER_S;

struct hunting_race {
	struct race *race; /* owned */
	uint8_t key[COMBINE_KEY_SIZE];
	struct vec targets; /* of uint64_t: those it was met at, each once */
	struct callers callers; /* with candidates: all of them */
	uint64_t count; /* when it was written */
	enum race_verdict verdict;
};

static struct hunting_race *hunting_race_at(const struct hunting_output *output,
					    size_t i)
{
	return vec_at(&output->races, i);
}

struct error *hunting_output_init(struct hunting_output *output,
				  const struct hunting_config *config)
{
	struct error *err;

	*output = (struct hunting_output){
		.config = config,
		.races = VEC_INIT(struct hunting_race),
		.start_wall_ns = clock_wall_ns(),
		.text = { .ops = &render_text,
			  .out = stderr,
			  .style = config->style,
			  .live = true,
			  .show_ordered = config->show_ordered,
			  .ignore_unlikely =
				  judge_ignores_unlikely(config->judge) },
	};
	status_init(&output->status, config->quiet ? -1 : STDERR_FILENO);
	err = saved_open(&output->saved, config->path, config->format,
			 &config->style);
	output->saved.renderer.ignore_unlikely = output->text.ignore_unlikely;
	saved_add_again(&output->saved, config->command, config->until_exit_of,
			&output->again);
	if (output->again.length > 0 && !output->again.failed)
		output->text.again = strbuf_text(&output->again);
	return err;
}

/* The first error of writing is told at once; the hunt goes on. */
static void hunting_failed(struct hunting_output *output, struct error *err)
{
	if (!err)
		return;
	if (!output->failed)
		log_error("%s", error_message(err));
	output->failed = true;
	error_free(err);
}

static void hunting_text_failed(struct hunting_output *output,
				struct error *err)
{
	if (terminal_unread(err, stderr))
		error_free(err);
	else
		hunting_failed(output, err);
}

bool hunting_output_deinit(struct hunting_output *output)
{
	hunting_failed(output, saved_close(&output->saved));
	for (size_t i = 0; i < output->races.count; i++) {
		race_free(hunting_race_at(output, i)->race);
		vec_deinit(&hunting_race_at(output, i)->targets);
		callers_deinit(&hunting_race_at(output, i)->callers);
	}
	vec_deinit(&output->races);
	strbuf_deinit(&output->again);
	return !output->failed;
}

static void hunting_write_run(struct hunting_output *output)
{
	const struct hunting_config *config = output->config;
	struct run_record run = {
		.version = PACKAGE_VERSION,
		.command = (const char *const *)config->command,
		.options = (const char *const *)config->options,
		.option_count = config->option_count,
		.replay = config->replay_off ? "off" : "on",
		.replay_off = config->replay_off,
		.start = output->start_wall_ns,
	};
	char host[HOST_NAME_MAX + 2] = "";

	if (output->run_written)
		return;
	output->run_written = true;
	/* a name that does not fit is no name */
	if (gethostname(host, sizeof(host)) == 0 && !host[sizeof(host) - 1])
		run.host = host;
	hunting_failed(output, saved_run(&output->saved, &run));
}

static bool hunting_shows(const struct hunting_output *output,
			  const struct race *race)
{
	return output->config->show_all ||
	       judge_fails(output->config->judge, race);
}

/* In full when it is new, in a line when it turns out to be worse. */
static void hunting_print(struct hunting_output *output,
			  struct hunting_race *seen)
{
	render_race *write = render_text.race;

	if (seen->count > 0)
		write = render_text_graver;
	if (seen->count > 0 && seen->race->verdict >= seen->verdict)
		return;
	status_erase(&output->status);
	hunting_text_failed(output, write(&output->text, seen->race));
	hunting_failed(output, saved_text(&output->saved, write, seen->race));
}

static void hunting_show(struct hunting_output *output,
			 struct hunting_race *seen)
{
	if (!hunting_shows(output, seen->race))
		return;
	if (seen->race->id == 0)
		seen->race->id = ++output->numbered;
	hunting_write_run(output);
	hunting_print(output, seen);
	if (saved_takes_updates(&output->saved))
		hunting_failed(output, saved_race(&output->saved, seen->race));
	seen->count = seen->race->count;
	seen->verdict = seen->race->verdict;
}

static bool hunting_has_target(const struct hunting_race *seen, uint64_t target)
{
	for (size_t i = 0; i < seen->targets.count; i++) {
		if (*(const uint64_t *)vec_at(&seen->targets, i) == target)
			return true;
	}
	return false;
}

static struct error *hunting_add_target(struct hunting_race *seen,
					uint64_t target)
{
	if (target == 0 || hunting_has_target(seen, target))
		return NULL;
	return vec_push(&seen->targets, &target) ? NULL : error_nomem;
}

/* Candidates are told by stacks, of which the race shows two. */
static struct error *hunting_add_callers(const struct hunting_output *output,
					 struct hunting_race *seen,
					 const struct race *race)
{
	return output->config->candidates ? callers_add(&seen->callers, race)
					  : NULL;
}

/* One more of a kind that was met before: the two become one. */
static struct error *hunting_again(struct hunting_output *output,
				   struct hunting_race *seen, struct race *race)
{
	uint64_t id = seen->race->id, target = seen->race->target;
	struct error *err = hunting_add_target(seen, race->target);

	if (!err)
		err = hunting_add_callers(output, seen, race);
	if (!err)
		err = race_combine(seen->race, race);
	race_free(race);
	seen->race->id = id;
	seen->race->target = target;
	seen->race->earlier = false;
	if (!err && (id == 0 || seen->race->verdict < seen->verdict))
		hunting_show(output, seen);
	return err;
}

/* One that is of no kind that was met before; it is taken over, also on failure. */
static struct error *hunting_first(struct hunting_output *output,
				   struct race *race,
				   const uint8_t key[COMBINE_KEY_SIZE])
{
	struct hunting_race seen = { .race = race,
				     .targets = VEC_INIT(uint64_t) };
	bool settled;
	struct error *err = judge_race(output->config->judge, race, &settled);

	memcpy(seen.key, key, sizeof(seen.key));
	callers_init(&seen.callers);
	if (!err)
		err = hunting_add_target(&seen, race->target);
	if (!err)
		err = hunting_add_callers(output, &seen, race);
	if (!err && !vec_push(&output->races, &seen))
		err = error_nomem;
	if (err) {
		vec_deinit(&seen.targets);
		callers_deinit(&seen.callers);
		race_free(race);
		return err;
	}
	hunting_show(output, hunting_race_at(output, output->races.count - 1));
	return judge_fails(output->config->judge, race)
		       ? judge_generate(output->config->judge, race)
		       : NULL;
}

/* The race of that kind; NULL: none was met. */
static struct hunting_race *hunting_find(const struct hunting_output *output,
					 const uint8_t key[COMBINE_KEY_SIZE])
{
	for (size_t i = 0; i < output->races.count; i++) {
		struct hunting_race *known = hunting_race_at(output, i);

		if (memcmp(known->key, key, sizeof(known->key)) == 0)
			return known;
	}
	return NULL;
}

static struct error *hunting_race_met(void *context, struct race *race)
{
	struct hunting_output *output = context;
	uint8_t key[COMBINE_KEY_SIZE];
	struct hunting_race *known;
	struct error *err;

	race->id = 0;
	err = race_key(race, key);
	if (err) {
		race_free(race);
		return err;
	}
	known = hunting_find(output, key);
	return known ? hunting_again(output, known, race)
		     : hunting_first(output, race, key);
}

/* What that hunt was to suppress, and knew, is not what this one is to. */
static struct error *hunting_race_earlier(struct hunting_output *output,
					  struct race *race, bool changed)
{
	uint8_t key[COMBINE_KEY_SIZE];
	struct hunting_race *known;
	uint64_t target = race->target;
	struct error *err = race_key(race, key);

	known = err ? NULL : hunting_find(output, key);
	if (err || known || changed) {
		output->changed += !err && !known;
		race_free(race);
		return known ? hunting_add_target(known, target) : err;
	}
	fields_deinit(&race_suppression_fields, &race->suppressed);
	race->status = STATUS_UNSET;
	race->earlier = true;
	return hunting_first(output, race, key);
}

static struct error *hunting_races_earlier(struct hunting_output *output,
					   struct vec *races, bool changed,
					   struct error *err)
{
	for (size_t i = 0; i < races->count; i++) {
		struct race *race = *(struct race **)vec_at(races, i);

		if (err)
			race_free(race);
		else
			err = hunting_race_earlier(output, race, changed);
	}
	vec_deinit(races);
	return err;
}

struct error *hunting_output_earlier(struct hunting_output *output,
				     struct outcomes *outcomes)
{
	struct vec races = VEC_INIT(struct race *);
	struct vec changed = VEC_INIT(struct race *);
	struct error *err = earlier_races(outcomes, &races, &changed);

	err = hunting_races_earlier(output, &races, false, err);
	return hunting_races_earlier(output, &changed, true, err);
}

static struct error *hunting_crash(void *context, const struct crash *crash)
{
	struct hunting_output *output = context;

	hunting_write_run(output);
	status_erase(&output->status);
	hunting_text_failed(output,
			    output->text.ops->crash(&output->text, crash));
	hunting_failed(output, saved_crash(&output->saved, crash));
	return NULL;
}

static void hunting_add_counts(struct strbuf *line,
			       const struct outcomes_counts *counts)
{
	struct target_counts sum = { .sides = counts->sides };

	memcpy(sum.results, counts->results, sizeof(sum.results));
	target_counts_say(line, &sum);
}

static void hunting_save_progress(struct hunting_output *output,
				  const struct hunt_progress *progress)
{
	uint64_t pending = progress->counts.results[TARGET_PENDING];
	uint64_t left_ns = progress->left_ns;
	const struct run_summary sum = {
		.elapsed_ns = progress->elapsed_ns,
		.races = output->numbered,
		.hunt = { .known = true,
			  .runs = progress->runs,
			  .planned = progress->planned,
			  .sides = progress->counts.sides,
			  .sides_left = pending,
			  .left_ns = left_ns == UINT64_MAX ? 0 : left_ns },
	};

	hunting_write_run(output);
	hunting_failed(output, saved_progress(&output->saved, &sum,
					      pending + progress->busy == 0));
}

static void hunting_progress(void *context,
			     const struct hunt_progress *progress)
{
	struct hunting_output *output = context;
	uint64_t now = clock_now_ns();
	struct strbuf line = { 0 };

	hunting_add_counts(&line, &progress->counts);
	strbuf_add(&line, "; ");
	text_add_count(&line, progress->runs);
	strbuf_add(&line, " of about ");
	text_add_plural(&line, progress->planned, "run");
	if (progress->left_ns != UINT64_MAX) {
		strbuf_add(&line, ", about ");
		text_add_time(&line, progress->left_ns);
		strbuf_add(&line, " left");
	}
	hunting_save_progress(output, progress);
	status_show_text(&output->status, strbuf_text(&line));
	if (!output->status.enabled && !output->config->quiet &&
	    now >= output->line_ns) {
		if (output->line_ns)
			log_note("%s", strbuf_text(&line));
		output->line_ns = now + HUNTING_LINE_NS;
	}
	strbuf_deinit(&line);
}

struct hunt_sink hunting_output_sink(struct hunting_output *output)
{
	return (struct hunt_sink){
		.context = output,
		.race = hunting_race_met,
		.crash = hunting_crash,
		.progress = hunting_progress,
	};
}

/* What has come to its races since they were written. */
static void hunting_write_again(struct hunting_output *output)
{
	for (size_t i = 0; i < output->races.count; i++) {
		const struct hunting_race *seen = hunting_race_at(output, i);

		if (seen->race->id != 0 && seen->race->count > seen->count &&
		    saved_takes_updates(&output->saved))
			hunting_failed(output,
				       saved_race(&output->saved, seen->race));
	}
}

/* "race #1 was provoked at 3 of the sides: targets #1, #2, #5" */
static void hunting_say_targets(struct hunting_output *output,
				const struct hunting_race *seen)
{
	const struct vec *targets = &seen->targets;
	struct strbuf line = { 0 };

	if (seen->race->id == 0 || targets->count == 0 || output->config->quiet)
		return;
	strbuf_addf(&line, "race #%" PRIu64 " was provoked at ",
		    seen->race->id);
	text_add_count(&line, targets->count);
	strbuf_add(&line, targets->count > 1 ? " of the sides: targets"
					     : " of the sides: target");
	for (size_t i = 0; i < targets->count && i < HUNTING_TARGETS; i++)
		strbuf_addf(&line, "%s #%" PRIu64, i ? "," : "",
			    *(const uint64_t *)vec_at(targets, i));
	if (targets->count > HUNTING_TARGETS) {
		strbuf_add(&line, " and ");
		text_add_count(&line, targets->count - HUNTING_TARGETS);
		strbuf_add(&line, " more");
	}
	log_note("%s", strbuf_text(&line));
	strbuf_deinit(&line);
}

/* The race that the target was provoked in, in this hunt; NULL: none. */
static const struct hunting_race *
hunting_of_target(const struct hunting_output *output, uint64_t target)
{
	for (size_t i = 0; i < output->races.count; i++) {
		if (hunting_has_target(hunting_race_at(output, i), target))
			return hunting_race_at(output, i);
	}
	return NULL;
}

/* Each by all its callers: what holds of the race does of these. */
static bool hunting_list_callers(const struct hunting_race *seen,
				 struct vec *races)
{
	bool good = true;

	for (size_t i = 0; good && i < seen->callers.races.count; i++) {
		struct race *race =
			*(struct race **)vec_at(&seen->callers.races, i);

		race->id = seen->race->id;
		race->verdict = seen->race->verdict;
		good = vec_push(races, &race);
	}
	return good;
}

static struct error *hunting_list_races(const struct hunting_output *output,
					struct vec *races)
{
	for (size_t i = 0; i < output->races.count; i++) {
		const struct hunting_race *seen = hunting_race_at(output, i);

		if (!vec_push(races, &seen->race) ||
		    !hunting_list_callers(seen, races))
			return error_nomem;
	}
	return NULL;
}

static void hunting_write_candidate(struct hunting_output *output,
				    const struct candidate_record *candidate)
{
	output->candidates[candidate->result]++;
	if (!output->config->quiet)
		hunting_text_failed(output, render_text.candidate(&output->text,
								  candidate));
	hunting_failed(output, saved_candidate(&output->saved, candidate));
}

/* What came of each, by the targets and the races that this hunt has met. */
static struct error *hunting_write_candidates(struct hunting_output *output,
					      struct outcomes *outcomes,
					      const struct vec *targets)
{
	struct vec records = VEC_INIT(struct candidate_record);
	struct vec races = VEC_INIT(struct race *);
	struct error *err = hunting_list_races(output, &races);
	size_t own = races.count;

	if (!err)
		err = kept_races(outcomes, &races);
	if (!err)
		err = triage(output->config->candidates, targets, &races,
			     &records);
	for (size_t i = 0; i < records.count; i++) {
		if (!err)
			hunting_write_candidate(output, vec_at(&records, i));
		candidate_record_deinit(vec_at(&records, i));
	}
	for (size_t i = own; i < races.count; i++)
		race_free(*(struct race **)vec_at(&races, i));
	vec_deinit(&records);
	vec_deinit(&races);
	return err;
}

/*
 * A race tells its targets in a line; by themselves they are told on demand, or
 * if it was an earlier hunt of this store that met it.
 */
static bool hunting_shows_target(const struct hunting_output *output,
				 const struct target_record *record,
				 const struct hunting_race *race)
{
	const struct hunting_config *config = output->config;

	return !config->quiet &&
	       (config->verbose ||
		(config->show_ordered && record->side.hand_overs.count > 0) ||
		(record->outcome.result == TARGET_PROVOKED && !race));
}

static struct error *hunting_write_target(struct hunting_output *output,
					  struct symbolizer *symbolizer,
					  struct target_record *record)
{
	const struct hunting_race *race =
		hunting_of_target(output, record->side.id);
	struct error *err = attach_names(symbolizer, &record->side);

	if (err)
		return err;
	if (race)
		record->race_id = race->race->id;
	if (hunting_shows_target(output, record, race))
		hunting_text_failed(output,
				    render_text.target(&output->text, record));
	hunting_failed(output, saved_target(&output->saved, record));
	return NULL;
}

static struct error *hunting_write_targets(struct hunting_output *output,
					   struct outcomes *outcomes)
{
	struct vec records = VEC_INIT(struct target_record);
	struct symbolizer *symbolizer = NULL;
	struct error *err = outcomes_load(outcomes, &records);

	status_erase(&output->status);
	for (size_t i = 0; i < output->races.count; i++)
		hunting_say_targets(output, hunting_race_at(output, i));
	if (!err)
		err = symbolizer_create(NULL, &symbolizer);
	for (size_t i = 0; !err && i < records.count; i++)
		err = hunting_write_target(output, symbolizer,
					   vec_at(&records, i));
	if (!err && output->config->candidates)
		err = hunting_write_candidates(output, outcomes, &records);
	for (size_t i = 0; i < records.count; i++)
		target_record_deinit(vec_at(&records, i));
	vec_deinit(&records);
	symbolizer_destroy(symbolizer);
	return err;
}

static struct error *hunting_finish_judge(const struct hunting_output *output)
{
	struct vec races = VEC_INIT(const struct race *);
	struct error *err = hunting_list_races(output, &races);

	if (!err)
		err = judge_finish(output->config->judge, &races);
	vec_deinit(&races);
	return err;
}

static void hunting_count_races(const struct hunting_output *output,
				struct run_summary *sum)
{
	for (size_t i = 0; i < output->races.count; i++) {
		const struct race *race = hunting_race_at(output, i)->race;

		sum->suppressed += race->suppressed.rule != NULL;
		sum->synchronization += !race->suppressed.rule &&
					race->verdict == VERDICT_SYNC;
		if (!race_counts(race, output->text.ignore_unlikely))
			continue;
		sum->races++;
		sum->known += race->status == STATUS_KNOWN;
		sum->unlikely += race->verdict == VERDICT_UNLIKELY;
		sum->replays += race->replay.instances;
		sum->replays_failed += race_replay_failures(&race->replay);
	}
	sum->races_new = sum->races - sum->known;
}

/* Does this hunt say nothing of any of its candidates? */
static bool hunting_missed_all(const struct hunting_output *output)
{
	const uint64_t *counts = output->candidates;

	return output->config->candidates &&
	       counts[CANDIDATE_PROVOKED] + counts[CANDIDATE_ORDERED] +
			       counts[CANDIDATE_NOT_MET] ==
		       0;
}

static bool hunting_proves_nothing(const struct hunting_output *output,
				   const struct hunt_result *result,
				   const struct outcomes_counts *counts)
{
	uint64_t tried = counts->sides - counts->results[TARGET_PENDING];

	/* a recording that came to its end has no sides where nothing conflicts */
	if (tried == 0 && (counts->sides > 0 || output->recording_cut))
		return true;
	if (output->config->min_tried > 0 && output->recording_cut)
		return true;
	if (tried * 100 < output->config->min_tried * counts->sides)
		return true;
	return hunting_missed_all(output) ||
	       (output->changed > 0 && result->runs == 0);
}

/* Where every side has an outcome, the command's own status is the last word. */
static int hunting_status(const struct hunting_output *output,
			  const struct hunt_result *result,
			  const struct outcomes_counts *counts,
			  const struct run_summary *sum)
{
	if (sum->races_new > 0 && output->config->error_exitcode != 0)
		return (int)output->config->error_exitcode;
	if (result->end == HUNT_INTERRUPTED)
		return 128 + result->interrupted;
	if (hunting_proves_nothing(output, result, counts))
		return EXIT_NO_PROOF;
	/* nothing to be tried: the recording was the only run */
	return result->runs > 0 ? result->status : output->recorded_status;
}

/* Races that this hunt has not met itself. */
static void hunting_say_earlier(const struct hunting_output *output,
				struct strbuf *line)
{
	uint64_t count = 0;

	for (size_t i = 0; i < output->races.count; i++) {
		const struct race *race = hunting_race_at(output, i)->race;

		count += race->earlier &&
			 race_counts(race, output->text.ignore_unlikely);
	}
	if (count == 0)
		return;
	strbuf_add(line, ", ");
	text_add_count(line, count);
	strbuf_add(line, " of an earlier hunt");
}

/* Sides without an outcome, and why: no race says nothing of these. */
static void hunting_say_left(const struct hunting_output *output,
			     const struct hunt_result *result,
			     const struct outcomes_counts *counts)
{
	static const char *const reasons[] = {
		[HUNT_DONE] = "other hunts that share the store try them",
		[HUNT_BUDGET] = "the time of --budget was over",
		[HUNT_INTERRUPTED] = "a signal ended the hunt",
		[HUNT_FAILED] = "an error ended the hunt",
	};
	uint64_t left = counts->results[TARGET_PENDING];
	struct strbuf line = { 0 };

	if (left == 0 || output->config->quiet)
		return;
	text_add_count(&line, left);
	strbuf_add(&line, " of ");
	text_add_plural(&line, counts->sides, "side");
	strbuf_addf(&line, " not tried to the end: %s; ", reasons[result->end]);
	strbuf_add(&line, "whether they race is not known");
	log_warn("%s", strbuf_text(&line));
	strbuf_deinit(&line);
}

static void hunting_say_changed(const struct hunting_output *output)
{
	struct strbuf line = { 0 };

	if (output->changed == 0)
		return;
	text_add_plural(&line, output->changed, "race");
	strbuf_add(&line,
		   " of an earlier hunt not reported: in other builds of "
		   "the files; a hunt with this store as --since tries "
		   "what has changed");
	log_warn("%s", strbuf_text(&line));
	strbuf_deinit(&line);
}

static void hunting_say(const struct hunting_output *output,
			const struct hunt_result *result,
			const struct outcomes_counts *counts,
			const struct run_summary *sum)
{
	struct strbuf line = { 0 };

	if (output->config->quiet)
		return;
	judge_remarks(output->config->judge);
	hunting_say_changed(output);
	hunting_say_left(output, result, counts);
	strbuf_add(&line, "SUMMARY: racewatch: ");
	text_add_plural(&line, sum->races, "race");
	strbuf_add(&line, " (");
	text_add_count(&line, sum->races_new);
	strbuf_add(&line, " new");
	hunting_say_earlier(output, &line);
	strbuf_add(&line, "); ");
	hunting_add_counts(&line, counts);
	strbuf_add(&line, "; ");
	text_add_plural(&line, result->runs, "run");
	strbuf_add(&line, " in ");
	text_add_time(&line, result->elapsed_ns);
	if (result->failed > 0) {
		strbuf_add(&line, "; the command failed in ");
		text_add_count(&line, result->failed);
	} else if (result->runs == 0 && output->recorded_status != 0) {
		strbuf_addf(&line,
			    "; the recorded command ended with exit status %d",
			    output->recorded_status);
	}
	if (output->config->candidates) {
		strbuf_add(&line, "; ");
		candidate_say_counts(&line, output->candidates);
	}
	fprintf(stderr, "%s\n", strbuf_text(&line));
	strbuf_deinit(&line);
}

struct error *hunting_output_finish(struct hunting_output *output,
				    struct outcomes *outcomes,
				    const struct hunt_result *result,
				    int *ret_status)
{
	struct run_summary sum = { .backend = "",
				   .hunt = output->hunt,
				   .elapsed_ns = result->elapsed_ns };
	struct outcomes_counts counts;
	struct error *err = outcomes_count(outcomes, &counts);

	hunting_write_run(output);
	if (!err)
		err = hunting_output_earlier(output, outcomes);
	hunting_write_again(output);
	if (!err)
		err = hunting_write_targets(output, outcomes);
	if (!err)
		err = hunting_finish_judge(output);
	if (err)
		return err;
	hunting_count_races(output, &sum);
	*ret_status = hunting_status(output, result, &counts, &sum);
	sum.exit_status = *ret_status;
	hunting_failed(output, saved_summary(&output->saved, &sum));
	hunting_say(output, result, &counts, &sum);
	return NULL;
}

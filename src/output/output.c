/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session's output; see output.h.
 */
#include "output/output.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "image/elftext.h"
#include "image/image.h"
#include "judge/judge.h"
#include "output/onrace.h"
#include "output/terminal.h"
#include "report/field.h"
#include "report/race.h"
#include "report/related.h"
#include "report/run.h"
#include "report/source.h"

/*
 * A race that was seen: as what, and with which count it was written; 0: not
 * yet.
 */
struct output_race {
	const struct race *race;
	uint64_t count;
	uint64_t replays; /* as count, of instances and failures */
	uint64_t replays_told; /* those that the text in full has */
	enum race_verdict verdict;
	bool said; /* the text has a line of it */
	bool full; /* the text has all of it */
	bool acted; /* --on-race was done for it */
	enum race_verdict acted_verdict; /* the gravest that it had then */
	bool generated; /* a suppression was written for it */
	bool completed; /* what is written has both sides */
};

static void output_set_again(struct output *output)
{
	struct strbuf *again = &output->again;

	saved_add_again(&output->saved, output->config->command, NULL, again);
	if (!again->failed)
		output->text.again = strbuf_text(again);
}

struct error *output_init(struct output *output,
			  const struct output_config *config)
{
	struct error *err;

	memset(output, 0, sizeof(*output));
	output->config = config;
	output->races = (struct vec)VEC_INIT(struct output_race);
	output->text = (struct renderer){
		.ops = &render_text,
		.out = stderr,
		.style = config->style,
		.live = true,
	};
	output->text.ignore_unlikely = judge_ignores_unlikely(config->judge);
	status_init(&output->status, config->quiet ? -1 : STDERR_FILENO);
	output->start_wall_ns = clock_wall_ns();
	err = saved_open(&output->saved, config->path, config->format,
			 &config->style);
	output->saved.renderer.ignore_unlikely = output->text.ignore_unlikely;
	output_set_again(output);
	return err;
}

/* Say the first error of writing at once; later ones say nothing new. */
static void output_failed(struct output *output, struct error *err)
{
	if (!err)
		return;
	if (!output->failed)
		log_error("%s", error_message(err));
	output->failed = true;
	error_free(err);
}

/*
 * The same for the text. That its reader has gone, "racewatch attach PID 2>&1
 * | head", is no failure, and the report in a file is complete all the same.
 */
static void output_text_failed(struct output *output, struct error *err)
{
	if (terminal_unread(err, stderr)) {
		output->unread = true;
		error_free(err);
		return;
	}
	output_failed(output, err);
}

/* And for the report, on standard output. */
static void output_saved_failed(struct output *output, struct error *err)
{
	if (terminal_unread(err, output->saved.file))
		error_free(err);
	else
		output_failed(output, err);
}

bool output_deinit(struct output *output)
{
	output_saved_failed(output, saved_close(&output->saved));
	fields_deinit(&summary_fields, &output->counts.sum);
	vec_deinit(&output->races);
	strbuf_deinit(&output->again);
	return !output->failed;
}

static const char *output_sandbox(const struct output *output)
{
	if (output->config->sandbox_off)
		return "off";
	if (!output->counts.sandboxed)
		return "partly";
	return output->config->sandbox_strict ? "strict" : "on";
}

static struct error *output_write_run(struct output *output)
{
	const struct vec *modules = image_modules(output->image);
	struct run_module *list = calloc(modules->count + 1, sizeof(*list));
	struct run_record run = {
		.version = PACKAGE_VERSION,
		.command = (const char *const *)output->config->command,
		.options = (const char *const *)output->config->options,
		.option_count = output->config->option_count,
		.pid = output->counts.pid,
		.backend = output->counts.backend,
		.seed = output->config->seed,
		.replay = output->config->replay_off ? "off" : "on",
		.replay_off = output->config->replay_off,
		.sandbox = output_sandbox(output),
		.sandbox_off = output->config->sandbox_off,
		.start = output->start_wall_ns,
		.modules = list,
		.module_count = modules->count,
	};
	char host[HOST_NAME_MAX + 2] = "";
	struct error *err;

	if (!list)
		return error_nomem;
	for (size_t i = 0; i < modules->count; i++) {
		const struct module *module =
			*(struct module **)vec_at(modules, i);

		list[i].path = module->path;
		list[i].base = module->bias;
		if (module->text)
			list[i].build_id = elftext_build_id(module->text);
	}
	/* a name that does not fit is no name */
	if (gethostname(host, sizeof(host)) == 0 && !host[sizeof(host) - 1])
		run.host = host;
	err = saved_run(&output->saved, &run);
	if (!err)
		err = output->text.ops->run(&output->text, &run);
	free(list);
	return err;
}

/*
 * The record of the run is written before the first race or after a moment,
 * when the program's libraries have been loaded.
 */
static void output_run(struct output *output)
{
	if (output->run_written || !output->image || !output->saved.file)
		return;
	output->run_written = true;
	output_saved_failed(output, output_write_run(output));
}

static void output_started(void *context, const struct session_counts *counts,
			   const struct image *image)
{
	struct output *output = context;

	output->image = image;
	output->counts = *counts;
	if (output->config->verbose)
		log_note("watching process %d with back-end %s%s", counts->pid,
			 counts->backend,
			 counts->kernel_accesses ? ", the kernel's accesses too"
						 : "");
}

/* One of those that the exit status is about. */
static bool output_is_reported(const struct output *output,
			       const struct race *race)
{
	return judge_fails(output->config->judge, race);
}

/* It is reported, by a line as it comes. */
static bool output_is_folded(const struct output *output,
			     const struct race *race)
{
	return output->config->fold_unlikely && !output->config->show_all &&
	       race->verdict == VERDICT_UNLIKELY &&
	       output_is_reported(output, race);
}

/* Text has in full what is worth it; other formats have all. */
static bool output_is_full(const struct output *output, const struct race *race)
{
	return output->config->show_all || (output_is_reported(output, race) &&
					    !output_is_folded(output, race));
}

/* One that is not shown waits for its number, which it gets at the end. */
static void output_save_race(struct output *output, const struct race *race)
{
	if (!output->failed && race->id != 0 &&
	    (saved_takes_updates(&output->saved) ||
	     output_is_full(output, race)))
		output_saved_failed(output, saved_race(&output->saved, race));
}

/* The text on standard error and, where that is its format, in the file. */
static void output_write_text(struct output *output, const struct race *race,
			      render_race *write)
{
	status_erase(&output->status);
	if (!output->unread)
		output_text_failed(output, write(&output->text, race));
	if (!output->failed)
		output_failed(output, saved_text(&output->saved, write, race));
}

static uint64_t output_replays(const struct race *race)
{
	return race->replay.instances + race_replay_failures(&race->replay);
}

/*
 * A race that is new, or whose verdict became graver. What was printed in full
 * is not printed again.
 */
static void output_text_race(struct output *output, const struct race *race,
			     struct output_race *seen)
{
	if (seen->said && !seen->completed && !race_is_one_sided(race))
		output_write_text(output, race, render_text_completed);
	else if (seen->said && race->verdict < seen->verdict)
		output_write_text(output, race, render_text_graver);
	if (seen->full)
		return;
	if (output_is_full(output, race)) {
		output_write_text(output, race, render_text.race);
		seen->said = seen->full = true;
		seen->replays_told = output_replays(race);
	} else if (!seen->said && output_is_folded(output, race)) {
		output_write_text(output, race, render_text_short);
		seen->said = true;
	}
}

/* Its place; most are where their number says. NULL: it is not there. */
static struct output_race *output_find(const struct output *output,
				       const struct race *race)
{
	struct output_race *seen;

	if (race->id > 0 && race->id <= output->races.count) {
		seen = vec_at(&output->races, race->id - 1);
		if (seen->race == race)
			return seen;
	}
	for (size_t i = 0; i < output->races.count; i++) {
		seen = vec_at(&output->races, i);
		if (seen->race == race)
			return seen;
	}
	return NULL;
}

/* Once, and again when the verdict is graver. */
static void output_act(struct output *output, const struct race *race,
		       struct output_race *seen)
{
	if (!output_is_reported(output, race))
		return;
	if (!seen->acted || race->verdict < seen->acted_verdict) {
		seen->acted = true;
		seen->acted_verdict = race->verdict;
		onrace_race(output->config->onrace, race);
	}
	if (seen->generated)
		return;
	seen->generated = true;
	output_failed(output, judge_generate(output->config->judge, race));
}

/*
 * New to us, or to be told once more: its suppression was taken back, its
 * verdict is graver, or its other side was seen.
 */
static void output_race_seen(void *context, const struct race *race, bool first)
{
	struct output *output = context;
	struct output_race *seen = output_find(output, race);

	if (!first && (!seen || (race->verdict >= seen->verdict &&
				 seen->completed == !race_is_one_sided(race))))
		return;
	output_run(output);
	if (!seen)
		seen = vec_append(&output->races);
	if (!seen) {
		output_failed(output, error_nomem);
		return;
	}
	seen->race = race;
	output_text_race(output, race, seen);
	if (saved_takes_updates(&output->saved))
		output_save_race(output, race);
	output_act(output, race, seen);
	seen->count = race->id != 0 ? race->count : 0;
	seen->replays = output_replays(race);
	seen->verdict = race->verdict;
	seen->completed = !race_is_one_sided(race);
}

/* Files that are made from now on too: baselines, state files, cores. */
static void output_foreign(void *context)
{
	struct output *output = context;

	umask(0077);
	saved_make_private(&output->saved);
}

static void output_crash(void *context, const struct crash *crash)
{
	struct output *output = context;

	output_run(output);
	status_erase(&output->status);
	if (!output->unread)
		output_text_failed(
			output, output->text.ops->crash(&output->text, crash));
	if (!output->failed)
		output_saved_failed(output, saved_crash(&output->saved, crash));
}

static void output_progress(struct output *output,
			    const struct session_counts *counts, bool last)
{
	if (!output->failed)
		output_saved_failed(output, saved_progress(&output->saved,
							   &counts->sum, last));
}

static void output_status(void *context, const struct session_counts *counts)
{
	struct output *output = context;
	uint64_t period = counts->sum.elapsed_ns - output->status_ns;
	struct status_counts status = {
		.elapsed_ns = counts->sum.elapsed_ns,
		.sites_sampled = counts->sum.sites_sampled,
		.sites_seen = counts->sum.sites_eligible,
		.overhead_pct = counts->sum.overhead_pct,
		.budget_pct = counts->sum.budget_pct,
		.races = counts->sum.races,
	};

	output_run(output);
	onrace_poll(output->config->onrace);
	if (period > 0)
		status.stalls_per_s = (double)(counts->sum.stats.stalled -
					       output->stalled_before) *
				      (double)CLOCK_NS_PER_S / (double)period;
	output->stalled_before = counts->sum.stats.stalled;
	output->status_ns = counts->sum.elapsed_ns;
	status_show(&output->status, &status);
	output_progress(output, counts, false);
}

static void output_stopped(void *context, const int pids[2])
{
	struct output *output = context;

	status_erase(&output->status);
	onrace_stopped(output->config->onrace, pids);
}

static void output_note(void *context, const char *text)
{
	struct output *output = context;

	if (output->config->quiet)
		return;
	status_erase(&output->status);
	log_warn("%s", text);
}

static void output_count_replays(struct output *output)
{
	for (size_t i = 0; i < output->races.count; i++) {
		const struct output_race *seen = vec_at(&output->races, i);

		output->replays += seen->race->replay.instances;
		output->replays_failed +=
			race_replay_failures(&seen->race->replay);
	}
}

static struct error *output_finish_judge(const struct output *output)
{
	struct vec races = VEC_INIT(const struct race *);
	struct error *err = NULL;

	for (size_t i = 0; !err && i < output->races.count; i++) {
		const struct output_race *seen = vec_at(&output->races, i);

		if (!vec_push(&races, &seen->race))
			err = error_nomem;
	}
	if (!err)
		err = judge_finish(output->config->judge, &races);
	vec_deinit(&races);
	return err;
}

/* In short, at the end. */
static void output_minor_race(struct output *output, const struct race *race)
{
	if (!output->config->quiet)
		output_text_failed(output,
				   render_text_short(&output->text, race));
	if (!output->failed)
		output_saved_failed(output,
				    saved_race_short(&output->saved, race));
}

/* Something else than what was written of it. */
static bool output_is_news(const struct output_race *seen)
{
	return seen->race->count > seen->count ||
	       seen->race->verdict != seen->verdict ||
	       output_replays(seen->race) != seen->replays;
}

/* Races are printed when they are met: what replays came to follows at the end. */
static void output_replayed(struct output *output,
			    const struct output_race *seen)
{
	const struct race *race = seen->race;

	if (!seen->full || output_replays(race) == seen->replays_told)
		return;
	if (!output->config->quiet && !output->unread)
		output_text_failed(output,
				   render_text_replayed(&output->text, race));
	if (!output->failed)
		output_saved_failed(output,
				    saved_text(&output->saved,
					       render_text_replayed, race));
}

/* How often each race was seen that was printed at its first sighting. */
static struct error *output_counts(struct output *output)
{
	struct vec told = VEC_INIT(const struct race *);
	struct error *err = NULL;

	for (size_t i = 0; !err && i < output->races.count; i++) {
		const struct output_race *seen = vec_at(&output->races, i);

		if (seen->said && !vec_push(&told, &seen->race))
			err = error_nomem;
	}
	if (!err && told.count > 0 && !output->config->quiet && !output->unread)
		output_text_failed(output,
				   render_text_counts(&output->text, &told));
	if (!err && told.count > 0 && !output->failed)
		err = saved_counts(&output->saved, &told);
	vec_deinit(&told);
	return err;
}

/* Races seen again since they were written: the later line counts. */
static void output_ended(void *context, const struct session_counts *counts)
{
	struct output *output = context;

	output->counts = *counts;
	output_run(output);
	output_progress(output, counts, true);
	output->image = NULL;
	status_erase(&output->status);
	for (size_t i = 0; i < output->races.count; i++) {
		const struct output_race *seen = vec_at(&output->races, i);
		bool minor = (seen->race->verdict == VERDICT_UNLIKELY ||
			      seen->race->status == STATUS_KNOWN ||
			      (seen->race->verdict == VERDICT_SYNC &&
			       output->config->verbose)) &&
			     !seen->race->suppressed.rule;

		if (output_is_news(seen) && saved_takes_updates(&output->saved))
			output_save_race(output, seen->race);
		if (minor && !seen->said)
			output_minor_race(output, seen->race);
		output_replayed(output, seen);
	}
	output_count_replays(output);
	output_failed(output, output_counts(output));
	output_failed(output, output_finish_judge(output));
	vec_clear(&output->races);
}

struct session_sink output_sink(struct output *output)
{
	return (struct session_sink){
		.context = output,
		.started = output_started,
		.race = output_race_seen,
		.foreign = output_foreign,
		.crash = output_crash,
		.stopped = output_stopped,
		.status = output_status,
		.note = output_note,
		.ended = output_ended,
	};
}

/* A line shown may not be the one that was compiled. */
static void output_remark_newer(const struct vec *newer)
{
	const char *path;

	if (newer->count == 0)
		return;
	path = *(char **)vec_at(newer, 0);
	if (newer->count == 1)
		log_warn("%s is newer than the program: its lines may not be "
			 "those that were compiled",
			 path);
	else
		log_warn("%s and %zu more sources are newer than the program: "
			 "their lines may not be those that were compiled",
			 path, newer->count - 1);
}

static void output_remark_at(const struct run_at *at)
{
	if (at->sites == 0)
		log_warn("nothing matched --at %s: %s", at->where,
			 at->problem ? at->problem : "it was not looked for");
	else if (at->samples == 0)
		log_warn("--at %s: no sample was taken there, at %llu "
			 "instruction%s",
			 at->where, (unsigned long long)at->sites,
			 at->sites == 1 ? "" : "s");
	else
		log_note("--at %s: %llu sample%s, at %llu instruction%s",
			 at->where, (unsigned long long)at->samples,
			 at->samples == 1 ? "" : "s",
			 (unsigned long long)at->sites,
			 at->sites == 1 ? "" : "s");
}

static void output_remarks(const struct output *output)
{
	const struct run_summary *sum = &output->counts.sum;

	if (sum->stats.out_of_registers > sum->stats.samples / 10 + 10)
		log_note("%llu accesses found no debug register free and were "
			 "watched by value",
			 (unsigned long long)sum->stats.out_of_registers);
	if (output->config->sources)
		output_remark_newer(&output->config->sources->newer);
	for (size_t i = 0; i < sum->at_count; i++)
		output_remark_at(&sum->at[i]);
	if (sum->synchronization && !output->config->show_all)
		log_note("%llu conflicts of synchronizing accesses were not "
			 "reported (--show all reports them)",
			 (unsigned long long)sum->synchronization);
}

/*
 * Was nothing found where something could have been, and nothing of the
 * program's own looked at?
 */
static bool output_proves_nothing(const struct run_summary *sum)
{
	return sum->races == 0 && sum->suppressed == 0 && sum->unlikely == 0 &&
	       sum->sampling.own == 0 &&
	       (sum->stats.threads_most > 1 || sum->stats.unwatched > 0);
}

/* Of processes that had one thread the summary has only the number. */
static void output_set_programs(struct run_summary *summary)
{
	uint64_t processes = summary->stats.processes, told = 0;

	if (processes < 2)
		summary->program_count = 0;
	for (size_t i = 0; i < summary->program_count; i++)
		told += summary->programs[i].processes;
	if (processes >= 2 && processes > told)
		summary->processes_single = processes - told;
}

bool output_finish(struct output *output, const struct output_end *end)
{
	const struct session_counts *counts = &output->counts;
	struct run_summary summary = counts->sum;

	summary.sampling.proves_nothing = output_proves_nothing(&counts->sum);
	summary.backend = counts->backend[0] ? counts->backend : "none";
	summary.replays = output->replays;
	summary.replays_failed = output->replays_failed;
	summary.unsampled = end->unsampled;
	summary.exit_status = end->exit_status;
	summary.patterns = end->patterns.items;
	summary.pattern_count = end->patterns.count;
	output_set_programs(&summary);

	if (!output->config->quiet) {
		output_remarks(output);
		judge_remarks(output->config->judge);
		output_text_failed(output, output->text.ops->summary(
						   &output->text, &summary));
	}
	/* also after a failure: a document is a document */
	output_saved_failed(output, saved_summary(&output->saved, &summary));
	return !output->failed;
}

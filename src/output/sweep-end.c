/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of a sweep; see sweep-end.h.
 */
#include "output/sweep-end.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/exitstatus.h"
#include "base/log.h"
#include "base/outputfile.h"
#include "base/replace.h"
#include "base/strbuf.h"
#include "judge/judge.h"
#include "judge/rank.h"
#include "output/report-print.h"
#include "output/terminal.h"
#include "report/merge.h"
#include "report/race.h"
#include "report/read.h"
#include "report/record.h"
#include "sweep/job.h"
#include "sweep/results.h"
#include "sweep/summary.h"
#include "sweep/sweep.h"

struct ending {
	const struct sweep_end_config *config;
	struct merge *merge;
	struct vec races; /* of struct race *: all, judged */
	struct summary summary;
	bool any_actionable;
};

/* Of the run's own record, or where this sweep would have put it. */
static char *report_path(const struct ending *ending,
			 const struct results_run *run)
{
	struct strbuf path = { 0 };

	if (run->directory)
		strbuf_add(&path, run->directory);
	strbuf_add(&path, "/report.jsonl");
	if (!run->directory || access(strbuf_text(&path), F_OK) < 0) {
		strbuf_clear(&path);
		job_add_folder(&path, ending->config->directory, run->number);
		strbuf_add(&path, "/report.jsonl");
	}
	return strbuf_steal(&path);
}

/* What is wrong with one report does not keep the others from being merged. */
static struct error *add_report(struct ending *ending,
				const struct results_run *run)
{
	char *path = report_path(ending, run);
	struct reader *reader;
	struct error *err = path ? reader_open(path, &reader) : error_nomem;

	if (!err) {
		err = merge_add_all(ending->merge, reader);
		reader_close(reader);
	}
	if (err && (err->kind == ERROR_FORMAT || err->code == ENOENT)) {
		if (err->code != ENOENT || run->samples > 0)
			log_warn("run %llu: %s: not in the merged report",
				 (unsigned long long)run->number,
				 error_message(err));
		error_free(err);
		err = NULL;
	}
	free(path);
	return err;
}

static struct error *merge_runs_of(struct ending *ending)
{
	const struct vec *runs = &ending->config->results->runs;
	struct error *err = merge_create(MERGE_MEMORY, &ending->merge);

	if (!err)
		merge_judge(ending->merge, rank_merged);
	for (size_t i = 0; !err && i < runs->count; i++) {
		const struct results_run *run = vec_at(runs, i);

		if (run->finished)
			err = add_report(ending, run);
	}
	return err;
}

/* Keep the race, which is taken from the record. */
static struct error *keep_race(void *context, struct report_record *record)
{
	struct ending *ending = context;
	struct summary_id id = { .id = record->race.id };
	struct race *race;
	bool settled;
	struct error *err;

	if (record->type != REPORT_RACE)
		return NULL;
	race = malloc(sizeof(*race));
	if (!race)
		return error_nomem;
	*race = record->race;
	race_init(&record->race);
	if (!vec_push(&ending->races, &race)) {
		race_free(race);
		return error_nomem;
	}
	err = judge_race(ending->config->judge, race, &settled);
	if (err)
		return err;
	memcpy(id.fingerprint, race->fingerprint, sizeof(id.fingerprint));
	if (!vec_push(&ending->summary.ids, &id))
		return error_nomem;
	if (!judge_fails(ending->config->judge, race))
		return NULL;
	ending->any_actionable = true;
	return judge_generate(ending->config->judge, race);
}

static struct error *judge_races(struct ending *ending)
{
	struct error *err = merge_each(ending->merge, keep_race, ending);

	return err ? err : judge_finish(ending->config->judge, &ending->races);
}

/* The races in one format to one file. */
static struct error *print_to(const struct ending *ending, FILE *out,
			      const struct renderer_ops *format)
{
	struct filters none;
	struct report_print print = {
		.renderer = {
			.ops = format,
			.out = out,
			.style = ending->config->style,
			.ignore_unlikely = judge_ignores_unlikely(
				ending->config->judge),
		},
		.filters = &none,
		.judge = ending->config->judge,
		.show_all = ending->config->show_all,
		.quiet = ending->config->quiet,
	};
	struct error *err;

	if (out != stderr)
		render_style_for_file(&print.renderer.style);
	filters_init(&none);
	err = report_print(&print, ending->merge);
	filters_deinit(&none);
	return err;
}

static struct error *fill_report(const void *context, FILE *out)
{
	return print_to(context, out, &render_json);
}

static struct error *fill_summary(const void *context, FILE *out)
{
	const struct ending *ending = context;

	return summary_write_json(&ending->summary, out);
}

/* Whole or not at all: a full disk leaves the file as it was. */
static struct error *write_file(const struct ending *ending, const char *name,
				replace_write *fill)
{
	struct strbuf path = { 0 };
	struct error *err = error_nomem;

	strbuf_addf(&path, "%s/%s", ending->config->directory, name);
	if (!path.failed)
		err = replace_file(strbuf_text(&path), fill, ending);
	strbuf_deinit(&path);
	return err;
}

/* Text on standard error is what it would be: it is not printed twice. */
static struct error *write_output(const struct ending *ending)
{
	const struct sweep_end_config *config = ending->config;
	const struct renderer_ops *format = config->format ? config->format
							   : &render_json;
	bool to_stdout = !config->output || strcmp(config->output, "-") == 0;
	struct error *err = NULL;
	FILE *out = stdout;

	if (!config->output && (!config->format || format == &render_text))
		return NULL;
	if (!to_stdout)
		err = outputfile_open(config->output, OUTPUTFILE_NEW, &out);
	if (err)
		return err;
	err = print_to(ending, out, format);
	if (terminal_unread(err, out)) {
		error_free(err);
		err = NULL;
	}
	errno = 0;
	if (out != stdout && fclose(out) != 0 && !err)
		err = error_os(errno ? errno : EIO, "%s", config->output);
	return err;
}

/* That of the failing run with the lowest number. */
static int first_failure(const struct results *results)
{
	const struct results_run *first = NULL;

	for (size_t i = 0; i < results->runs.count; i++) {
		const struct results_run *run = vec_at(&results->runs, i);

		if (run->finished && run->outcome.kind == OUTCOME_FAILED &&
		    (!first || run->number < first->number))
			first = run;
	}
	return first ? first->outcome.status : 0;
}

static int not_started(const struct results *results)
{
	for (size_t i = results->runs.count; i > 0; i--) {
		const struct results_run *run = vec_at(&results->runs, i - 1);

		if (run->finished && run->outcome.kind == OUTCOME_NOT_STARTED)
			return run->outcome.status;
	}
	return EXIT_FAILED;
}

static int exit_status(const struct ending *ending)
{
	const struct sweep_end_config *config = ending->config;
	const struct results *results = config->results;

	if (config->result->end == SWEEP_FAILED)
		return EXIT_FAILED;
	if (ending->any_actionable && config->error_exitcode)
		return (int)config->error_exitcode;
	if (config->result->end == SWEEP_INTERRUPTED)
		return 128 + config->result->interrupted;
	if (results->kinds[OUTCOME_TIMED_OUT])
		return EXIT_TIMED_OUT;
	if (results->kinds[OUTCOME_BROKEN])
		return EXIT_FAILED;
	if (results->kinds[OUTCOME_NOT_STARTED])
		return not_started(results);
	if (results->samples < config->min_samples)
		return EXIT_NO_PROOF;
	return first_failure(results);
}

static struct error *print_all(const struct ending *ending)
{
	const struct sweep_end_config *config = ending->config;
	struct strbuf text = { 0 };
	struct error *err = print_to(ending, stderr, &render_text);

	/* nobody reads it: that is no failure */
	if (terminal_unread(err, stderr)) {
		error_free(err);
		err = NULL;
	}
	if (!err && !config->quiet) {
		judge_remarks(config->judge);
		summary_add_text(&text, &ending->summary);
		fputs(strbuf_text(&text), stderr);
	}
	strbuf_deinit(&text);
	return err;
}

static struct error *end_all(struct ending *ending, int *ret_status)
{
	struct error *err = merge_runs_of(ending);

	if (!err)
		err = judge_races(ending);
	if (!err)
		err = summary_fill(&ending->summary);
	if (err)
		return err;
	*ret_status = ending->summary.exit_status = exit_status(ending);
	err = write_file(ending, "report.jsonl", fill_report);
	if (!err)
		err = write_file(ending, "sweep.json", fill_summary);
	if (!err)
		err = write_output(ending);
	/* what can be told is told all the same */
	if (err)
		error_free(print_all(ending));
	return err ? err : print_all(ending);
}

struct error *sweep_conclude(const struct sweep_end_config *config,
			     int *ret_status)
{
	struct ending ending = {
		.config = config,
		.races = VEC_INIT(struct race *),
		.summary = {
			.results = config->results,
			.result = config->result,
			.ids = VEC_INIT(struct summary_id),
			.directory = config->directory,
			.command = config->command,
			.all = config->verbose,
		},
	};
	struct error *err = end_all(&ending, ret_status);

	for (size_t i = 0; i < ending.races.count; i++)
		race_free(*(struct race **)vec_at(&ending.races, i));
	vec_deinit(&ending.races);
	vec_deinit(&ending.summary.ids);
	summary_deinit(&ending.summary);
	merge_destroy(ending.merge);
	return err;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * racewatch report: saved reports in any format, filtered, merged, compared
 * (racewatch-report(1)).
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/outputfile.h"
#include "base/replace.h"
#include "conflict/naming.h"
#include "foreign/foreign.h"
#include "hunt/trace-print.h"
#include "judge/judge.h"
#include "judge/rank.h"
#include "output/pager.h"
#include "output/report-print.h"
#include "output/terminal.h"
#include "report/merge.h"
#include "report/read.h"

/* how filters may begin */
static const char *const filter_words[] = {
	"verdict=", "status=",	    "kind=",	 "evidence=", "region=",
	"module=",  "function=",    "variable=", "file=",     "thread=",
	"host=",    "fingerprint=", NULL
};

/* whose reports are read; from `auto' on as enum foreign_tool */
static const char *const from_words[] = { "racewatch", "auto", "tsan",
					  "helgrind",  "drd",  "xml",
					  NULL };

struct report_options {
	struct standard standard;
	struct showing showing;
	struct judge_config judging;
	bool diff, unseen, show_ordered, verbose, no_pager;
	const char *format, *output, *symbolize, *trace, *from;
	struct vec filters;
};

#define AT(member) offsetof(struct report_options, member)

static const struct option_def report_defs[] = {
	{ .name = "--format",
	  .arg = "FORMAT",
	  .help = "print text, line, json, sarif, junit or html (default "
		  "text)",
	  .type = OPTION_NAME,
	  .offset = AT(format),
	  .choices = render_names },
	{ .name = "--output",
	  .letter = 'o',
	  .arg = "FILE",
	  .help = "write to this file instead of standard output",
	  .type = OPTION_STRING,
	  .offset = AT(output) },
	{ .name = "--from",
	  .arg = "TOOL",
	  .help = "whose reports are read: racewatch, tsan, helgrind, drd, xml, "
		  "or auto: one of these tools (default racewatch)",
	  .type = OPTION_NAME,
	  .offset = AT(from),
	  .choices = from_words },
	{ .name = "--filter",
	  .arg = "KEY=GLOB",
	  .help = "print only races that match; !KEY=GLOB: only those that do "
		  "not",
	  .type = OPTION_LIST,
	  .offset = AT(filters),
	  .choices = filter_words },
	{ .name = "--symbolize",
	  .arg = "DIR",
	  .help = "look up missing names in the files of this directory",
	  .type = OPTION_STRING,
	  .offset = AT(symbolize) },
	{ .name = "--diff",
	  .help = "compare two reports, the older first; exit with 66 if a "
		  "race is new",
	  .type = OPTION_FLAG,
	  .offset = AT(diff) },
	{ .name = "--trace",
	  .arg = "PATH",
	  .help = "print what was recorded in this file, or in this folder by "
		  "several processes",
	  .type = OPTION_STRING,
	  .offset = AT(trace) },
	{ .name = "--show-ordered",
	  .help = "print the stacks of what hand-overs put in order in a hunt",
	  .type = OPTION_FLAG,
	  .offset = AT(show_ordered) },
	{ .name = "--verbose",
	  .letter = 'v',
	  .help = "in text, print the fingerprints of races too",
	  .type = OPTION_FLAG,
	  .offset = AT(verbose) },
	{ .name = "--no-pager",
	  .help = "do not show text on a terminal by PAGER or less",
	  .type = OPTION_FLAG,
	  .offset = AT(no_pager) },
	{ .name = "--unseen",
	  .help = "estimate how many races these runs did not show",
	  .type = OPTION_FLAG,
	  .offset = AT(unseen) },
};

static const struct option_group report_group = OPTION_GROUP(report_defs);

static const struct option_table report_table = {
	.command = "report",
	.synopsis = "[options] FILE...",
	.summary = "Print saved reports in another format, filtered, merged or "
		   "compared.",
	.parts =
		(const struct option_part[]){
			{ &report_group, 0 },
			{ &judging_group, AT(judging) },
			{ &showing_group, AT(showing) },
			{ &standard_group, AT(standard) },
			{ NULL, 0 },
		},
};

/* The files to be read. */
struct report_input {
	struct naming *naming;
	char **paths;
	int count;
	bool foreign; /* reports of this tool */
	enum foreign_tool tool;
	bool diff;
	bool malformed; /* records were left out */
};

/* Add a file's records; what it lacks is said. */
static struct error *report_read(struct merge *merge,
				 struct report_input *input, const char *path)
{
	uint64_t runs = merge_runs(merge);
	struct reader *reader;
	struct error *err = reader_open(path, &reader);

	if (err)
		return err;
	reader_skip_malformed(reader);
	err = naming_add_all(input->naming, merge, reader);
	input->malformed |= reader_malformed(reader) > 0;
	if (!err && merge_runs(merge) == runs)
		log_warn("%s: there is no record of a run or race in it",
			 reader_name(reader));
	reader_close(reader);
	return err;
}

/* False: they are racewatch's. */
static bool is_foreign(const char *from, enum foreign_tool *ret)
{
	int word = 0;

	while (strcmp(from_words[word], from) != 0)
		word++;
	if (word > 0)
		*ret = (enum foreign_tool)(word - 1);
	return word > 0;
}

/* The same of another tool's file: its races become the merge's. */
static struct error *report_read_foreign(struct merge *merge,
					 struct report_input *input,
					 const char *path)
{
	struct report_record record;
	struct foreign_report report;
	struct error *err = foreign_read(input->tool, path, &report);

	if (err)
		return err;
	input->malformed |= report.malformed > 0;
	if (report.races.count == 0)
		log_warn("%s: there is no report of a race in it",
			 foreign_name(path));
	if (report.others > 0)
		log_note("%s: %llu reports of other kinds are left out",
			 foreign_name(path), (unsigned long long)report.others);
	report_record_init(&record);
	for (size_t i = 0; !err && i < report.races.count; i++) {
		struct race *race = *(struct race **)vec_at(&report.races, i);

		record.type = REPORT_RACE;
		record.race = *race;
		race_init(race);
		err = merge_add(merge, &record);
	}
	report_record_deinit(&record);
	foreign_report_deinit(&report);
	if (!err)
		merge_end_file(merge);
	return err;
}

static struct error *report_merge(struct report_input *input, char **paths,
				  int count, bool quiet, struct merge **ret)
{
	struct merge *merge;
	struct error *err = merge_create(MERGE_MEMORY, &merge);

	if (err)
		return err;
	merge_judge(merge, rank_merged);
	for (int i = 0; !err && i < count; i++)
		err = input->foreign
			      ? report_read_foreign(merge, input, paths[i])
			      : report_read(merge, input, paths[i]);
	if (!err)
		err = merge_rewind(merge);
	if (err) {
		merge_destroy(merge);
		return err;
	}
	if (merge_cut_runs(merge) && !input->foreign && !quiet)
		log_note("%llu of %llu runs were not ended in order: what they "
			 "sampled is not in the summary",
			 (unsigned long long)merge_cut_runs(merge),
			 (unsigned long long)merge_runs(merge));
	*ret = merge;
	return NULL;
}

/* Empty a file that is written anew: now that all could be read. */
static struct error *report_begin(FILE *out)
{
	struct stat status;

	if (out == stdout || fstat(fileno(out), &status) < 0 ||
	    !S_ISREG(status.st_mode) || ftruncate(fileno(out), 0) == 0)
		return NULL;
	return error_os(errno, "empty the output file");
}

static struct error *print_merged(struct report_print *print,
				  struct report_input *input, int *ret_status)
{
	const struct naming *naming = input->naming;
	struct merge *old = NULL, *merge = NULL;
	struct error *err = NULL;
	bool any_new = false;
	int first = input->diff ? 1 : 0;

	if (input->diff)
		err = report_merge(input, input->paths, 1, true, &old);
	if (!err)
		err = report_merge(input, input->paths + first,
				   input->count - first, print->quiet, &merge);
	if (!err && naming->symbolizer && !naming->changed && !print->quiet)
		log_note("--symbolize: no name was found that was missing");
	if (!err)
		err = report_begin(print->renderer.out);
	if (!err && input->diff)
		err = report_print_diff(print, old, merge, &any_new);
	else if (!err)
		err = report_print(print, merge);
	merge_destroy(old);
	merge_destroy(merge);
	if (!err)
		*ret_status = any_new		 ? EXIT_RACES
			      : input->malformed ? EXIT_FAILED
						 : 0;
	return err;
}

/* Closing tells of what could not be written at the last. */
static struct error *report_close(FILE *out, struct error *err)
{
	bool failed;

	errno = 0;
	failed = out == stdout ? fflush(out) != 0 : fclose(out) != 0;
	if (failed && !err)
		err = error_os(errno ? errno : EIO, "write the report");
	return err;
}

static bool report_is_judged(const struct report_options *options)
{
	return options->judging.suppressions.count ||
	       options->judging.baselines.count;
}

/* What a report is made of. */
struct report_task {
	const struct pager *pager; /* that shows it; NULL: none */
	const struct report_options *options;
	const struct filters *filters;
	struct naming *naming;
	struct judge *judge;
	char **paths;
	int count;
	int *ret_status;
};

/* A pager stands for the terminal that it has. */
static struct render_style report_style(const struct report_task *task,
					FILE *out)
{
	const struct showing *showing = &task->options->showing;
	struct render_style style =
		showing_style(showing, task->options->verbose,
			      task->pager ? STDOUT_FILENO : fileno(out));

	if (task->pager && !task->pager->color)
		style.color = showing->color == COLOR_ALWAYS;
	return style;
}

static struct error *report_write(const void *context, FILE *out)
{
	const struct report_task *task = context;
	const struct report_options *options = task->options;
	struct report_print print = {
		.renderer = {
			.ops = render_find(options->format),
			.out = out,
			.style = report_style(task, out),
			.ignore_unlikely = options->judging.ignore_unlikely,
			.show_ordered = options->show_ordered,
		},
		.filters = task->filters,
		.judge = report_is_judged(options) ? task->judge : NULL,
		.show_all = options->showing.show == SHOW_ALL,
		.quiet = options->showing.quiet,
		.unseen = options->unseen,
	};
	struct report_input input = { .naming = task->naming,
				      .paths = task->paths,
				      .count = task->count,
				      .diff = options->diff };
	struct error *err;

	input.foreign = is_foreign(options->from, &input.tool);
	err = print_merged(&print, &input, task->ret_status);

	if (!err && options->judging.baselines.count && print.any_actionable)
		*task->ret_status = EXIT_RACES;
	if (!err && print.judge && !options->showing.quiet)
		judge_remarks(task->judge);
	return err;
}

/* Is the output one of the files that are read? */
static bool report_reads_output(const struct report_task *task)
{
	struct stat out, in;

	if (stat(task->options->output, &out) < 0 || !S_ISREG(out.st_mode))
		return false;
	for (int i = 0; i < task->count; i++) {
		if (stat(task->paths[i], &in) == 0 && in.st_dev == out.st_dev &&
		    in.st_ino == out.st_ino)
			return true;
	}
	return false;
}

/* To the terminal; that the pager was left is no error. */
static struct error *report_show(const struct report_task *task)
{
	struct report_task paged = *task;
	struct error *err;
	struct pager pager;

	if (task->options->no_pager ||
	    render_find(task->options->format) != &render_text ||
	    !pager_start(&pager))
		return report_close(stdout, report_write(task, stdout));
	paged.pager = &pager;
	err = report_write(&paged, pager.to);
	if (err && err->code == EPIPE) {
		error_free(err);
		err = NULL;
	}
	if (pager_end(&pager) || err)
		return err;
	return report_close(stdout, report_write(task, stdout));
}

/* What is read is lost to nobody: such a file is replaced by a whole one. */
static struct error *report_to(const struct report_task *task)
{
	const char *path = task->options->output;
	struct error *err;
	FILE *out;

	if (!path)
		return report_show(task);
	if (report_reads_output(task))
		return replace_file(path, report_write, task);
	err = outputfile_open(path, OUTPUTFILE_APPEND, &out);
	if (err)
		return err;
	return report_close(out, report_write(task, out));
}

/* With what options like those of the watching commands say of races. */
static struct error *report_judged(const struct report_options *options,
				   const struct filters *filters,
				   struct naming *naming, char **paths,
				   int count, int *ret_status)
{
	struct judge_config config = options->judging;
	struct judge judge;
	struct error *err;

	/* what is installed with racewatch has been applied by the runs */
	config.no_default_suppressions = true;
	err = judge_init(&judge, &config);
	if (!err)
		err = report_to(&(struct report_task){
			.options = options,
			.filters = filters,
			.naming = naming,
			.judge = &judge,
			.paths = paths,
			.count = count,
			.ret_status = ret_status,
		});
	judge_deinit(&judge);
	return err;
}

static struct error *report_parsed(const struct report_options *options,
				   char **paths, int count, int *ret_status)
{
	struct filters filters;
	struct naming naming;
	enum foreign_tool tool;
	struct error *err;

	if (count == 0)
		return error_create(ERROR_USAGE, "no report is given");
	if (options->diff && count != 2)
		return error_create(ERROR_USAGE, "--diff needs two reports");
	if (options->diff && options->judging.baselines.count)
		return error_create(ERROR_USAGE,
				    "--diff and --baseline cannot be used "
				    "together");
	if (is_foreign(options->from, &tool) &&
	    (options->symbolize || options->unseen))
		return error_create(
			ERROR_USAGE, "--from %s and %s cannot be used together",
			options->from,
			options->symbolize ? "--symbolize" : "--unseen");
	if (options->unseen &&
	    (options->diff || render_find(options->format) != &render_text))
		return error_create(ERROR_USAGE,
				    "--unseen cannot be used with --diff or "
				    "with a --format other than text");
	/*
	 * for a FIFO a reader that goes away is an error of writing; with
	 * `racewatch report FILE | head' it is the end, as of any filter
	 */
	if (options->output)
		signal(SIGPIPE, SIG_IGN);
	filters_init(&filters);
	err = naming_init(&naming, options->symbolize);
	for (size_t i = 0; !err && i < options->filters.count; i++)
		err = filters_add(&filters,
				  *(const char **)vec_at(&options->filters, i));
	if (!err)
		err = report_judged(options, &filters, &naming, paths, count,
				    ret_status);
	naming_deinit(&naming);
	filters_deinit(&filters);
	return err;
}

/* A recording: no report is read. */
static struct error *report_trace(const struct report_options *options,
				  int count)
{
	const struct renderer_ops *format = render_find(options->format);
	enum foreign_tool tool;
	struct error *err = NULL;
	FILE *out = stdout;

	if (count > 0 || options->diff || options->unseen ||
	    options->filters.count || options->symbolize ||
	    is_foreign(options->from, &tool) || report_is_judged(options) ||
	    (format != &render_text && format != &render_json))
		return error_create(ERROR_USAGE,
				    "--trace can be used with --output and "
				    "--format text or json only");
	if (options->output)
		err = outputfile_open(options->output, OUTPUTFILE_NEW, &out);
	if (err)
		return err;
	return report_close(out, format == &render_json
					 ? trace_print_json(options->trace, out)
					 : trace_print(options->trace, out));
}

static struct error *report_main(int argc, char **argv, int *ret_status)
{
	struct report_options options = { .format = NULL };
	struct error *err;
	int first;

	err = options_parse(&report_table, argc, argv, &options, NULL, &first);
	if (!err) {
		*ret_status = 0;
		if (command_answer(&command_report, &options.standard))
			err = NULL;
		else if (options.trace)
			err = report_trace(&options, argc - first);
		else
			err = report_parsed(&options, argv + first,
					    argc - first, ret_status);
	}
	options_release(&report_table, &options);
	return err;
}

const struct command command_report = {
	.name = "report",
	.summary = "print, filter, merge and compare saved reports",
	.options = &report_table,
	.run = report_main,
};

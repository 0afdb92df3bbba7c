/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * racewatch provoke: bring a reported race about, in each order
 * (racewatch-provoke(1)).
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/outputfile.h"
#include "base/strbuf.h"
#include "doctor/checks.h"
#include "doctor/pid.h"
#include "doctor/program.h"
#include "doctor/refusal.h"
#include "hunt/variants.h"
#include "hunt/worker.h"
#include "provoke/attempts.h"
#include "provoke/provoker.h"
#include "provoke/scenario.h"
#include "report/field.h"
#include "report/phrase.h"
#include "report/provocation.h"
#include "sys/pidref.h"

struct provoke_options {
	struct standard standard;
	int order; /* enum attempts_order */
	uint64_t times, timeout_ns;
	const char *pid, *output, *until_exit_of;
};

#define AT(member) offsetof(struct provoke_options, member)

static const char *const order_words[] = { "ab", "ba", "both", NULL };

enum { TIMES_DEFAULT = 20, TIMES_MAX = 1000000 };

static const struct option_def provoke_defs[] = {
	{ .name = "--order",
	  .arg = "ORDER",
	  .help = "ab: the access of side a first; ba: that of side b; or both "
		  "(default both)",
	  .type = OPTION_CHOICE,
	  .offset = AT(order),
	  .preset = ATTEMPTS_BOTH,
	  .choices = order_words },
	{ .name = "--times",
	  .arg = "NUMBER",
	  .help = "number of runs of the command in each order (default "
		  "20; with --pid 1)",
	  .type = OPTION_UINT64,
	  .offset = AT(times),
	  .preset = OPTION_NONE,
	  .min = 1,
	  .max = TIMES_MAX },
	{ .name = "--timeout",
	  .arg = "TIME",
	  .help = "end each run of the command after this time; with --pid, "
		  "leave the process then (default 1m; 0: never)",
	  .type = OPTION_DURATION,
	  .offset = AT(timeout_ns),
	  .preset = 60 * CLOCK_NS_PER_S },
	{ .name = "--pid",
	  .arg = "PID",
	  .help = "provoke the race in this running process instead; it may "
		  "die of it",
	  .type = OPTION_STRING,
	  .offset = AT(pid) },
	{ .name = "--until-exit-of",
	  .arg = "CLIENT",
	  .help = "start this shell command in each run, and end the run when "
		  "it has ended: of servers",
	  .type = OPTION_STRING,
	  .offset = AT(until_exit_of) },
	{ .name = "--output",
	  .letter = 'o',
	  .arg = "FILE",
	  .help = "also write the results to this file, as JSON lines (-: "
		  "standard output)",
	  .type = OPTION_STRING,
	  .offset = AT(output) },
};

static const struct option_group provoke_group = OPTION_GROUP(provoke_defs);

static const struct option_table provoke_table = {
	.command = "provoke",
	.synopsis = "[options] REPORT#ID -- COMMAND [ARGUMENT...]",
	.summary = "Bring a reported race about, in each order of its two "
		   "accesses.",
	.parts =
		(const struct option_part[]){
			{ &provoke_group, 0 },
			{ &standard_group, AT(standard) },
			{ NULL, 0 },
		},
};

static void provoke_print_side(const struct race *race, int i)
{
	const struct race_side *side = &race->sides[i];
	struct strbuf line = { 0 };

	strbuf_addf(&line, "  %c  ", 'a' + i);
	phrase_add_innermost(&line, side);
	if (side->insn)
		strbuf_addf(&line, "  %s", side->insn);
	fprintf(stderr, "%s\n", strbuf_text(&line));
	strbuf_deinit(&line);
}

static void provoke_print_race(const struct scenario *scenario)
{
	const struct race *race = &scenario->race;
	struct strbuf line = { 0 };

	phrase_add_accesses(&line, race);
	strbuf_add(&line, " of ");
	phrase_add_variable(&line, race);
	fprintf(stderr, "race #%llu of %s: %s\n",
		(unsigned long long)scenario->id, scenario->path,
		strbuf_text(&line));
	strbuf_deinit(&line);
	for (int i = 0; i < 2; i++)
		provoke_print_side(race, i);
}

/* What may be the reason that they did not meet. */
static void provoke_remark(const struct provocation *result)
{
	if (result->met == result->times)
		return;
	if (result->reached_a == 0)
		log_note("no thread came to the instruction of side a");
	if (result->reached_b == 0)
		log_note("no thread came to the instruction of side b");
}

static struct error *provoke_write(const struct provocation *result, FILE *out)
{
	struct strbuf line = { 0 };

	provocation_say(&line, result);
	fprintf(stderr, "%s\n", strbuf_text(&line));
	strbuf_deinit(&line);
	provoke_remark(result);
	return out ? fields_write(&provocation_fields, result, out) : NULL;
}

/* Each order that is asked for; *ret_status as racewatch-provoke(1) has it. */
static struct error *provoke_orders(const struct provoke_options *options,
				    struct provoker *provoker, FILE *out,
				    int *ret_status)
{
	struct error *err = NULL;

	*ret_status = 0;
	for (int i = 0; !err && !provoker->interrupted && i < WIRE_ORDERS;
	     i++) {
		struct provocation result;

		if (!attempts_want((enum attempts_order)options->order,
				   (enum wire_order)i))
			continue;
		provocation_init(&result);
		err = provoker_run(provoker, (enum wire_order)i, &result);
		if (!err)
			err = provoke_write(&result, out);
		if (result.met == 0)
			*ret_status = EXIT_NO_PROOF;
		provocation_deinit(&result);
	}
	if (provoker->interrupted)
		*ret_status = 128 + provoker->interrupted;
	return err;
}

static struct error *provoke_output(const struct provoke_options *options,
				    struct provoker *provoker, int *ret_status)
{
	const char *path = options->output;
	struct error *err = NULL;
	FILE *out = NULL;

	if (path && strcmp(path, "-") == 0)
		out = stdout;
	else if (path)
		err = outputfile_open(path, OUTPUTFILE_NEW, &out);
	if (err)
		return err;
	provoke_print_race(provoker->scenario);
	err = provoke_orders(options, provoker, out, ret_status);
	if (out && out != stdout && fclose(out) != 0 && !err)
		err = error_os(errno, "%s", path);
	return err;
}

/* Command or process: one of the two. */
static struct error *provoke_program(const struct provoke_options *options,
				     struct provoker *provoker, char **argv,
				     int *ret_status)
{
	struct program program;
	struct error *err;

	if (!argv[0])
		return error_create(ERROR_USAGE,
				    "no command is given: REPORT#ID -- COMMAND "
				    "[ARGUMENT...]");
	err = program_inspect(argv[0], &program);
	if (err)
		return err;
	err = scenario_check_builds(provoker->scenario, program.path);
	program_deinit(&program);
	provoker->argv = argv;
	/* servers of a hunt make their addresses of it */
	if (provoker->until_exit_of)
		worker_number(1);
	/* the instructions are those of a hunt's runs */
	if (!err && provoker->scenario->race.evidence == EVIDENCE_PROVOKED)
		err = variants_choose();
	return err ? err : provoke_output(options, provoker, ret_status);
}

static struct error *provoke_process(const struct provoke_options *options,
				     struct provoker *provoker, char **argv,
				     int *ret_status)
{
	struct pidref process;
	struct error *err;
	int pid;

	if (argv[0])
		return error_create(ERROR_USAGE,
				    "--pid and a command cannot be combined");
	if (provoker->times != 1)
		return error_create(ERROR_USAGE,
				    "--pid takes no other --times than 1");
	if (provoker->until_exit_of)
		return error_create(ERROR_USAGE,
				    "--until-exit-of is of a command, and "
				    "--pid of a process that runs already");
	err = pid_parse(options->pid, &pid);
	if (!err) {
		pid = pid_resolve(pid);
		err = refusal_explain(pidref_open(pid, &process), pid);
	}
	if (err)
		return err;
	err = checks_refuse_process(pid);
	if (!err) {
		log_warn("the race is brought about in process %d, which may "
			 "die of it",
			 pid);
		provoker->process = &process;
		err = provoke_output(options, provoker, ret_status);
		provoker->process = NULL;
	}
	pidref_close(&process);
	return err;
}

static struct error *provoke_parsed(const struct provoke_options *options,
				    char **argv, int *ret_status)
{
	struct scenario scenario;
	struct provoker provoker = {
		.scenario = &scenario,
		.times = options->times,
		.timeout_ns = options->timeout_ns,
		.until_exit_of = options->until_exit_of,
	};
	struct error *err;

	if (!argv[0])
		return error_create(ERROR_USAGE,
				    "no race is given: REPORT#ID, such as "
				    "out.jsonl#1");
	if (options->times == OPTION_NONE)
		provoker.times = options->pid ? 1 : TIMES_DEFAULT;
	err = scenario_load(argv[0], &scenario);
	if (!err && options->pid)
		err = provoke_process(options, &provoker, argv + 1, ret_status);
	else if (!err)
		err = provoke_program(options, &provoker, argv + 1, ret_status);
	scenario_deinit(&scenario);
	return err;
}

static struct error *provoke_main(int argc, char **argv, int *ret_status)
{
	struct provoke_options options;
	struct error *err;
	int first;

	err = options_parse(&provoke_table, argc, argv, &options, NULL, &first);
	if (!err) {
		*ret_status = 0;
		if (!command_answer(&command_provoke, &options.standard))
			err = provoke_parsed(&options, argv + first,
					     ret_status);
	}
	options_release(&provoke_table, &options);
	return err;
}

const struct command command_provoke = {
	.name = "provoke",
	.summary = "bring a reported race about, in each order",
	.options = &provoke_table,
	.run = provoke_main,
};

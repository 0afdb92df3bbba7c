/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * racewatch run: start a program and watch it to its end (racewatch-run(1)).
 */
#include "cmd/cmd.h"

#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "cmd/watch.h"
#include "doctor/program.h"

static const struct option_table run_table = {
	.command = "run",
	.synopsis = "[options] [--] COMMAND [ARGUMENT...]",
	.summary = "Start a program and report its data races.",
	.parts = watch_run_parts,
	.leading = true,
};

/* What the user should know of the program before it starts. */
static void run_remarks(const struct watch_options *options,
			const struct program *program)
{
	if (options->common.showing.quiet)
		return;
	if (program->interpreter)
		log_note("%s is a script: its interpreter %s is watched",
			 program->path, program->interpreter);
	if (program->is_static)
		log_note("%s is statically linked: functions inside the C "
			 "library are left out by name, if the program has "
			 "symbols",
			 program->path);
	if (program->privileged && geteuid() != 0)
		log_warn("%s has privileges of its own (set-user-ID or "
			 "capabilities): it runs without them while it is "
			 "watched",
			 program->path);
}

static struct error *run_inspect(const struct watch_options *options)
{
	struct program program;
	struct error *err;

	if (!options->argv[0])
		return error_create(ERROR_USAGE, "no program to run is given");
	err = program_inspect(options->argv[0], &program);
	if (err)
		return err;
	run_remarks(options, &program);
	program_deinit(&program);
	return NULL;
}

static struct error *run_main(int argc, char **argv, int *ret_status)
{
	struct watch_options options = { .preset = EFFORT_NORMAL };
	struct error *err;
	int first;

	err = watch_parse(&run_table, argc, argv, &options, &first);
	if (err)
		goto out;
	*ret_status = 0;
	options.argv = argv + first;
	if (command_answer(&command_run, &options.common.standard))
		goto out;
	err = run_inspect(&options);
	if (!err)
		err = watch_program(&options, ret_status);
out:
	options_release(&run_table, &options);
	return err;
}

const struct command command_run = {
	.name = "run",
	.summary = "start a program and report its data races",
	.options = &run_table,
	.watches = true,
	.run = run_main,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of subcommands and the program's own options; see cmd.h.
 */
#include "cmd/cmd.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/spelling.h"
#include "cmd/defaults.h"

const struct command *const commands[] = {
	&command_run,	&command_attach,  &command_sweep,
	&command_hunt,	&command_provoke, &command_report,
	&command_sites, &command_doctor,  NULL,
};

struct program_options {
	struct standard standard;
	bool dump;
};

static const struct option_def program_defs[] = {
	{ .name = "--dump-options",
	  .help = "print a line for each option of each command and exit",
	  .type = OPTION_FLAG,
	  .offset = offsetof(struct program_options, dump) },
};

static const struct option_group program_group = OPTION_GROUP(program_defs);

static const struct option_table program_table = {
	.command = "racewatch",
	.synopsis = "COMMAND [options] [arguments]",
	.summary = "Find data races in unmodified, running programs.",
	.parts =
		(const struct option_part[]){
			{ &standard_group,
			  offsetof(struct program_options, standard) },
			{ &program_group, 0 },
			{ NULL, 0 },
		},
	.leading = true,
};

static void print_help(void)
{
	options_help(&program_table, stdout);
	printf("\nCommands:\n");
	for (size_t i = 0; commands[i]; i++)
		printf(" %-10s %s\n", commands[i]->name, commands[i]->summary);
	printf("\n'racewatch COMMAND --help' lists the options of a command.\n");
}

static void print_options(void)
{
	options_dump(&program_table, stdout);
	for (size_t i = 0; commands[i]; i++)
		options_dump(commands[i]->options, stdout);
}

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

static struct error *run_command(const struct command *command, int argc,
				 char **argv, int *ret_status)
{
	struct defaults defaults;
	struct error *err =
		defaults_read(command, commands, argc, argv, &defaults);

	if (!err)
		err = command->run((int)defaults.argv.count - 1,
				   defaults.argv.items, ret_status);
	defaults_deinit(&defaults);
	return err;
}

static struct error *command_unknown(const char *name)
{
	struct spelling spelling = { 0 };

	for (size_t i = 0; commands[i]; i++)
		spelling_offer(&spelling, name, commands[i]->name);
	if (!spelling.word)
		return error_create(ERROR_USAGE, "unknown command: %s", name);
	return error_create(ERROR_USAGE,
			    "unknown command: %s; did you mean %s?", name,
			    spelling.word);
}

struct error *commands_main(int argc, char **argv,
			    const struct command **ret_command, int *ret_status)
{
	struct program_options options;
	const struct command *command;
	struct error *err;
	int first;

	err = options_parse(&program_table, argc, argv, &options, NULL, &first);
	if (err)
		return err;
	*ret_status = 0;
	if (options.standard.help)
		print_help();
	else if (options.standard.version)
		command_print_version();
	else if (options.dump)
		print_options();
	if (options.standard.help || options.standard.version || options.dump)
		return NULL;
	if (first == argc)
		return error_create(
			ERROR_USAGE,
			"no command is given: racewatch --help lists them");
	command = command_find(argv[first]);
	if (!command)
		return command_unknown(argv[first]);
	*ret_command = command;
	return run_command(command, argc - first, argv + first, ret_status);
}

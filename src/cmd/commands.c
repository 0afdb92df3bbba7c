/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of subcommands and the program's own options; see cmd.h.
 */
#include "cmd/cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"

const struct command *const commands[] = {
	&command_run,	&command_attach, &command_sweep, &command_report,
	&command_sites, &command_doctor, NULL,
};

struct program_options {
	bool help, version, dump;
};

static const struct option_def program_defs[] = {
	{ .name = "help",
	  .letter = 'h',
	  .help = "print this summary and exit",
	  .type = OPTION_FLAG,
	  .offset = offsetof(struct program_options, help) },
	{ .name = "version",
	  .letter = 'V',
	  .help = "print the version and exit",
	  .type = OPTION_FLAG,
	  .offset = offsetof(struct program_options, version) },
	{ .name = "dump-options",
	  .help = "print a line for each option of each command and exit",
	  .type = OPTION_FLAG,
	  .offset = offsetof(struct program_options, dump) },
};

static const struct option_table program_table = {
	.command = "racewatch",
	.synopsis = "COMMAND [options] [arguments]",
	.summary = "Find data races in unmodified, running programs.",
	.defs = program_defs,
	.count = sizeof(program_defs) / sizeof(program_defs[0]),
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

struct error *commands_main(int argc, char **argv,
			    const struct command **ret_command, int *ret_status)
{
	struct program_options options = { .help = false };
	const struct command *command;
	struct error *err;
	int first;

	err = options_parse(&program_table, argc, argv, &options, &first);
	if (err)
		return err;
	*ret_status = 0;
	if (options.help)
		print_help();
	else if (options.version)
		command_print_version();
	else if (options.dump)
		print_options();
	if (options.help || options.version || options.dump)
		return NULL;
	if (first == argc)
		return error_create(ERROR_USAGE, "no command is given");
	command = command_find(argv[first]);
	if (!command)
		return error_create(ERROR_USAGE, "there is no command '%s'",
				    argv[first]);
	*ret_command = command;
	return command->run(argc - first, argv + first, ret_status);
}

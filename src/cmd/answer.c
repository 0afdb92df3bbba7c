/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --help and --version; see cmd.h.
 */
#include "cmd/cmd.h"

#include <stdio.h>

void command_print_version(void)
{
	printf("racewatch %s\n", PACKAGE_VERSION);
}

bool command_answer(const struct command *command,
		    const struct standard *standard)
{
	if (standard->help)
		options_help(command->options, stdout);
	else if (standard->version)
		command_print_version();
	return standard->help || standard->version;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The subcommands: one entry each in a table, one file each. A command parses
 * its arguments, builds what it needs and calls down; it returns what the
 * process is to exit with.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdbool.h>

#include "base/exitstatus.h"
#include "base/options.h"
#include "cmd/groups.h"

struct error;

struct command {
	const char *name;
	const char *summary; /* a line of `racewatch --help` */
	const struct option_table *options;
	bool watches; /* takes RACEWATCH_OPTIONS: cmd/defaults.h */
	/*
	 * argv[0] is the command's name. *ret_status is racewatch's exit
	 * status; an error is printed by the caller, who takes the status
	 * from its kind.
	 */
	struct error *(*run)(int argc, char **argv, int *ret_status);
};

extern const struct command command_attach;
extern const struct command command_doctor;
extern const struct command command_hunt;
extern const struct command command_provoke;
extern const struct command command_report;
extern const struct command command_run;
extern const struct command command_sites;
extern const struct command command_sweep;

/* All commands, in the order of the manual; ends in NULL. */
extern const struct command *const commands[];

/*
 * Do what the program's own options ask for, or find and run the command.
 * Errors are those of the command; *ret_command is what to name in messages,
 * NULL for racewatch itself.
 */
struct error *commands_main(int argc, char **argv,
			    const struct command **ret_command,
			    int *ret_status);

/*
 * --help and --version, which every command takes: true when one was given
 * and answered.
 */
bool command_answer(const struct command *command,
		    const struct standard *standard);
void command_print_version(void);

#endif

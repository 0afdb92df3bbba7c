/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record [--qemu] [--breakpoints] [--lossless] [--whole] [--stacks] [--code]
 * [--window KIB] [--memory MIB] [--timeout MS] FOLDER COMMAND [ARGUMENT...]: records
 * the command, by Valgrind, by QEMU or by breakpoints, and ends with its status; 99
 * when there is no recorder, 125 after another error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hunt/record-qemu.h"
#include "hunt/record-stops.h"
#include "hunt/record.h"

static bool by_qemu, by_breakpoints;

/* The number of arguments that the option at argv takes up; 0: it is none. */
static int take_option(char **argv, struct record_options *options)
{
	if (strcmp(argv[0], "--qemu") == 0)
		by_qemu = true;
	else if (strcmp(argv[0], "--breakpoints") == 0)
		by_breakpoints = true;
	else if (strcmp(argv[0], "--lossless") == 0)
		options->lossless = true;
	else if (strcmp(argv[0], "--stacks") == 0)
		options->stacks = true;
	else if (strcmp(argv[0], "--whole") == 0)
		options->whole = true;
	else if (strcmp(argv[0], "--code") == 0)
		options->code = true;
	else if (strcmp(argv[0], "--window") == 0 && argv[1])
		options->window = strtoull(argv[1], NULL, 10) << 10;
	else if (strcmp(argv[0], "--memory") == 0 && argv[1])
		options->memory = strtoull(argv[1], NULL, 10) << 20;
	else if (strcmp(argv[0], "--timeout") == 0 && argv[1])
		options->timeout_ns = strtoull(argv[1], NULL, 10) * 1000000;
	else
		return 0;
	return strchr("mt", argv[0][2]) || argv[0][3] == 'i' ? 2 : 1;
}

static struct error *record_command(char *const *argv, const char *folder,
				    const struct record_options *options,
				    struct record_result *ret)
{
	struct error *err;

	if (by_breakpoints)
		return record_by_stops(argv, folder, options, ret);
	err = by_qemu ? record_qemu_check() : record_check();
	if (err)
		return err;
	return (by_qemu ? record_qemu_run : record_run)(argv, folder, options,
							ret);
}

int main(int argc, char **argv)
{
	struct record_options options = { 0 };
	struct record_result result;
	struct error *err;
	int taken;

	(void)argc;
	for (argv++; *argv && (taken = take_option(argv, &options)) > 0;)
		argv += taken;
	if (!argv[0] || !argv[1]) {
		fputs("usage: record [OPTION...] FOLDER COMMAND...\n", stderr);
		return 2;
	}
	err = record_command(argv + 1, argv[0], &options, &result);
	if (err) {
		int status = err->kind == ERROR_UNSUPPORTED ? 99 : 125;

		fprintf(stderr, "record: %s\n", error_message(err));
		error_free(err);
		return status;
	}
	return result.status;
}

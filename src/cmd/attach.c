/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * racewatch attach: watch a process that runs already, until it ends, the
 * time is up or somebody interrupts (racewatch-attach(1)).
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cmd/watch.h"

static const struct option_table attach_table = {
	.command = "attach",
	.synopsis = "[options] PID",
	.summary = "Watch a running process and report its data races.",
	.defs = watch_defs,
	.count = WATCH_DEFS_ATTACH,
};

static struct error *attach_pid(char *const *operands, int *ret)
{
	char *end;
	long pid;

	if (!operands[0])
		return error_create(ERROR_USAGE, "no process is given");
	if (operands[1])
		return error_create(ERROR_USAGE, "one process at a time");
	errno = 0;
	pid = strtol(operands[0], &end, 10);
	if (strspn(operands[0], "0123456789") != strlen(operands[0]) ||
	    errno != 0 || pid <= 0 || pid > INT32_MAX)
		return error_create(ERROR_USAGE, "'%s' is not a process id",
				    operands[0]);
	*ret = (int)pid;
	return NULL;
}

static struct error *attach_main(int argc, char **argv, int *ret_status)
{
	cleanup_free char **given = NULL;
	struct watch_options options;
	struct error *err;
	int first;

	err = watch_parse(&attach_table, argc, argv, &options, &given, &first);
	if (err)
		goto out;
	*ret_status = 0;
	if (command_answer(&command_attach, options.help, options.version))
		goto out;
	err = attach_pid(argv + first, &options.pid);
	if (!err)
		err = watch_program(&options, given, ret_status);
	if (err && err->kind == ERROR_GONE)
		err = error_create(ERROR_OTHER,
				   "process %d: there is none, or it has ended",
				   options.pid);
out:
	options_release(&attach_table, &options);
	return err;
}

const struct command command_attach = {
	.name = "attach",
	.summary = "watch a running process",
	.options = &attach_table,
	.run = attach_main,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * racewatch attach: watch processes that run already, until they end, the
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
	.synopsis = "[options] PID...",
	.summary = "Watch running processes and report their data races.",
	.defs = watch_defs,
	.count = WATCH_DEFS_ATTACH,
};

static struct error *attach_pid(const char *operand, int *ret)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(operand, &end, 10);
	if (strspn(operand, "0123456789") != strlen(operand) || errno != 0 ||
	    pid <= 0 || pid > INT32_MAX)
		return error_create(ERROR_USAGE, "'%s' is not a process id",
				    operand);
	*ret = (int)pid;
	return NULL;
}

static bool attach_has(const struct vec *pids, int pid)
{
	for (size_t i = 0; i < pids->count; i++) {
		if (*(const int *)vec_at(pids, i) == pid)
			return true;
	}
	return false;
}

static struct error *attach_pids(char *const *operands,
				 struct watch_options *options)
{
	if (!operands[0])
		return error_create(ERROR_USAGE, "no process is given");
	for (; *operands; operands++) {
		struct error *err;
		int pid;

		err = attach_pid(*operands, &pid);
		if (err)
			return err;
		if (!attach_has(&options->pids, pid) &&
		    !vec_push(&options->pids, &pid))
			return error_nomem;
	}
	options->pid = *(const int *)vec_at(&options->pids, 0);
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
	err = attach_pids(argv + first, &options);
	if (!err)
		err = watch_program(&options, given, ret_status);
	if (err && err->kind == ERROR_GONE)
		err = error_create(ERROR_OTHER,
				   "process %d: there is none, or it has ended",
				   options.pid);
out:
	vec_deinit(&options.pids);
	options_release(&attach_table, &options);
	return err;
}

const struct command command_attach = {
	.name = "attach",
	.summary = "watch running processes",
	.options = &attach_table,
	.run = attach_main,
};

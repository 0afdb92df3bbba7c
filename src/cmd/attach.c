/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * racewatch attach: watch processes that run already, until they end, the
 * time is up or somebody interrupts (racewatch-attach(1)).
 */
#include "cmd/cmd.h"

#include <sys/stat.h>

#include "base/error.h"
#include "base/log.h"
#include "base/rights.h"
#include "cmd/watch.h"
#include "doctor/checks.h"
#include "doctor/pid.h"
#include "doctor/refusal.h"
#include "sys/pidref.h"

static const struct option_table attach_table = {
	.command = "attach",
	.synopsis = "[options] PID...",
	.summary = "Watch running processes and report their data races.",
	.parts = watch_attach_parts,
};

static bool attach_has(const struct vec *pids, int pid)
{
	for (size_t i = 0; i < pids->count; i++) {
		if (*(const int *)vec_at(pids, i) == pid)
			return true;
	}
	return false;
}

/*
 * The process is held before it is looked at, so that what is found out is of
 * the one that is then watched. Of several, as from pidof(1), some may have
 * ended by now.
 */
static struct error *attach_process(struct watch_options *options,
				    struct vec *held, int pid, bool several)
{
	struct pidref process;
	struct error *err;

	pid = pid_resolve(pid);
	if (attach_has(&options->pids, pid)) {
		log_note("process %d is given more than once", pid);
		return NULL;
	}
	err = pidref_open(pid, &process);
	if (err == error_gone && several) {
		log_note("process %d has ended; it is left out", pid);
		return NULL;
	}
	if (err)
		return refusal_explain(err, pid);
	if (!vec_push(held, &process)) {
		pidref_close(&process);
		return error_nomem;
	}
	if (!vec_push(&options->pids, &pid))
		return error_nomem;
	return checks_refuse_process(pid);
}

static struct error *attach_processes(char *const *operands,
				      struct watch_options *options,
				      struct vec *held)
{
	struct error *err = NULL;

	if (!operands[0])
		return error_create(ERROR_USAGE, "no process is given");
	/* a wrong word is told before anything is done */
	for (size_t i = 0; !err && operands[i]; i++)
		err = pid_parse(operands[i], &options->pid);
	for (size_t i = 0; !err && operands[i]; i++) {
		err = pid_parse(operands[i], &options->pid);
		if (!err)
			err = attach_process(options, held, options->pid,
					     operands[1] != NULL);
	}
	if (!err && options->pids.count == 0)
		err = error_create(ERROR_REFUSED,
				   "all of these processes have ended");
	if (!err) {
		options->pid = *(const int *)vec_at(&options->pids, 0);
		options->held = held->items;
	}
	return err;
}

/*
 * What is written about a program of another user is for nobody but us: it has
 * lines of files, values and names that others may not read.
 */
static void attach_keep_private(const struct vec *pids)
{
	for (size_t i = 0; i < pids->count; i++) {
		struct rights rights;
		struct error *err =
			rights_of(*(const int *)vec_at(pids, i), &rights);

		if (!err && rights_differ(&rights))
			umask(0077);
		error_free(err);
	}
}

static struct error *attach_watch(char *const *operands,
				  struct watch_options *options,
				  int *ret_status)
{
	struct vec held = VEC_INIT(struct pidref);
	struct error *err = attach_processes(operands, options, &held);

	if (!err)
		attach_keep_private(&options->pids);
	if (!err)
		err = watch_program(options, ret_status);
	options->held = NULL;
	for (size_t i = 0; i < held.count; i++)
		pidref_close(vec_at(&held, i));
	vec_deinit(&held);
	return err;
}

static struct error *attach_main(int argc, char **argv, int *ret_status)
{
	struct watch_options options = { .preset = EFFORT_LOW };
	struct error *err;
	int first;

	err = watch_parse(&attach_table, argc, argv, &options, &first);
	if (err)
		goto out;
	*ret_status = 0;
	if (command_answer(&command_attach, &options.common.standard))
		goto out;
	err = attach_watch(argv + first, &options, ret_status);
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

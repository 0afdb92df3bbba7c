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
#include "base/strbuf.h"
#include "cmd/watch.h"
#include "doctor/checks.h"
#include "doctor/choose.h"
#include "doctor/pid.h"
#include "doctor/refusal.h"
#include "sys/pidref.h"

static const struct option_table attach_table = {
	.command = "attach",
	.synopsis = "[options] [PID...]",
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

/* How a process was named: some of several may be left out. */
enum attach_named { ATTACH_ALONE, ATTACH_ONE_OF, ATTACH_CHOSEN };

/* Its reason is told, and no error. */
static struct error *attach_leave_out(struct error *err)
{
	log_note("%s; it is left out", error_message(err));
	error_free(err);
	return NULL;
}

/*
 * The process is held before it is looked at, so that what is found out is of
 * the one that is then watched. Of several, as from pidof(1), some may have
 * ended by now; of those that were chosen, some may not be watched.
 */
static struct error *attach_process(struct watch_options *options,
				    struct vec *held, int pid,
				    enum attach_named named)
{
	struct pidref process;
	struct error *err;

	pid = pid_resolve(pid);
	if (attach_has(&options->pids, pid)) {
		if (named != ATTACH_CHOSEN)
			log_note("process %d is given more than once", pid);
		return NULL;
	}
	err = pidref_open(pid, &process);
	if (!err && named == ATTACH_CHOSEN &&
	    !choice_matches(&options->choice, pid)) {
		log_note("process %d does not match any more; it is left out",
			 pid);
		pidref_close(&process);
		return NULL;
	}
	if (err == error_gone && named != ATTACH_ALONE) {
		log_note("process %d has ended; it is left out", pid);
		return NULL;
	}
	if (err)
		return refusal_explain(err, pid);
	err = checks_refuse_process(pid);
	if (!err && (!vec_reserve(held, held->count + 1) ||
		     !vec_push(&options->pids, &pid)))
		err = error_nomem;
	if (err) {
		pidref_close(&process);
		return named == ATTACH_CHOSEN && err != error_nomem
			       ? attach_leave_out(err)
			       : err;
	}
	vec_push(held, &process);
	return NULL;
}

static struct error *attach_given(char *const *operands,
				  struct watch_options *options,
				  struct vec *held)
{
	struct error *err = NULL;
	int pid;

	/* a wrong word is told before anything is done */
	for (size_t i = 0; !err && operands[i]; i++)
		err = pid_parse(operands[i], &pid);
	for (size_t i = 0; !err && operands[i]; i++) {
		err = pid_parse(operands[i], &pid);
		if (!err)
			err = attach_process(options, held, pid,
					     operands[1] ? ATTACH_ONE_OF
							 : ATTACH_ALONE);
	}
	return err;
}

static struct error *attach_chosen(struct watch_options *options,
				   struct vec *held)
{
	struct vec chosen = VEC_INIT(int);
	struct error *err = choice_find(&options->choice, &chosen);

	for (size_t i = 0; !err && i < chosen.count; i++)
		err = attach_process(options, held,
				     *(const int *)vec_at(&chosen, i),
				     ATTACH_CHOSEN);
	vec_deinit(&chosen);
	return err;
}

static void attach_tell_chosen(const struct vec *pids)
{
	struct strbuf text = { 0 };

	for (size_t i = 0; i < pids->count; i++)
		strbuf_addf(&text, "%s%d", i ? ", " : "",
			    *(const int *)vec_at(pids, i));
	log_note("chosen: %s", strbuf_text(&text));
	strbuf_deinit(&text);
}

static struct error *attach_processes(char *const *operands,
				      struct watch_options *options,
				      struct vec *held)
{
	bool chooses = choice_is_made(&options->choice);
	struct error *err;

	if (!operands[0] && !chooses)
		return error_create(ERROR_USAGE, "no process is given");
	err = attach_given(operands, options, held);
	if (!err && chooses)
		err = attach_chosen(options, held);
	if (!err && options->pids.count == 0)
		err = error_create(
			ERROR_REFUSED,
			chooses ? "none of these processes can be watched"
				: "all of these processes have ended");
	if (!err && chooses)
		attach_tell_chosen(&options->pids);
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
static void attach_keep_private(struct watch_options *options)
{
	const struct vec *pids = &options->pids;

	for (size_t i = 0; i < pids->count; i++) {
		struct rights rights;
		struct error *err =
			rights_of(*(const int *)vec_at(pids, i), &rights);

		options->foreign |= !err && rights.foreign;
		options->of_others |= !err && rights_differ(&rights);
		error_free(err);
	}
	if (options->of_others)
		umask(0077);
}

static struct error *attach_watch(char *const *operands,
				  struct watch_options *options,
				  int *ret_status)
{
	struct vec held = VEC_INIT(struct pidref);
	struct error *err = attach_processes(operands, options, &held);

	if (!err)
		attach_keep_private(options);
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
	.watches = true,
	.run = attach_main,
};

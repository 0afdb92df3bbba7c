/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The choice of a recorder; see recorders.h.
 */
#include "hunt/recorders.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exitstatus.h"
#include "base/log.h"
#include "hunt/record-qemu.h"
#include "hunt/record-stops.h"
#include "hunt/trouble.h"

/* CPU time of a run from which the recorder's slow-down can be told. */
static const uint64_t RECORDERS_BARE_NS = 50 * CLOCK_NS_PER_MS;

/* A command that takes this many times longer under a recorder than alone hangs. */
enum { RECORDERS_SLOWER = 100 };

/* It takes a recorder so long to begin. */
static const uint64_t RECORDERS_LEAST_NS = CLOCK_NS_PER_S;

/* Such a part of the time until the deadline, or the time of a run. */
static uint64_t limit_ns(const struct record_options *options, uint64_t part)
{
	uint64_t now = clock_now_ns(), left = 0;

	if (options->deadline_ns == 0)
		return options->timeout_ns;
	if (options->deadline_ns > now)
		left = (options->deadline_ns - now) / part;
	if (left < RECORDERS_LEAST_NS)
		left = RECORDERS_LEAST_NS;
	return options->timeout_ns && options->timeout_ns < left
		       ? options->timeout_ns
		       : left;
}

/*
 * The command by itself, without its output: what it costs and how it ends, to
 * compare with. It is ended after the time of a run, too. The status is -1 if it is
 * not known.
 */
static struct error *run_bare(char *const *argv,
			      const struct record_options *options,
			      struct record_result *ret)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct record_options silent = *options;
	struct error *err = NULL;
	pid_t pid = fork();

	if (pid == 0) {
		for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
			dup2(null, fd);
		execvp(argv[0], argv);
		/* exit-allowed: the forked child that could not be it */
		_exit(EXIT_NOT_FOUND);
	}
	silent.silent = true;
	silent.timeout_ns = limit_ns(options, 4);
	ret->status = -1;
	if (pid > 0)
		err = record_await(pid, &silent, ret);
	if (null >= 0)
		close(null);
	if (ret->timed_out)
		ret->status = -1;
	return err;
}

typedef struct error *(run_recorder)(char *const *argv, const char *folder,
				     const struct record_options *options,
				     struct record_result *ret);

/* In half of the time until the deadline. */
static struct error *run_limited(run_recorder *run, char *const *argv,
				 const char *folder,
				 const struct record_options *options,
				 struct recorders_result *ret)
{
	struct record_options limited = *options;
	struct error *err;

	limited.timeout_ns = limit_ns(options, 2);
	err = run(argv, folder, &limited, &ret->run);
	if (!err && ret->run.timed_out &&
	    limited.timeout_ns != options->timeout_ns)
		ret->cut_ns = limited.timeout_ns;
	return err;
}

/* The command by itself, and by a recorder that runs all of it more slowly. */
static struct error *compare(run_recorder *run, char *const *argv,
			     const char *folder,
			     const struct record_options *options,
			     struct recorders_result *ret)
{
	struct record_result bare = { 0 };
	uint64_t begun = clock_now_ns();
	struct error *err = run_bare(argv, options, &bare);
	uint64_t bare_ns = clock_now_ns() - begun;

	if (!err)
		err = run_limited(run, argv, folder, options, ret);
	if (err)
		return err;
	ret->hung = ret->cut_ns > 0 && !bare.timed_out &&
		    ret->cut_ns / RECORDERS_SLOWER > bare_ns;
	ret->bare_status = bare.status;
	/* how it ends is not known then: the recorded run should end well */
	ret->failed = bare.timed_out && options->deadline_ns > 0 &&
		      !ret->run.timed_out && ret->run.status != 0;
	/*
	 * Of a short run, most is the recorder's own start. One that takes less than
	 * the command by itself was ended, or has given up.
	 */
	if (bare.cpu_ns >= RECORDERS_BARE_NS && !bare.timed_out &&
	    !ret->run.timed_out && ret->run.cpu_ns >= bare.cpu_ns)
		ret->slow_down = (double)ret->run.cpu_ns / (double)bare.cpu_ns;
	return NULL;
}

static struct error *by_valgrind(char *const *argv, const char *folder,
				 const struct record_options *options,
				 struct recorders_result *ret)
{
	return compare(record_run, argv, folder, options, ret);
}

static struct error *by_qemu(char *const *argv, const char *folder,
			     const struct record_options *options,
			     struct recorders_result *ret)
{
	/* it need not run by itself, if QEMU refuses it */
	struct error *err = record_qemu_check_command(argv[0]);

	return err ? err : compare(record_qemu_run, argv, folder, options, ret);
}

static struct error *by_breakpoints(char *const *argv, const char *folder,
				    const struct record_options *options,
				    struct recorders_result *ret)
{
	return run_limited(record_by_stops, argv, folder, options, ret);
}

struct recorder_kind {
	const char *name;
	bool one_program; /* what a program executes is not recorded */
	/* NULL: it can be used here */
	struct error *(*check)(void);
	struct error *(*run)(char *const *argv, const char *folder,
			     const struct record_options *options,
			     struct recorders_result *ret);
};

static struct error *check_nothing(void)
{
	return NULL;
}

/* In the order of `auto'. */
static const struct recorder_kind recorder_kinds[] = {
	{ "valgrind", false, record_check, by_valgrind },
	{ "qemu", true, record_qemu_check, by_qemu },
	{ "breakpoints", false, check_nothing, by_breakpoints },
};

enum { RECORDER_KINDS = sizeof(recorder_kinds) / sizeof(*recorder_kinds) };

static void tell_passed(const char *name, const char *reason)
{
	log_note("not recorded by %s: %s", name, reason);
}

/* The first of those from here on that can be used: what is passed is told. */
static const struct recorder_kind *first_of(const struct recorder_kind *kind)
{
	for (;; kind++) {
		struct error *missing = kind->check();

		if (!missing)
			return kind;
		tell_passed(kind->name, error_message(missing));
		error_free(missing);
	}
}

static const struct recorder_kind *find_kind(const char *name)
{
	const struct recorder_kind *kind = recorder_kinds;

	while (strcmp(kind->name, name) != 0)
		kind++;
	return kind;
}

/*
 * Did the command end otherwise than by itself, for a reason that the recorder
 * has named? *ret_reason is to be freed then.
 */
static struct error *has_failed(const char *folder,
				const struct recorders_result *result,
				bool *ret, char **ret_reason)
{
	*ret = false;
	*ret_reason = NULL;
	/* it was on its way: what it has recorded is used */
	if (result->cut_ns > 0 && !result->hung)
		return NULL;
	/* the command by itself has ended within the time of a run */
	if ((result->bare_status < 0 && !result->failed) ||
	    (!result->run.timed_out &&
	     result->bare_status == result->run.status))
		return NULL;
	*ret = true;
	return trouble_find(folder, ret_reason);
}

static struct error *run_kind(const struct recorder_kind *kind,
			      char *const *argv, const char *folder,
			      const struct record_options *options,
			      struct recorders_result *ret)
{
	struct recorders_result result = { .name = kind->name,
					   .bare_status = -1 };
	struct error *err = kind->check();

	if (!err)
		err = kind->run(argv, folder, options, &result);
	if (!err)
		*ret = result;
	return err;
}

/*
 * Why the next one is to record instead; *ret_reason is NULL if it is not. Takes
 * over *err, which is what came of this one.
 */
static struct error *why_not(const struct recorder_kind *kind,
			     const char *folder,
			     const struct recorders_result *result,
			     struct error **err, char **ret_reason)
{
	bool failed = false;

	*ret_reason = NULL;
	if (!*err) {
		struct error *other =
			has_failed(folder, result, &failed, ret_reason);

		return other || *ret_reason || !kind->one_program
			       ? other
			       : trouble_executes(folder, ret_reason);
	}
	/* nothing was recorded: it has said why */
	if ((*err)->kind != ERROR_OTHER && (*err)->kind != ERROR_UNSUPPORTED)
		return NULL;
	*ret_reason = strdup(error_message(*err));
	error_free(*err);
	*err = NULL;
	return *ret_reason ? NULL : error_nomem;
}

/* By one after another: what the one before has written goes. */
static struct error *run_first(char *const *argv, const char *folder,
			       const struct record_options *options,
			       struct recorders_result *ret)
{
	const struct recorder_kind *kind = first_of(recorder_kinds);
	char *reason;

	for (;;) {
		struct error *err = run_kind(kind, argv, folder, options, ret);
		struct error *other = NULL;

		if (kind == recorder_kinds + RECORDER_KINDS - 1)
			return err;
		other = why_not(kind, folder, ret, &err, &reason);
		if (!reason || other) {
			error_free(err);
			free(reason);
			return other ? other : err;
		}
		tell_passed(kind->name, reason);
		free(reason);
		other = trouble_clear(folder);
		if (other)
			return other;
		kind = first_of(kind + 1);
	}
}

struct error *recorders_run(const char *name, char *const *argv,
			    const char *folder,
			    const struct record_options *options,
			    struct recorders_result *ret)
{
	const struct recorder_kind *kind;
	bool others = true;
	struct error *err = trouble_has_files(folder, &others);

	if (err)
		return err;
	/* what others have recorded there is not to be removed */
	if (strcmp(name, "auto") == 0 && !others)
		return run_first(argv, folder, options, ret);
	kind = strcmp(name, "auto") == 0 ? first_of(recorder_kinds)
					 : find_kind(name);
	return run_kind(kind, argv, folder, options, ret);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where sides come from; see sources.h.
 */
#include "hunt/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exitstatus.h"
#include "base/log.h"
#include "hunt/outcomes.h"
#include "hunt/record.h"
#include "hunt/tempfolder.h"
#include "report/read.h"
#include "report/record.h"

/* CPU time of a run from which the recorder's slow-down can be told. */
static const uint64_t SOURCES_BARE_NS = 50 * CLOCK_NS_PER_MS;

static void sides_free(struct vec *sides)
{
	for (size_t i = 0; i < sides->count; i++)
		hunt_side_deinit(vec_at(sides, i));
	vec_deinit(sides);
}

/* Those of a report, whatever came of them there. */
static struct error *sides_of_report(const char *path, struct vec *sides)
{
	struct report_record record;
	struct reader *reader;
	bool more = true;
	struct error *err = reader_open(path, &reader);

	if (err)
		return err;
	report_record_init(&record);
	while (!err && !(err = reader_next(reader, &record, &more)) && more) {
		if (record.type != REPORT_TARGET)
			continue;
		if (!vec_push(sides, &record.target.side))
			err = error_nomem;
		else
			hunt_side_init(&record.target.side);
	}
	report_record_deinit(&record);
	reader_close(reader);
	if (!err && sides->count == 0)
		err = error_create(ERROR_OTHER, "%s has no targets", path);
	return err;
}

static struct error *sides_of_trace(const struct hunt_sources *sources,
				    const char *dir, struct vec *sides,
				    struct hunt_found *ret)
{
	const struct hunt_pairing pairing = {
		.program = sources->program,
		.slow_down = ret->slow_down,
		.most = (size_t)sources->most,
	};

	ret->paired = true;
	return hunt_targets_from_traces(dir, &pairing, sides, &ret->totals);
}

static uint64_t children_cpu_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) != 0)
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
		       CLOCK_NS_PER_S +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
		       CLOCK_NS_PER_US;
}

/* The command by itself, without its output: what it costs, to compare with. */
static void run_bare(char *const *argv)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), status;
	pid_t pid = fork();

	if (pid == 0) {
		for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
			dup2(null, fd);
		execvp(argv[0], argv);
		/* exit-allowed: the forked child that could not be it */
		_exit(EXIT_NOT_FOUND);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (null >= 0)
		close(null);
}

static struct error *record(const struct hunt_sources *sources, const char *dir,
			    struct hunt_found *ret)
{
	const struct record_options options = {
		.memory = sources->trace_memory,
		.timeout_ns = sources->timeout_ns,
	};
	uint64_t begun = children_cpu_ns(), bare, recorded;
	struct record_result result;
	struct error *err = record_check();

	if (err)
		return err;
	run_bare(sources->argv);
	bare = children_cpu_ns() - begun;
	err = record_run(sources->argv, dir, &options, &result);
	recorded = children_cpu_ns() - begun - bare;
	if (err)
		return err;
	if (result.timed_out)
		log_warn("the recorded run was ended by --timeout: what came "
			 "until then counts");
	ret->recorded = true;
	ret->recorder = "valgrind";
	/* of a short run, most is the recorder's own start */
	if (bare >= SOURCES_BARE_NS)
		ret->slow_down = (double)recorded / (double)bare;
	return NULL;
}

/* Into a folder that is kept, or one for the moment. */
static struct error *sides_of_recording(const struct hunt_sources *sources,
					struct vec *sides,
					struct hunt_found *ret)
{
	const char *dir = sources->keep_trace;
	struct tempfolder folder = { 0 };
	struct error *err = NULL;

	if (dir && mkdir(dir, 0777) < 0 && errno != EEXIST)
		return error_os(errno, "make the directory %s", dir);
	if (!dir) {
		err = tempfolder_make("trace", &folder);
		dir = folder.path;
	}
	if (!err)
		err = record(sources, dir, ret);
	if (!err)
		err = sides_of_trace(sources, dir, sides, ret);
	tempfolder_remove(&folder);
	return err;
}

static struct error *sides_find(const struct hunt_sources *sources,
				struct vec *sides, struct hunt_found *ret)
{
	if (sources->targets)
		return sides_of_report(sources->targets, sides);
	if (sources->trace)
		return sides_of_trace(sources, sources->trace, sides, ret);
	return sides_of_recording(sources, sides, ret);
}

struct error *hunt_find_sides(const struct hunt_sources *sources,
			      struct outcomes *outcomes, struct hunt_found *ret)
{
	struct vec sides = VEC_INIT(struct hunt_side);
	struct error *err;

	*ret = (struct hunt_found){ .kept = false };
	err = outcomes_has_sides(outcomes, &ret->kept);
	if (err || ret->kept)
		return err;
	err = sides_find(sources, &sides, ret);
	if (!err)
		err = outcomes_add_sides(outcomes, &sides);
	if (!err && sources->since)
		err = outcomes_since(outcomes, sources->since, &ret->unchanged);
	ret->sides = sides.count;
	sides_free(&sides);
	return err;
}

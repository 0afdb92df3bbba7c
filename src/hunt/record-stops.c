/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording by breakpoints; see record-stops.h. What is recorded is kept in a
 * process of its own, whose memory goes with it.
 */
#include "hunt/record-stops.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exitstatus.h"
#include "base/log.h"
#include "hunt/record.h"
#include "hunt/stops.h"
#include "hunt/target.h"
#include "report/field.h"
#include "report/run.h"
#include "sampling/rules.h"
#include "session/companion.h"
#include "session/recording.h"
#include "session/session.h"

/* Processes that outlive the command are recorded for so long. */
static const uint64_t STOPS_REST_NS = 2 * CLOCK_NS_PER_S;

/* What the process sends back: how it went, in one write(2). */
struct stops_answer {
	bool failed;
	int32_t kind, code; /* as struct wire_failed has it */
	char message[512];
	struct record_result result;
};

struct recording_run {
	const struct record_options *options;
	struct stops *stops;
	int pid; /* of the command */
	struct companion client;
	struct error *err; /* the first */
};

static bool run_wants(void *context, const char *path)
{
	const struct recording_run *run = context;

	return hunt_wants_program(run->options->program, path);
}

static void run_started(void *context, const struct session_counts *counts,
			const struct image *image)
{
	struct recording_run *run = context;

	const struct companion_config client = {
		.command = run->options->until_exit_of,
	};

	(void)image;
	run->pid = counts->pid;
	if (!client.command || run->err)
		return;
	run->err = companion_start(&client, run->pid, &run->client);
	if (run->err)
		kill(run->pid, SIGTERM);
}

static void run_recorded(void *context, const struct session_recorded *news)
{
	struct recording_run *run = context;

	if (!run->err)
		run->err = stops_take(run->stops, news);
}

static void run_note(void *context, const char *text)
{
	(void)context;
	log_warn("%s", text);
}

static void run_ended(void *context, const struct session_counts *counts)
{
	struct run_summary sum = counts->sum;

	(void)context;
	fields_deinit(&summary_fields, &sum);
}

static struct error *run_session(struct recording_run *run, char *const *argv,
				 struct session_result *ret)
{
	struct rules rules = { .include_stack = false };
	const struct session_recording recording = {
		.executions = run->options->executions
				      ? run->options->executions
				      : RECORD_EXECUTIONS,
		.wants = run->options->program ? run_wants : NULL,
		.context = run,
	};
	const struct session_sink sink = {
		.context = run,
		.started = run_started,
		.recorded = run_recorded,
		.note = run_note,
		.ended = run_ended,
	};
	const struct session_config config = {
		.argv = argv,
		.tracing = { .backend = "auto", .follow = WIRE_FOLLOW_ALL },
		.rest_ns = STOPS_REST_NS,
		.seed = 1,
		/* of this, only that there is any is used */
		.effort = { .params = { .rate = 1 } },
		.timeout_ns = run->options->timeout_ns,
		.rules = &rules,
		.record = &recording,
	};
	struct error *err;

	globs_init(&rules.globs);
	for (size_t i = 0; i < run->options->include_count; i++)
		globs_add(&rules.globs, run->options->include[i], true);
	err = session_run(&config, &sink, ret);
	globs_deinit(&rules.globs);
	return err;
}

static struct error *run_to_end(char *const *argv, const char *folder,
				const struct record_options *options,
				struct record_result *ret)
{
	const struct stops_options stops = {
		.folder = folder,
		.memory = options->memory,
	};
	struct recording_run run = { .options = options };
	struct session_result result = { .status = 0 };
	struct error *err = stops_create(&stops, &run.stops);

	if (!err)
		err = run_session(&run, argv, &result);
	if (!err && result.interrupted)
		err = error_create(ERROR_OTHER,
				   "the recording was ended by signal %d (%s)",
				   result.interrupted,
				   strsignal(result.interrupted));
	if (!err && !run.err && stops_count(run.stops) == 0)
		err = error_create(ERROR_OTHER,
				   "nothing was recorded: no program of its "
				   "own code ran");
	if (err)
		error_free(run.err);
	else
		err = run.err;
	ret->timed_out = result.timed_out;
	ret->status = companion_end(&run.client, exit_status_of(result.status),
				    err || result.timed_out ? NULL : run_note,
				    NULL);
	stops_end(run.stops, run.pid, ret->status);
	return err;
}

static void answer_fill(struct stops_answer *answer, struct error *err)
{
	if (!err)
		return;
	answer->failed = true;
	answer->kind = (int32_t)err->kind;
	answer->code = err->code;
	snprintf(answer->message, sizeof(answer->message), "%s",
		 error_message(err));
	error_free(err);
}

/* The forked process: it does not return. */
static void become_recorder(char *const *argv, const char *folder,
			    const struct record_options *options, int fd,
			    pid_t parent)
{
	struct stops_answer answer = { .failed = false };

	/* as if the parent's end were its own, it ends the command then */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() == parent)
		answer_fill(&answer,
			    run_to_end(argv, folder, options, &answer.result));
	fflush(NULL);
	/* less than PIPE_BUF: all of it, or the parent has ended */
	if (write(fd, &answer, sizeof(answer)) < 0)
		log_debug(LOG_DETECT, "nobody waits for the recording");
	/* exit-allowed: the forked process, whose tracer has ended */
	_exit(0);
}

static struct error *answer_read(int fd, pid_t pid, struct record_result *ret)
{
	struct stops_answer answer;
	int status = 0;
	ssize_t size;

	do
		size = read(fd, &answer, sizeof(answer));
	while (size < 0 && errno == EINTR);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (size != sizeof(answer))
		return error_create(ERROR_OTHER,
				    "the recording process ended unexpectedly "
				    "(status %d)",
				    exit_status_of(status));
	*ret = answer.result;
	if (!answer.failed)
		return NULL;
	if (answer.kind == ERROR_NOMEM)
		return error_nomem;
	return error_create((enum error_kind)answer.kind, "%s", answer.message);
}

struct error *record_by_stops(char *const *argv, const char *folder,
			      const struct record_options *options,
			      struct record_result *ret)
{
	pid_t parent = getpid(), pid;
	struct error *err;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_os(errno, "make a pipe");
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		become_recorder(argv, folder, options, fds[1], parent);
	}
	close(fds[1]);
	err = pid < 0 ? error_os(errno, "start a process to record")
		      : answer_read(fds[0], pid, ret);
	close(fds[0]);
	return err ? error_wrap(err, "record %s", argv[0]) : NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that makes runs; see worker.h.
 */
#include "hunt/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/exitstatus.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "hunt/holding.h"
#include "hunt/notes.h"
#include "report/field.h"
#include "report/race.h"
#include "report/record.h"

/* Begins a line that is a note, and no record. */
enum { WORKER_NOTE = '#' };

/* Whether the line is a note. It is told if it is new; NULL: none can come. */
static bool worker_notes(struct notes *notes, char *line, ssize_t length)
{
	if (length < 2 || line[0] != WORKER_NOTE || !notes)
		return false;
	line[length - 1] = '\0';
	if (notes_is_new(notes, line + 1))
		log_warn("%s", line + 1);
	return true;
}

/* The next record; a line is read as soon as it is there. */
static struct error *worker_next(FILE *file, struct notes *notes,
				 struct report_record *record, bool *ret_more)
{
	cleanup_free char *line = NULL;
	size_t size = 0;
	ssize_t length;

	do {
		length = getline(&line, &size, file);
	} while (worker_notes(notes, line, length));
	*ret_more = length > 0;
	return *ret_more ? report_record_parse(line, (size_t)length, record)
			 : NULL;
}

/* In the worker. */
struct working {
	const struct holding_config *config;
	FILE *in;
	FILE *out;
	struct vec batch; /* of struct target_record */
	char backend[16]; /* of the batch */
	uint64_t limit_ns; /* of its run's time; 0: none */
	uint64_t begun_ns, begun_cpu_ns; /* its run */
	bool failed; /* what is written is incomplete */
};

static void working_write(struct working *working, const struct fields *fields,
			  const void *record)
{
	struct error *err = fields_write(fields, record, working->out);

	working->failed |= err != NULL;
	error_free(err);
}

static void working_races(void *context, const struct vec *races)
{
	for (size_t i = 0; i < races->count; i++)
		working_write(context, &race_fields,
			      *(const struct race *const *)vec_at(races, i));
}

static void working_crash(void *context, const struct crash *crash)
{
	working_write(context, &crash_fields, crash);
}

static void working_note(void *context, const char *text)
{
	struct working *working = context;
	struct strbuf line = { 0 };

	utf8_add_visible(&line, text);
	working->failed |= line.failed ||
			   fprintf(working->out, "%c%s\n", WORKER_NOTE,
				   strbuf_text(&line)) < 0;
	strbuf_deinit(&line);
}

static struct target_record *working_at(const struct working *working, size_t i)
{
	return vec_at(&working->batch, i);
}

static void working_clear(struct working *working)
{
	for (size_t i = 0; i < working->batch.count; i++)
		target_record_deinit(working_at(working, i));
	vec_clear(&working->batch);
}

/* The next batch; *ret_more: there is one. */
static struct error *working_read(struct working *working, bool *ret_more)
{
	struct report_record record;
	struct error *err = NULL;
	bool done = false;

	working_clear(working);
	report_record_init(&record);
	*ret_more = true;
	while (!err && *ret_more && !done) {
		err = worker_next(working->in, NULL, &record, ret_more);
		if (err || !*ret_more)
			break;
		done = record.type == REPORT_SUMMARY;
		if (done) {
			snprintf(working->backend, sizeof(working->backend),
				 "%s", record.summary.backend);
			working->limit_ns = record.summary.elapsed_ns;
		}
		if (record.type != REPORT_TARGET)
			continue;
		if (!vec_push(&working->batch, &record.target))
			err = error_nomem;
		else
			target_record_init(&record.target);
	}
	report_record_deinit(&record);
	return err;
}

static uint64_t working_usage(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage) < 0)
		return 0;
	return ((uint64_t)usage.ru_utime.tv_sec +
		(uint64_t)usage.ru_stime.tv_sec) *
		       CLOCK_NS_PER_S +
	       ((uint64_t)usage.ru_utime.tv_usec +
		(uint64_t)usage.ru_stime.tv_usec) *
		       (CLOCK_NS_PER_MS / 1000);
}

/* By runs until now, with what watches them: all have been waited for. */
static uint64_t working_cpu_ns(void)
{
	return working_usage(RUSAGE_SELF) + working_usage(RUSAGE_CHILDREN);
}

static void working_tell(struct working *working,
			 const struct holding_side *sides, int status)
{
	const struct run_summary end = {
		.backend = "",
		.exit_status = status,
		.elapsed_ns = clock_now_ns() - working->begun_ns,
		.cpu_ns = working_cpu_ns() - working->begun_cpu_ns,
	};

	for (size_t i = 0; i < working->batch.count; i++) {
		struct target_record *record = working_at(working, i);

		record->outcome = sides[i].outcome;
		record->time = 1; /* it is over */
		working_write(working, &target_fields, record);
		record->outcome = (struct target_outcome){ .runs = 0 };
	}
	working_write(working, &summary_fields, &end);
	working->failed |= fflush(working->out) != 0;
}

/* One batch, in one run. */
static struct error *working_run(struct working *working, int *ret_interrupted)
{
	const struct holding_sink sink = { .context = working,
					   .races = working_races,
					   .crash = working_crash,
					   .note = working_note };
	size_t count = working->batch.count;
	struct holding_side *sides = calloc(count + 1, sizeof(*sides));
	struct session_result result = { .status = 0 };
	struct holding_config config = *working->config;
	struct error *err = sides ? NULL : error_nomem;
	int status = 0;

	working->begun_ns = clock_now_ns();
	working->begun_cpu_ns = working_cpu_ns();
	config.backend = working->backend;
	if (working->limit_ns > 0 &&
	    (config.timeout_ns == 0 || working->limit_ns < config.timeout_ns))
		config.timeout_ns = working->limit_ns;
	for (size_t i = 0; !err && i < count; i++) {
		sides[i].side = &working_at(working, i)->side;
		sides[i].hold_ns = sides[i].side->hold_ns;
	}
	if (!err)
		err = holding_run(&config, sides, count, &sink, &result,
				  &status);
	*ret_interrupted = result.interrupted ? result.interrupted
					      : result.asked;
	if (!err)
		working_tell(working, sides, status);
	for (size_t i = 0; sides && i < count; i++)
		target_outcome_deinit(&sides[i].outcome);
	free(sides);
	return err;
}

static int worker_main(const struct holding_config *config, FILE *in, FILE *out)
{
	struct working working = {
		.config = config,
		.in = in,
		.out = out,
		.batch = VEC_INIT(struct target_record),
	};
	struct error *err = NULL;
	int interrupted = 0;
	bool more = true;

	while (!err && !interrupted && !working.failed) {
		err = working_read(&working, &more);
		if (err || !more)
			break;
		err = working_run(&working, &interrupted);
	}
	working.failed |= err != NULL;
	if (err)
		log_error("%s", error_message(err));
	error_free(err);
	working_clear(&working);
	vec_deinit(&working.batch);
	return working.failed ? EXIT_FAILED : 0;
}

void worker_number(uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	setenv("RACEWATCH_JOB", text, 1);
}

/* What the hunt does with signals is not for its workers. */
static void worker_become(const struct holding_config *config, uint64_t number,
			  int in, int out)
{
	FILE *from, *to;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	worker_number(number);
	from = fdopen(in, "re");
	to = fdopen(out, "we");
	/* exit-allowed: the forked worker ends here */
	_exit(from && to ? worker_main(config, from, to) : EXIT_FAILED);
}

struct error *worker_start(const struct holding_config *config, uint64_t number,
			   struct worker *ret)
{
	int to[2], from[2];

	*ret = (struct worker){ .pid = -1 };
	if (pipe2(to, O_CLOEXEC) < 0)
		return error_os(errno, "make a pipe");
	if (pipe2(from, O_CLOEXEC) < 0) {
		close(to[0]);
		close(to[1]);
		return error_os(errno, "make a pipe");
	}
	ret->pid = fork();
	if (ret->pid == 0) {
		close(to[1]);
		close(from[0]);
		worker_become(config, number, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	ret->to = fdopen(to[1], "we");
	ret->from = fdopen(from[0], "re");
	if (ret->pid < 0 || !ret->to || !ret->from)
		return error_os(errno, "start a worker process");
	return NULL;
}

struct error *worker_send(struct worker *worker, const struct vec *sides,
			  const uint64_t *holds, const char *backend,
			  uint64_t limit_ns)
{
	const struct run_summary end = { .backend = backend,
					 .elapsed_ns = limit_ns };
	struct error *err = NULL;

	for (size_t i = 0; !err && i < sides->count; i++) {
		/* borrowed: what it owns is the side's */
		struct target_record record = {
			.side = **(const struct hunt_side *const *)vec_at(sides,
									  i),
		};

		record.side.hold_ns = holds[i];
		/* of no use there */
		record.side.recorded.address = 0;
		err = fields_write(&target_fields, &record, worker->to);
	}
	if (!err)
		err = fields_write(&summary_fields, &end, worker->to);
	if (!err && fflush(worker->to) != 0)
		err = error_os(errno, "send sides to a worker process");
	worker->busy = !err;
	return err;
}

struct error *worker_receive(struct worker *worker, struct notes *notes,
			     struct report_record *record, bool *ret_more)
{
	bool more = true;
	struct error *err = worker_next(worker->from, notes, record, &more);

	if (!err && !more)
		err = error_create(ERROR_OTHER,
				   "a worker process has ended before its run");
	if (err)
		return err;
	*ret_more = record->type != REPORT_SUMMARY;
	worker->busy = *ret_more;
	return NULL;
}

void worker_end(struct worker *worker, bool now)
{
	int status;

	if (worker->to)
		fclose(worker->to);
	if (now && worker->pid > 0)
		kill(worker->pid, SIGTERM);
	if (worker->from)
		fclose(worker->from);
	while (worker->pid > 0 && waitpid(worker->pid, &status, 0) < 0 &&
	       errno == EINTR)
		;
	*worker = (struct worker){ .pid = -1 };
}

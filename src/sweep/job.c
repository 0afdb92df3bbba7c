/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run of a sweep; see job.h.
 */
#include "sweep/job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/exitstatus.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "sweep/again.h"
#include "sweep/journal.h"
#include "sweep/plan.h"
#include "sweep/statefile.h"
#include "sweep/supervisor.h"
#include "sweep/sweep.h"
#include "sweep/template.h"

/* Bytes that there should be for a run. */
enum { JOB_ROOM = 64 << 10 };

struct job {
	const struct sweep_config *config;
	struct statefile_claim claim;
	char *folder, *out, *err, *report; /* paths */
	char numbers[2][32]; /* of options */
	char **command; /* filled in */
	struct vec argv; /* of char *, borrowed */
	int first; /* in argv: what is not of the sweep alone begins */
	struct supervisor supervisor;
	bool started;
};

/* "FOLDER/NAME"; NULL when out of memory. */
static char *path_in(const char *folder, const char *name)
{
	struct strbuf path = { 0 };

	strbuf_addf(&path, "%s/%s", folder, name);
	return strbuf_steal(&path);
}

void job_add_folder(struct strbuf *out, const char *directory, uint64_t run)
{
	strbuf_addf(out, "%s/run-%06" PRIu64, directory, run);
}

struct error *job_create(const struct sweep_config *config,
			 const struct statefile_claim *claim, struct job **ret)
{
	struct strbuf folder = { 0 };
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return error_nomem;
	job->config = config;
	job->claim = *claim;
	job->claim.lock_fd = -1;
	job->argv = (struct vec)VEC_INIT(char *);
	job_add_folder(&folder, config->directory, claim->run);
	job->folder = strbuf_steal(&folder);
	if (job->folder) {
		job->out = path_in(job->folder, "stdout");
		job->err = path_in(job->folder, "stderr");
		job->report = path_in(job->folder, "report.jsonl");
	}
	if (!job->folder || !job->out || !job->err || !job->report) {
		job_destroy(job);
		return error_nomem;
	}
	job->claim.lock_fd = claim->lock_fd;
	*ret = job;
	return NULL;
}

void job_destroy(struct job *job)
{
	struct supervisor_result result;

	if (job->started) {
		supervisor_stop(&job->supervisor);
		error_free(supervisor_finish(&job->supervisor, &result));
	}
	if (job->claim.lock_fd >= 0)
		close(job->claim.lock_fd);
	vec_deinit(&job->argv);
	free((void *)job->command);
	free(job->folder);
	free(job->out);
	free(job->err);
	free(job->report);
	free(job);
}

int job_fd(const struct job *job)
{
	return job->supervisor.result_fd;
}

void job_stop(struct job *job)
{
	if (job->started)
		supervisor_stop(&job->supervisor);
}

static bool add(struct job *job, const char *word)
{
	return vec_push(&job->argv, &word);
}

static bool add_number(struct job *job, int which, const char *option,
		       uint64_t n, const char *unit)
{
	snprintf(job->numbers[which], sizeof(job->numbers[which]),
		 "%" PRIu64 "%s", n, unit);
	return add(job, option) && add(job, job->numbers[which]);
}

/* racewatch run -q --seed ... -- COMMAND */
static bool fill_argv(struct job *job)
{
	const struct sweep_config *config = job->config;
	bool good = add(job, "racewatch") && add(job, "run") &&
		    add(job, "--quiet") && add(job, "--error-exitcode") &&
		    add(job, "0") && add(job, "--output") &&
		    add(job, job->report);

	job->first = (int)job->argv.count;
	good = good && add_number(job, 0, "--seed", job->claim.seed, "");
	for (const char *const *word = job->claim.entry->words; good && *word;
	     word++)
		good = add(job, *word);
	if (config->timeout_ns)
		good = good && add_number(job, 1, "--timeout",
					  config->timeout_ns, "ns");
	for (size_t i = 0; good && i < config->options.count; i++)
		good = add(job, *(char **)vec_at(&config->options, i));
	good = good && add(job, "--");
	for (size_t i = 0; good && job->command[i]; i++)
		good = add(job, job->command[i]);
	return good && add(job, NULL);
}

/* Empty, but for what the command itself may have put there. */
static struct error *make_folder(const struct job *job)
{
	if (mkdir(job->folder, 0777) < 0 && errno != EEXIST)
		return error_os(errno, "%s", job->folder);
	if (unlink(job->report) < 0 && errno != ENOENT)
		return error_os(errno, "%s", job->report);
	return NULL;
}

/*
 * For some output and a report. A run that a full disk spoils is no run, so
 * that it is looked for before and, if anything was wrong, after it.
 */
static struct error *check_room(const struct job *job)
{
	char *path = path_in(job->folder, "room");
	struct error *err = NULL;
	int fd;

	if (!path)
		return error_nomem;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		err = error_os(errno, "%s", path);
	else if (fallocate(fd, 0, 0, JOB_ROOM) < 0 &&
		 (errno == ENOSPC || errno == EDQUOT))
		err = error_os(errno, "no room for run %" PRIu64 " in %s",
			       job->claim.run, job->folder);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	free(path);
	return err;
}

static struct error *job_write_again(const struct job *job)
{
	const struct again again = {
		.folder = job->folder,
		.argv = job->argv.items,
		.first = job->first,
		.run = job->claim.run,
		.seed = job->claim.seed,
	};

	return again_write(&again);
}

void job_forget_again(const struct job *job)
{
	again_forget(job->folder);
}

struct error *job_start(struct job *job,
			const struct supervisor_inherit *inherit)
{
	const struct sweep_config *config = job->config;
	struct supervisor_config supervisor = {
		.program = config->program,
		.out_path = job->out,
		.err_path = job->err,
		.output_limit = config->output_limit,
		.timeout_ns = config->timeout_ns,
		.run = job->claim.run,
		.seed = job->claim.seed,
		.lock_fd = job->claim.lock_fd,
		.inherit = inherit,
	};
	struct error *err = make_folder(job);

	if (!err)
		err = check_room(job);
	if (!err)
		err = template_fill(config->command, job->claim.seed,
				    job->claim.run, &job->command);
	if (!err && !fill_argv(job))
		err = error_nomem;
	if (!err)
		err = job_write_again(job);
	if (err)
		return err;
	supervisor.argv = job->argv.items;
	err = supervisor_start(&supervisor, &job->supervisor);
	job->started = !err;
	return err;
}

static void fill_record(const struct job *job, struct journal_record *record)
{
	record->type = JOURNAL_DONE;
	record->run = job->claim.run;
	record->seed = job->claim.seed;
	snprintf(record->plan, sizeof(record->plan), "%s",
		 job->claim.entry->name);
	/* as a path from anywhere: who shares the state may be elsewhere */
	record->directory = realpath(job->folder, NULL);
}

struct error *job_left_over(struct job *job, struct journal_record *record,
			    bool *ret_any)
{
	struct error *err = findings_read(&record->findings, job->report,
					  job->config->ignore_unlikely);

	*ret_any = false;
	if (err && err->kind == ERROR_FORMAT) {
		log_warn("%s: done again", error_message(err));
		error_free(err);
		return NULL;
	}
	if (err)
		return err;
	fill_record(job, record);
	record->outcome.kind = OUTCOME_CUT;
	*ret_any = record->findings.races.count > 0;
	return NULL;
}

/* The last thing that racewatch said was wrong, from the end of a file. */
static char *last_error(const char *path)
{
	static const char words[] = "racewatch: error: ";
	char text[4096];
	char *found = NULL, *next = text;
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		off_t size = lseek(fd, 0, SEEK_END);
		off_t room = (off_t)sizeof(text) - 1;

		n = pread(fd, text, sizeof(text) - 1,
			  size > room ? size - room : 0);
		close(fd);
	}
	if (n < 0)
		return NULL;
	text[n] = '\0';
	while ((next = strstr(next, words))) {
		next += strlen(words);
		found = next;
	}
	return found ? strndup(found, strcspn(found, "\n")) : NULL;
}

/* A report that is none is noted: that is no reason to end the sweep. */
static struct error *read_report(const struct job *job,
				 struct journal_record *record)
{
	struct error *err = findings_read(&record->findings, job->report,
					  job->config->ignore_unlikely);

	if (err && err->kind == ERROR_FORMAT) {
		if (!record->note)
			record->note = strdup(error_message(err));
		error_free(err);
		err = NULL;
	}
	return err;
}

static struct error *take_result(const struct job *job,
				 const struct supervisor_result *result,
				 struct journal_record *record)
{
	struct error *err = read_report(job, record);

	if (err)
		return err;
	fill_record(job, record);
	record->elapsed_ns = result->elapsed_ns;
	record->outcome = outcome_of(result, &record->findings);
	if (!record->note && (record->outcome.kind == OUTCOME_BROKEN ||
			      record->outcome.kind == OUTCOME_NOT_STARTED))
		record->note = last_error(job->err);
	if (!record->note && result->write_error)
		record->note = strdup(strerror(result->write_error));
	if (!record->note && result->names[0])
		record->note = strdup(result->names);
	if ((record->outcome.kind == OUTCOME_BROKEN ||
	     record->outcome.output_lost) &&
	    record->findings.races.count == 0)
		return check_room(job);
	return NULL;
}

struct error *job_finish(struct job *job, struct journal_record *record)
{
	struct supervisor_result result = { .status = 0 };
	struct error *err = supervisor_finish(&job->supervisor, &result);

	job->started = false;
	if (err) {
		/* its supervisor was killed: so was the run */
		fill_record(job, record);
		record->outcome.kind = OUTCOME_BROKEN;
		record->outcome.status = EXIT_FAILED;
		record->note = strdup(error_message(err));
		error_free(err);
		return read_report(job, record);
	}
	return take_result(job, &result, record);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state file; see statefile.h.
 */
#include "sweep/statefile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "sweep/journal.h"
#include "sweep/ledger.h"
#include "sweep/plan.h"

/* Where the locks are: no file of lines is that long. */
static const off_t STATE_LOCKS = (off_t)1 << 60;

enum {
	STATE_READ = 64 << 10,
	/* more than a record takes, but for very many races */
	STATE_RESERVE = 256 << 10,
	/* bad lines that are named */
	STATE_NAMED = 5,
};

struct statefile {
	int fd;
	char *path;
	struct ledger *ledger;
	uint64_t seed;
	off_t offset; /* read so far: the start of a line */
	uint64_t line, bad;
	/* from this limit on, all runs below `unclaimed' are claimed */
	uint64_t first_run, unclaimed;
	char worker[HOST_NAME_MAX + 24];
};

static struct error *statefile_failed(const struct statefile *state,
				      struct error *err)
{
	return error_wrap(err, "%s", state->path);
}

static struct error *lock_byte(int fd, short type, off_t byte, bool wait,
			       bool *ret_locked)
{
	struct flock lock = {
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = STATE_LOCKS + byte,
		.l_len = 1,
	};

	*ret_locked = true;
	while (fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) < 0) {
		if (errno == EINTR)
			continue;
		*ret_locked = false;
		if (!wait && (errno == EAGAIN || errno == EACCES))
			return NULL;
		return error_os(errno, "lock");
	}
	return NULL;
}

static struct error *statefile_lock(struct statefile *state)
{
	bool locked;

	return lock_byte(state->fd, F_WRLCK, 0, true, &locked);
}

static void statefile_unlock(struct statefile *state)
{
	bool unlocked;

	error_free(lock_byte(state->fd, F_UNLCK, 0, false, &unlocked));
}

static void bad_line(struct statefile *state, const struct error *err)
{
	state->bad++;
	if (state->bad <= STATE_NAMED)
		log_warn("%s:%llu: %s: passed over", state->path,
			 (unsigned long long)state->line, error_message(err));
	else if (state->bad == STATE_NAMED + 1)
		log_warn("%s: more such lines are not named", state->path);
}

static struct error *take_line(struct statefile *state, const char *line,
			       size_t length)
{
	struct journal_record record;
	struct error *err;

	state->line++;
	journal_record_init(&record);
	err = journal_parse(line, length, &record);
	if (err && err->kind == ERROR_FORMAT) {
		bad_line(state, err);
		error_free(err);
		err = NULL;
	} else if (!err) {
		err = ledger_take(state->ledger, &record);
	}
	journal_record_deinit(&record);
	return err;
}

/* Read whole lines from where reading ended before; under the lock. */
static struct error *read_on(struct statefile *state)
{
	struct strbuf text = { 0 };
	struct error *err = NULL;
	size_t begin = 0;

	while (!err) {
		char bytes[STATE_READ];
		ssize_t n = pread(state->fd, bytes, sizeof(bytes),
				  state->offset + (off_t)text.length);
		const char *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = error_os(errno, "read");
		if (n <= 0)
			break;
		strbuf_add_bytes(&text, bytes, (size_t)n);
		if (text.failed)
			err = error_nomem;
		while (!err && (end = memchr(text.text + begin, '\n',
					     text.length - begin))) {
			size_t length = (size_t)(end - text.text) - begin;

			err = take_line(state, text.text + begin, length);
			begin += length + 1;
		}
	}
	state->offset += (off_t)begin;
	strbuf_deinit(&text);
	return err;
}

/* What is not written whole is taken back: a full disk leaves no torn line. */
static struct error *write_whole(const struct statefile *state, off_t size,
				 const char *text, size_t length)
{
	size_t done = 0;
	int code = 0;

	while (done < length && !code) {
		ssize_t n = write(state->fd, text + done, length - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			code = n == 0 ? ENOSPC : errno;
	}
	if (!code && fdatasync(state->fd) < 0 && errno != EINVAL &&
	    errno != EROFS)
		code = errno;
	if (!code)
		return NULL;
	if (done < length && ftruncate(state->fd, size) < 0)
		log_debug(LOG_REPORT, "%s: not cut back", state->path);
	return error_os(code, "write the state");
}

/*
 * Append the record. A line that somebody was killed in the middle of is ended
 * first: it is bad, what follows is not.
 */
static struct error *append(struct statefile *state,
			    const struct journal_record *record)
{
	struct strbuf line = { 0 };
	struct stat status;
	struct error *err = NULL;
	char last = '\n';

	if (fstat(state->fd, &status) < 0)
		return error_os(errno, "stat");
	if (status.st_size > 0 &&
	    pread(state->fd, &last, 1, status.st_size - 1) < 0)
		return error_os(errno, "read");
	if (last != '\n')
		strbuf_add(&line, "\n");
	err = journal_write(record, &line);
	if (!err)
		err = write_whole(state, status.st_size, line.text,
				  line.length);
	strbuf_deinit(&line);
	return err;
}

/* Is the word of a record the given one, as it is written there? */
static bool same_word(const char *written, const char *given)
{
	struct strbuf text = { 0 };
	bool same;

	utf8_add(&text, given);
	same = !text.failed && strcmp(written, strbuf_text(&text)) == 0;
	strbuf_deinit(&text);
	return same;
}

static bool same_command(char *const *written, char *const *given)
{
	while (written && *written && *given && same_word(*written, *given)) {
		written++;
		given++;
	}
	return written && !*written && !*given;
}

static struct error *check_header(const struct journal_record *found,
				  const struct journal_record *wanted)
{
	if (found->type != JOURNAL_SWEEP)
		return error_create(ERROR_USAGE, "is no state file of a sweep");
	if (!same_command(found->command, wanted->command))
		return error_create(ERROR_USAGE,
				    "is of another command (%s ...); use "
				    "another directory",
				    found->command && found->command[0]
					    ? found->command[0]
					    : "none");
	if (found->seed != wanted->seed)
		return error_create(ERROR_USAGE,
				    "was begun with --seed %llu; use another "
				    "directory",
				    (unsigned long long)found->seed);
	return NULL;
}

/* The first line without its newline; *ret_whole: it has one. */
static struct error *read_first_line(const struct statefile *state,
				     struct strbuf *line, bool *ret_whole)
{
	*ret_whole = false;
	while (!*ret_whole) {
		char bytes[STATE_READ];
		ssize_t n = pread(state->fd, bytes, sizeof(bytes),
				  (off_t)line->length);
		const char *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_os(errno, "read");
		if (n == 0)
			break;
		end = memchr(bytes, '\n', (size_t)n);
		strbuf_add_bytes(line, bytes,
				 end ? (size_t)(end - bytes) : (size_t)n);
		*ret_whole = end;
	}
	return line->failed ? error_nomem : NULL;
}

/*
 * *ret_any: there is a first line, and it is as wanted. One that was cut short
 * is of a sweep that was killed as it began: nothing is lost with it.
 */
static struct error *read_header(struct statefile *state,
				 const struct journal_record *wanted,
				 bool *ret_any)
{
	struct strbuf line = { 0 };
	struct journal_record found;
	bool whole;
	struct error *err = read_first_line(state, &line, &whole);

	journal_record_init(&found);
	*ret_any = line.length > 0;
	if (!err && *ret_any)
		err = journal_parse(line.text, line.length, &found);
	if (err && err->kind == ERROR_FORMAT && !whole &&
	    strbuf_text(&line)[0] == '{' && ftruncate(state->fd, 0) == 0) {
		*ret_any = false;
		error_free(err);
		err = NULL;
	} else if (err && err->kind == ERROR_FORMAT) {
		err = error_wrap(err, "is no state file of a sweep");
		err->kind = ERROR_USAGE;
	} else if (!err && *ret_any) {
		err = check_header(&found, wanted);
	}
	journal_record_deinit(&found);
	strbuf_deinit(&line);
	return err;
}

static struct error *begin(struct statefile *state,
			   const struct journal_record *header)
{
	bool any = false;
	struct stat status;
	struct error *err;

	/* what a device takes is not there to be read */
	if (fstat(state->fd, &status) < 0)
		return error_os(errno, "stat");
	if (!S_ISREG(status.st_mode))
		return error_create(ERROR_USAGE, "is no regular file");
	err = statefile_lock(state);

	if (err)
		return err;
	err = read_header(state, header, &any);
	if (!err && !any)
		err = append(state, header);
	if (!err)
		err = read_on(state);
	statefile_unlock(state);
	return err;
}

static void name_worker(struct statefile *state)
{
	char host[HOST_NAME_MAX + 1] = "";

	if (gethostname(host, sizeof(host)) < 0 || host[sizeof(host) - 1])
		host[0] = '\0';
	snprintf(state->worker, sizeof(state->worker), "%s:%d", host,
		 (int)getpid());
}

struct error *statefile_open(const char *path,
			     const struct journal_record *header,
			     struct ledger *ledger, struct statefile **ret)
{
	struct statefile *state = calloc(1, sizeof(*state));
	struct error *err;

	if (!state)
		return error_nomem;
	state->ledger = ledger;
	state->seed = header->seed;
	name_worker(state);
	state->path = strdup(path);
	state->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (!state->path)
		err = error_nomem;
	else if (state->fd < 0)
		err = error_os(errno, "%s", path);
	else
		err = statefile_failed(state, begin(state, header));
	if (err)
		statefile_close(state);
	else
		*ret = state;
	return err;
}

void statefile_close(struct statefile *state)
{
	if (!state)
		return;
	if (state->fd >= 0)
		close(state->fd);
	free(state->path);
	free(state);
}

struct error *statefile_refresh(struct statefile *state)
{
	struct error *err = statefile_lock(state);

	if (err)
		return statefile_failed(state, err);
	err = read_on(state);
	statefile_unlock(state);
	return statefile_failed(state, err);
}

bool statefile_within(const struct statefile_limits *limits, uint64_t run)
{
	return run >= limits->first_run &&
	       (limits->runs == 0 || run - limits->first_run < limits->runs);
}

/* Lock a run that was claimed and not done, if nobody works on it. */
static struct error *find_given_up(const struct statefile *state,
				   const struct statefile_limits *limits,
				   int lock_fd, uint64_t *ret_run,
				   bool *ret_any)
{
	const struct vec *runs = &state->ledger->runs;

	for (size_t i = 0; i < runs->count; i++) {
		const struct ledger_run *run = vec_at(runs, i);
		struct error *err;

		if (run->finished || !statefile_within(limits, run->number))
			continue;
		err = lock_byte(lock_fd, F_WRLCK, (off_t)run->number, false,
				ret_any);
		*ret_run = run->number;
		if (err || *ret_any)
			return err;
	}
	*ret_any = false;
	return NULL;
}

/*
 * The lowest number within the limits that nobody has claimed. Others may have
 * begun with another number, so that what is claimed may have gaps.
 */
static struct error *find_new(struct statefile *state,
			      const struct statefile_limits *limits,
			      int lock_fd, uint64_t *ret_run, bool *ret_any)
{
	if (state->first_run != limits->first_run)
		state->unclaimed = state->first_run = limits->first_run;
	while (ledger_run(state->ledger, state->unclaimed))
		state->unclaimed++;
	*ret_any = false;
	for (uint64_t run = state->unclaimed;
	     statefile_within(limits, run) && !*ret_any; run++) {
		struct error *err;

		if (ledger_run(state->ledger, run))
			continue;
		*ret_run = run;
		err = lock_byte(lock_fd, F_WRLCK, (off_t)run, false, ret_any);
		if (err)
			return err;
	}
	return NULL;
}

/*
 * So that the end of the run can be written whatever fills the disk meanwhile.
 * Not every file system can: then it may turn out later.
 */
static struct error *reserve(const struct statefile *state)
{
	struct stat status;

	if (fstat(state->fd, &status) == 0 &&
	    fallocate(state->fd, FALLOC_FL_KEEP_SIZE, status.st_size,
		      STATE_RESERVE) < 0 &&
	    (errno == ENOSPC || errno == EDQUOT))
		return error_os(errno, "no room for the state");
	return NULL;
}

/* A run that is done again is done as it was begun, if the plan has that. */
static const struct plan_entry *
choose_entry(const struct statefile *state, const struct statefile_claim *claim)
{
	struct plan *plan = state->ledger->plan;
	const struct ledger_run *before = ledger_run(state->ledger, claim->run);
	const struct plan_entry *entry = NULL;

	if (before)
		entry = plan_find(plan, before->plan);
	return entry ? entry : &plan->entries[plan_choose(plan, claim->run)];
}

static struct error *write_claim(struct statefile *state,
				 struct statefile_claim *claim)
{
	const struct plan_entry *entry = choose_entry(state, claim);
	struct journal_record record;
	struct error *err;

	claim->seed = state->seed + claim->run;
	claim->rate = entry->rate;
	claim->stall_ns = entry->stall_ns;
	claim->policy = entry->policy;
	claim->plan = entry->name;
	journal_record_init(&record);
	record.type = JOURNAL_CLAIM;
	record.time = clock_wall_ns();
	record.run = claim->run;
	record.seed = claim->seed;
	memcpy(record.plan, entry->name, sizeof(record.plan));
	record.worker = strdup(state->worker);
	err = reserve(state);
	if (!err)
		err = append(state, &record);
	if (!err)
		err = read_on(state);
	journal_record_deinit(&record);
	return err;
}

static struct error *claim_locked(struct statefile *state,
				  const struct statefile_limits *limits,
				  struct statefile_claim *claim, bool *ret_any)
{
	struct error *err = read_on(state);

	if (!err)
		err = find_given_up(state, limits, claim->lock_fd, &claim->run,
				    ret_any);
	claim->again = !err && *ret_any;
	if (!err && !*ret_any)
		err = find_new(state, limits, claim->lock_fd, &claim->run,
			       ret_any);
	if (!err && *ret_any)
		err = write_claim(state, claim);
	return err;
}

struct error *statefile_claim(struct statefile *state,
			      const struct statefile_limits *limits,
			      struct statefile_claim *ret, bool *ret_any)
{
	struct statefile_claim claim = { .run = 0 };
	struct error *err;
	bool any = false;

	claim.lock_fd = open(state->path, O_RDWR | O_CLOEXEC);
	if (claim.lock_fd < 0)
		return error_os(errno, "%s", state->path);
	err = statefile_lock(state);
	if (!err) {
		err = claim_locked(state, limits, &claim, &any);
		statefile_unlock(state);
	}
	if (err || !any)
		close(claim.lock_fd);
	if (!err && any)
		*ret = claim;
	if (!err)
		*ret_any = any;
	return statefile_failed(state, err);
}

struct error *statefile_finish(struct statefile *state,
			       struct journal_record *record)
{
	struct error *err = statefile_lock(state);

	if (err)
		return statefile_failed(state, err);
	free(record->worker);
	record->worker = strdup(state->worker);
	err = read_on(state);
	if (!err)
		err = append(state, record);
	if (!err)
		err = read_on(state);
	statefile_unlock(state);
	return statefile_failed(state, err);
}

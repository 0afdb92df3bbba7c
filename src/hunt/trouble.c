/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What Valgrind could not run; see trouble.h.
 */
#include "hunt/trouble.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "hunt/trace-file.h"

enum { TROUBLE_LINES = 10000 };

/* What Valgrind 3.19 writes when it cannot go on, or answers with ENOSYS. */
static const char *const trouble_signs[] = {
	"default action of signal 4 (SIGILL)",
	"unhandled amd64-linux syscall",
	"unhandled instruction bytes",
	"nsupported clone() flags",
	"Valgrind cannot continue",
	"the 'impossible' happened",
};

enum { TROUBLE_SIGNS = sizeof(trouble_signs) / sizeof(*trouble_signs) };

/* Of a line that has a sign, what is behind its "==PID== " and "--PID-- ". */
static char *sign_of(const char *line)
{
	const char *text = line;

	for (int i = 0; i < TROUBLE_SIGNS; i++) {
		if (!strstr(line, trouble_signs[i]))
			continue;
		if (line[0] && line[0] == line[1] && strchr(line, ' '))
			text = strchr(line, ' ') + 1;
		return strndup(text, strcspn(text, "\n"));
	}
	return NULL;
}

static char *log_trouble(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "re");
	char line[512], *found = NULL;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	for (int i = 0;
	     !found && i < TROUBLE_LINES && fgets(line, sizeof(line), file);
	     i++)
		found = sign_of(line);
	fclose(file);
	return found;
}

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* What is looked for in the traces and logs of a folder. */
struct looking {
	/* called for each trace; NULL: it is looked for in the logs */
	struct error *(*trace)(struct trace_file *trace,
			       struct looking *looking);
	bool first; /* the first reason ends it */
	bool threads; /* some process had several */
	char *reason; /* what was found; NULL: nothing so far */
};

static struct error *look_at_trouble(struct trace_file *trace,
				     struct looking *looking)
{
	struct trace_item item;
	struct error *err;

	do {
		err = trace_file_next(trace, &item);
		if (!err && item.payload && item.type == TRACE_UNABLE &&
		    !looking->reason)
			looking->reason = strdup(item.behind);
	} while (!err && item.payload && !looking->reason);
	return err;
}

/* Has its process executed another program, which the trace does not have? */
static struct error *look_at_programs(struct trace_file *trace,
				      struct looking *looking)
{
	struct trace_item item;
	struct error *err;
	uint32_t last = 0; /* a thread is written again when it ends */

	while (!(err = trace_file_next(trace, &item)) && item.payload) {
		if (item.type == TRACE_THREAD) {
			const struct trace_thread *thread = item.payload;

			looking->threads |= last != 0 && thread->id != last;
			last = thread->id;
		}
		if (item.type == TRACE_UNABLE && !looking->reason &&
		    begins(item.behind, "execve:"))
			looking->reason = strdup(item.behind);
	}
	return err;
}

static struct error *look_at_trace(const char *folder, const char *name,
				   struct looking *looking)
{
	struct trace_file trace;
	struct error *err;
	char *path;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return error_nomem;
	err = trace_file_open(path, &trace);
	free(path);
	if (err)
		return err;
	err = looking->trace(&trace, looking);
	trace_file_close(&trace);
	return err;
}

static struct error *look_at_all(const char *folder, struct looking *looking)
{
	DIR *dir = opendir(folder);
	struct error *err = NULL;
	struct dirent *entry;

	if (!dir)
		return error_os(errno, "read the directory %s", folder);
	while (!err && !(looking->first && looking->reason) &&
	       (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!looking->trace && begins(name, "log."))
			looking->reason = log_trouble(dirfd(dir), name);
		if (looking->trace && begins(name, "trace."))
			err = look_at_trace(folder, name, looking);
	}
	closedir(dir);
	return err;
}

struct error *trouble_find(const char *folder, char **ret)
{
	struct looking looking = { .trace = look_at_trouble, .first = true };
	struct error *err = look_at_all(folder, &looking);

	/* the recorder's own words say more than those of Valgrind */
	if (!err && !looking.reason) {
		looking.trace = NULL;
		err = look_at_all(folder, &looking);
	}
	*ret = looking.reason;
	return err;
}

struct error *trouble_executes(const char *folder, char **ret)
{
	struct looking looking = { .trace = look_at_programs };
	struct error *err = look_at_all(folder, &looking);

	*ret = NULL;
	if (err || looking.threads)
		free(looking.reason);
	else
		*ret = looking.reason;
	return err;
}

static bool is_ours(const struct dirent *entry)
{
	return begins(entry->d_name, "log.") || begins(entry->d_name, "trace.");
}

struct error *trouble_has_files(const char *folder, bool *ret)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	if (!dir)
		return error_os(errno, "read the directory %s", folder);
	*ret = false;
	while (!*ret && (entry = readdir(dir)))
		*ret = is_ours(entry);
	closedir(dir);
	return NULL;
}

struct error *trouble_clear(const char *folder)
{
	DIR *dir = opendir(folder);
	struct error *err = NULL;
	struct dirent *entry;

	if (!dir)
		return error_os(errno, "read the directory %s", folder);
	while (!err && (entry = readdir(dir))) {
		if (is_ours(entry) &&
		    unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			err = error_os(errno, "remove %s/%s", folder,
				       entry->d_name);
	}
	closedir(dir);
	return err;
}

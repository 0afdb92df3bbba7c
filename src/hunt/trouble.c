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

static struct error *trace_trouble(const char *path, char **ret)
{
	struct trace_file trace;
	struct trace_item item;
	struct error *err = trace_file_open(path, &trace);

	if (err)
		return err;
	do {
		err = trace_file_next(&trace, &item);
		if (!err && item.payload && item.type == TRACE_UNABLE)
			*ret = strdup(item.behind);
	} while (!err && item.payload && !*ret);
	trace_file_close(&trace);
	return err;
}

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* Of one file of the folder. */
static struct error *file_trouble(int fd, const char *folder, const char *name,
				  char **ret)
{
	struct error *err;
	char *path;

	if (begins(name, "log."))
		*ret = log_trouble(fd, name);
	if (!begins(name, "trace."))
		return NULL;
	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return error_nomem;
	err = trace_trouble(path, ret);
	free(path);
	return err;
}

struct error *trouble_find(const char *folder, char **ret)
{
	DIR *dir = opendir(folder);
	struct error *err = NULL;
	struct dirent *entry;

	*ret = NULL;
	if (!dir)
		return error_os(errno, "read the directory %s", folder);
	while (!err && !*ret && (entry = readdir(dir)))
		err = file_trouble(dirfd(dir), folder, entry->d_name, ret);
	closedir(dir);
	return err;
}

/*
 * Of one trace: has its process executed another program, which it does not have,
 * and had it one thread until then? Then the trace tells nothing.
 */
static struct error *trace_executes(const char *path, bool *ret_threads,
				    char **ret)
{
	struct trace_file trace;
	struct trace_item item;
	struct error *err = trace_file_open(path, &trace);
	uint32_t first = 0; /* a thread is written again when it ends */

	if (err)
		return err;
	do {
		err = trace_file_next(&trace, &item);
		if (err || !item.payload)
			break;
		if (item.type == TRACE_THREAD) {
			const struct trace_thread *thread = item.payload;

			*ret_threads |= first != 0 && thread->id != first;
			first = thread->id;
		}
		if (item.type == TRACE_UNABLE && !*ret &&
		    begins(item.behind, "execve:"))
			*ret = strdup(item.behind);
	} while (true);
	trace_file_close(&trace);
	return err;
}

struct error *trouble_executes(const char *folder, char **ret)
{
	DIR *dir = opendir(folder);
	struct error *err = NULL;
	struct dirent *entry;
	bool threads = false;

	*ret = NULL;
	if (!dir)
		return error_os(errno, "read the directory %s", folder);
	while (!err && (entry = readdir(dir))) {
		char *path;

		if (!begins(entry->d_name, "trace."))
			continue;
		if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0) {
			err = error_nomem;
			break;
		}
		err = trace_executes(path, &threads, ret);
		free(path);
	}
	closedir(dir);
	if (err || threads) {
		free(*ret);
		*ret = NULL;
	}
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

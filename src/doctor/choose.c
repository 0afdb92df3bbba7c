/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes by what they are; see choose.h.
 */
#include "doctor/choose.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "sys/identity.h"
#include "sys/procfs.h"

#define CGROUP_MOUNT "/sys/fs/cgroup"
#define SERVICE ".service"

/* A process may be in one control group of each controller. */
enum { CGROUP_TEXT = 16384 };

struct error *choice_check(const char *value)
{
	return *value ? NULL : error_create(ERROR_USAGE, "it is empty");
}

bool choice_is_made(const struct choice *choice)
{
	return choice->name || choice->unit || choice->cgroup;
}

static bool is_unit(const char *part, size_t length, const char *unit)
{
	size_t size = strlen(unit);

	if (size == 0 || length < size || strncmp(part, unit, size) != 0)
		return false;
	return length == size ||
	       (!strchr(unit, '.') && length == size + strlen(SERVICE) &&
		strncmp(part + size, SERVICE, strlen(SERVICE)) == 0);
}

static bool has_unit(const char *path, size_t length, const char *unit)
{
	const char *end = path + length;

	while (path < end) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		const char *stop = slash ? slash : end;

		if (is_unit(path, (size_t)(stop - path), unit))
			return true;
		path = stop + 1;
	}
	return false;
}

/* Slashes at both ends of what is asked for do not count. */
static bool is_below(const char *path, size_t length, const char *cgroup)
{
	size_t size;

	if (strncmp(cgroup, CGROUP_MOUNT "/", strlen(CGROUP_MOUNT "/")) == 0)
		cgroup += strlen(CGROUP_MOUNT);
	cgroup += strspn(cgroup, "/");
	for (size = strlen(cgroup); size > 0 && cgroup[size - 1] == '/';)
		size--;
	if (length == 0 || path[0] != '/')
		return false;
	path++;
	length--;
	return size == 0 ||
	       (length >= size && strncmp(path, cgroup, size) == 0 &&
		(length == size || path[size] == '/'));
}

bool choice_has_cgroup(const struct choice *choice, const char *text)
{
	bool unit = !choice->unit, cgroup = !choice->cgroup;

	while (*text) {
		size_t length = strcspn(text, "\n");
		const char *path = memchr(text, ':', length);

		/* "ID:CONTROLLERS:PATH" */
		if (path)
			path = memchr(path + 1, ':',
				      length - (size_t)(path + 1 - text));
		if (path) {
			size_t rest = length - (size_t)(++path - text);

			unit = unit || has_unit(path, rest, choice->unit);
			cgroup = cgroup || is_below(path, rest, choice->cgroup);
		}
		text += length;
		text += *text == '\n';
	}
	return unit && cgroup;
}

static bool has_name(pid_t pid, const char *name, const char *pattern)
{
	char link[32], path[PATH_MAX];
	ssize_t length;

	if (fnmatch(pattern, name, 0) == 0)
		return true;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	return fnmatch(pattern,
		       strrchr(path, '/') ? strrchr(path, '/') + 1 : path,
		       0) == 0;
}

bool choice_matches(const struct choice *choice, int pid)
{
	struct identity identity;
	char text[CGROUP_TEXT];
	struct error *err = identity_read(pid, &identity);

	if (err) {
		error_free(err);
		return false;
	}
	if (identity.kernel || identity.state == 'Z' || identity.state == 'X')
		return false;
	if (choice->name && !has_name(pid, identity.name, choice->name))
		return false;
	if (!choice->unit && !choice->cgroup)
		return true;
	err = procfs_text(pid, "cgroup", text, sizeof(text));
	if (err) {
		error_free(err);
		return false;
	}
	return choice_has_cgroup(choice, text);
}

static int compare(const void *one, const void *two)
{
	const int *a = one, *b = two;

	return (*a > *b) - (*a < *b);
}

static struct error *find_none(const struct choice *choice)
{
	struct strbuf text = { 0 };
	struct error *err;

	if (choice->name)
		strbuf_addf(&text, " --name '%s'", choice->name);
	if (choice->unit)
		strbuf_addf(&text, " --unit '%s'", choice->unit);
	if (choice->cgroup)
		strbuf_addf(&text, " --cgroup '%s'", choice->cgroup);
	err = error_create(ERROR_REFUSED, "no process matches%s",
			   strbuf_text(&text));
	strbuf_deinit(&text);
	return err;
}

struct error *choice_find(const struct choice *choice, struct vec *pids)
{
	cleanup_closedir DIR *dir = opendir("/proc");
	size_t before = pids->count;
	const struct dirent *entry;

	if (!dir)
		return error_os(errno, "cannot read /proc");
	while ((entry = readdir(dir))) {
		int pid = (int)strtol(entry->d_name, NULL, 10);

		if (isdigit((unsigned char)entry->d_name[0]) &&
		    pid != getpid() && choice_matches(choice, pid) &&
		    !vec_push(pids, &pid))
			return error_nomem;
	}
	if (pids->count == before)
		return find_none(choice);
	qsort(vec_at(pids, before), pids->count - before, pids->size, compare);
	return NULL;
}

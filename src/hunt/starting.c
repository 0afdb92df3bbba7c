/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How recorders are started; see starting.h.
 */
#include "hunt/starting.h"

#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

void starting_init(struct starting *starting)
{
	starting->arguments = (struct vec)VEC_INIT(char *);
	starting->environment = (struct vec)VEC_INIT(char *);
}

static void free_texts(struct vec *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(*(char **)vec_at(texts, i));
	vec_deinit(texts);
}

void starting_deinit(struct starting *starting)
{
	free_texts(&starting->arguments);
	free_texts(&starting->environment);
}

static bool add_text(struct vec *texts, const char *name, const char *value)
{
	char *text;

	if (asprintf(&text, "%s%s", name, value) < 0)
		return false;
	if (vec_push(texts, &text))
		return true;
	free(text);
	return false;
}

bool starting_add(struct starting *starting, const char *name,
		  const char *value)
{
	return add_text(&starting->arguments, name, value);
}

/* Whether one of own is of the variable's name. */
static bool is_replaced(const char *const *own, const char *variable)
{
	for (; *own; own++) {
		size_t n = strcspn(*own, "=*");

		if (strncmp(*own, variable, (*own)[n] == '=' ? n + 1 : n) == 0)
			return true;
	}
	return false;
}

bool starting_set(struct starting *starting, const char *const *own)
{
	bool ok = true;

	for (const char *const *at = own; ok && *at; at++) {
		if (strchr(*at, '='))
			ok = add_text(&starting->environment, *at, "");
	}
	for (char **variable = environ; ok && *variable; variable++) {
		if (!is_replaced(own, *variable))
			ok = add_text(&starting->environment, *variable, "");
	}
	return ok;
}

static bool has_file(const char *folder, const char *file)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", folder, file) <
		       (int)sizeof(path) &&
	       access(path, X_OK) == 0;
}

const char *starting_folder(const char *inside, const char *installed,
			    const char *file)
{
	static char folder[PATH_MAX];
	size_t more = strlen(inside) + 1;
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - more);

	while (n > 0) {
		folder[n] = '\0';
		n = strrchr(folder, '/') ? strrchr(folder, '/') - folder : 0;
		memcpy(folder + n, inside, more);
		if (has_file(folder, file))
			return folder;
	}
	return has_file(installed, file) ? installed : NULL;
}

/* Of a command with a slash. */
static struct error *check_path(const char *command)
{
	if (access(command, X_OK) == 0)
		return NULL;
	return access(command, F_OK) == 0
		       ? error_create(ERROR_CANNOT_RUN, "cannot run %s",
				      command)
		       : error_create(ERROR_NOT_FOUND, "%s was not found",
				      command);
}

struct error *starting_find(const char *command, char *ret)
{
	const char *path = getenv("PATH");

	if (strchr(command, '/')) {
		snprintf(ret, PATH_MAX, "%s", command);
		return check_path(command);
	}
	for (const char *at = path ? path : "/bin:/usr/bin"; *at;) {
		size_t n = strcspn(at, ":");

		snprintf(ret, PATH_MAX, "%.*s/%s", (int)n, at, command);
		if (access(ret, X_OK) == 0)
			return NULL;
		at += n + (at[n] == ':');
	}
	return error_create(ERROR_NOT_FOUND, "%s was not found", command);
}

struct error *starting_spawn(struct starting *starting, const char *program,
			     pid_t *ret)
{
	int code;

	if (!vec_append(&starting->arguments) ||
	    !vec_append(&starting->environment))
		return error_nomem;
	code = posix_spawn(ret, program, NULL, NULL, starting->arguments.items,
			   starting->environment.items);
	return code == 0 ? NULL : error_os(code, "start %s", program);
}

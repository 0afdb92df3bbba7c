/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conditions on records of JSON: see select.h. */
#include "select.h"

#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is done with each value at a path; true ends the walk. */
struct visitor {
	bool (*visit)(const json_t *value, void *arg);
	void *arg;
};

static void *must_have(void *pointer)
{
	if (!pointer) {
		fprintf(stderr, "check-report: memory: %s\n", strerror(errno));
		exit(2);
	}
	return pointer;
}

/* The caller's (free()). */
static char *text_of(const json_t *value)
{
	if (json_is_string(value))
		return must_have(strdup(json_string_value(value)));
	return must_have(json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY));
}

static bool walk(const json_t *value, const char *path,
		 const struct visitor *visitor);

/* Every member of an array or an object. */
static bool walk_all(json_t *value, const char *rest,
		     const struct visitor *visitor)
{
	json_t *member;
	const char *key;
	size_t i;

	json_array_foreach(value, i, member)
	{
		if (walk(member, rest, visitor))
			return true;
	}
	json_object_foreach(value, key, member)
	{
		if (walk(member, rest, visitor))
			return true;
	}
	return false;
}

/* Visits each value at path, which may be empty, until one ends the walk. */
static bool walk(const json_t *value, const char *path,
		 const struct visitor *visitor)
{
	size_t length = strcspn(path, ".");
	const char *rest = path + length + (path[length] == '.');
	char key[128];
	json_t *member;

	if (!*path)
		return visitor->visit(value, visitor->arg);
	snprintf(key, sizeof(key), "%.*s", (int)length, path);
	if (!strcmp(key, "*"))
		return walk_all((json_t *)value, rest, visitor);
	member = json_is_array(value)
			 ? json_array_get(value, strtoul(key, NULL, 10))
			 : json_object_get(value, key);
	return member && walk(member, rest, visitor);
}

static bool matches_glob(const json_t *value, void *arg)
{
	char *text = text_of(value);
	bool matches = fnmatch(arg, text, 0) == 0;

	free(text);
	return matches;
}

static bool meets(const json_t *record, const char *condition)
{
	const char *equals = strchr(condition, '=');
	bool negated = equals > condition && equals[-1] == '!';
	struct visitor visitor = { matches_glob, (void *)(equals + 1) };
	char *path;
	bool met;

	if (!equals || equals - negated == condition) {
		fprintf(stderr, "check-report: no condition: %s\n", condition);
		exit(2);
	}
	path = must_have(
		strndup(condition, (size_t)(equals - condition) - negated));
	met = walk(record, path, &visitor) != negated;
	free(path);
	return met;
}

static bool print_value(const json_t *value, void *arg)
{
	unsigned int *count = arg;
	char *text = text_of(value);

	printf("%s%s", *count ? "," : "", text);
	(*count)++;
	free(text);
	return false;
}

static void print_record(const json_t *record, const char *print)
{
	char *copy = must_have(strdup(print)), *save = NULL;
	bool first = true;

	for (char *path = strtok_r(copy, " ", &save); path;
	     path = strtok_r(NULL, " ", &save)) {
		unsigned int count = 0;
		struct visitor visitor = { print_value, &count };

		if (!first)
			putchar(' ');
		first = false;
		walk(record, path, &visitor);
		if (!count)
			putchar('-');
	}
	putchar('\n');
	free(copy);
}

static bool take_record(const json_t *record, char *const *conditions,
			const char *print)
{
	for (; *conditions; conditions++)
		if (!meets(record, *conditions))
			return false;
	if (print)
		print_record(record, print);
	return true;
}

/* Its contents with a null byte after them (free()); NULL: not readable. */
static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t size;

	if (!file)
		return NULL;
	/* no file of JSON has a null byte */
	size = getdelim(&text, &room, '\0', file);
	if (size < 0) {
		free(text);
		text = must_have(strdup(""));
	}
	fclose(file);
	return text;
}

unsigned long select_records(const char *path, char *const *conditions,
			     const char *print, bool quiet)
{
	char *text = read_file(path);
	const char *end = text ? text + strlen(text) : NULL;
	unsigned long met = 0;

	if (!text && !quiet)
		fprintf(stderr, "check-report: %s: %s\n", path,
			strerror(errno));
	for (const char *at = text; at && at < end;) {
		json_error_t error;
		json_t *record = json_loadb(at, (size_t)(end - at),
					    JSON_DISABLE_EOF_CHECK, &error);

		if (record) {
			met += take_record(record, conditions, print);
			at += error.position;
			json_decref(record);
		} else {
			at += strcspn(at, "\n");
		}
		at += strspn(at, " \t\r\n");
	}
	free(text);
	return met;
}

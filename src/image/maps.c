/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /proc/PID/maps as data; see maps.h. The text is parsed by hand, strictly:
 * scanf would take signs, blanks and overflowing numbers for valid.
 */
#include "image/maps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"

struct cursor {
	const char *at;
	const char *end;
};

void maps_init(struct maps *maps)
{
	maps->tid = 0;
	maps->entries = (struct vec)VEC_INIT(struct map_entry);
}

void maps_deinit(struct maps *maps)
{
	for (size_t i = 0; i < maps->entries.count; i++) {
		struct map_entry *entry = vec_at(&maps->entries, i);

		free(entry->path);
	}
	vec_deinit(&maps->entries);
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return 16;
}

/* A number in base 10 or 16 (lower case) and the character after it. */
static bool take_number(struct cursor *cursor, uint64_t base, char after,
			uint64_t *ret)
{
	const char *first = cursor->at;
	uint64_t value = 0;

	while (cursor->at < cursor->end) {
		uint64_t digit = (uint64_t)digit_value(*cursor->at);

		if (digit >= base)
			break;
		if (value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
		cursor->at++;
	}
	if (cursor->at == first)
		return false;
	if (after) {
		if (cursor->at == cursor->end || *cursor->at != after)
			return false;
		cursor->at++;
	}
	*ret = value;
	return true;
}

/* "rwxp " */
static bool take_permissions(struct cursor *cursor, struct map_entry *entry)
{
	const char *p = cursor->at;

	if (cursor->end - p < 5 || !strchr("r-", p[0]) || !strchr("w-", p[1]) ||
	    !strchr("x-", p[2]) || !strchr("sp", p[3]) || p[4] != ' ')
		return false;
	if (memchr(p, '\0', 5))
		return false;
	entry->read = p[0] == 'r';
	entry->write = p[1] == 'w';
	entry->exec = p[2] == 'x';
	entry->shared = p[3] == 's';
	cursor->at += 5;
	return true;
}

static bool take_numbers(struct cursor *cursor, struct map_entry *entry)
{
	uint64_t major;
	uint64_t minor;

	if (!take_number(cursor, 16, '-', &entry->start) ||
	    !take_number(cursor, 16, ' ', &entry->end) ||
	    entry->start >= entry->end || !take_permissions(cursor, entry) ||
	    !take_number(cursor, 16, ' ', &entry->offset) ||
	    !take_number(cursor, 16, ':', &major) || major > UINT32_MAX ||
	    !take_number(cursor, 16, ' ', &minor) || minor > UINT32_MAX ||
	    !take_number(cursor, 10, '\0', &entry->inode))
		return false;
	entry->dev_major = (uint32_t)major;
	entry->dev_minor = (uint32_t)minor;
	return cursor->at == cursor->end || *cursor->at == ' ';
}

/* The kernel writes a newline in a path as \012 and nothing else so. */
static void unescape_newlines(char *path)
{
	char *out = path;

	while (*path) {
		if (strncmp(path, "\\012", 4) == 0) {
			*out++ = '\n';
			path += 4;
		} else {
			*out++ = *path++;
		}
	}
	*out = '\0';
}

static bool take_path(struct cursor *cursor, struct map_entry *entry)
{
	static const char mark[] = " (deleted)";
	size_t mark_length = strlen(mark);
	size_t length;

	while (cursor->at < cursor->end && *cursor->at == ' ')
		cursor->at++;
	length = (size_t)(cursor->end - cursor->at);
	entry->path = strndup(cursor->at, length);
	if (!entry->path)
		return false;
	length = strlen(entry->path);
	if (length > mark_length &&
	    strcmp(entry->path + length - mark_length, mark) == 0) {
		entry->path[length - mark_length] = '\0';
		entry->deleted = true;
	}
	unescape_newlines(entry->path);
	return true;
}

static struct error *parse_line(const char *name, struct cursor line,
				struct maps *maps)
{
	struct cursor cursor = line;
	struct map_entry entry = { 0 };
	uint64_t after = 0;

	if (maps->entries.count > 0) {
		const struct map_entry *last =
			vec_at(&maps->entries, maps->entries.count - 1);

		after = last->end;
	}
	if (!take_numbers(&cursor, &entry) || entry.start < after)
		return error_create(ERROR_FORMAT, "%s: malformed line: '%.*s'",
				    name, (int)(line.end - line.at), line.at);
	if (!take_path(&cursor, &entry))
		return error_nomem;
	if (!vec_push(&maps->entries, &entry)) {
		free(entry.path);
		return error_nomem;
	}
	return NULL;
}

struct error *maps_parse(const char *name, const char *text, size_t size,
			 struct maps *ret)
{
	const char *end = text + size;
	struct maps maps;

	maps_init(&maps);
	while (text < end) {
		size_t left = (size_t)(end - text);
		const char *newline = memchr(text, '\n', left);
		struct cursor line = { text, newline ? newline : end };
		struct error *err;

		err = parse_line(name, line, &maps);
		if (err) {
			maps_deinit(&maps);
			return err;
		}
		text = line.end + 1;
		if (!newline)
			break;
	}
	maps_deinit(ret);
	*ret = maps;
	return NULL;
}

static struct error *maps_read_text(const char *path, struct strbuf *text)
{
	char chunk[16384];
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		if (errno == ENOENT || errno == ESRCH)
			return error_gone;
		if (errno == EACCES || errno == EPERM)
			return error_create(
				ERROR_REFUSED,
				"%s: %s (it needs the rights to trace the process)",
				path, strerror(errno));
		return error_os(errno, "%s", path);
	}
	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_os(errno, "%s", path);
		if (n == 0)
			break;
		strbuf_add_bytes(text, chunk, (size_t)n);
	}
	if (text->failed)
		return error_nomem;
	/* a process that exited, not yet reaped, has no mappings */
	return text->length == 0 ? error_gone : NULL;
}

static struct error *maps_read_of(int tid, struct maps *ret)
{
	struct strbuf text = { 0 };
	struct error *err;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	err = maps_read_text(path, &text);
	if (!err)
		err = maps_parse(path, strbuf_text(&text), text.length, ret);
	if (!err)
		ret->tid = tid;
	strbuf_deinit(&text);
	return err;
}

/* A thread that has exited has no maps any more, though others go on. */
static struct error *maps_read_others(int pid, struct maps *ret)
{
	cleanup_closedir DIR *dir = NULL;
	struct error *err = error_gone;
	const struct dirent *entry;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && err == error_gone && (entry = readdir(dir))) {
		int tid = (int)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && tid != pid)
			err = maps_read_of(tid, ret);
	}
	return err;
}

struct error *maps_read(int pid, struct maps *ret)
{
	struct error *err = maps_read_of(pid, ret);

	return err == error_gone ? maps_read_others(pid, ret) : err;
}

const struct map_entry *maps_find(const struct maps *maps, uint64_t address)
{
	size_t low = 0;
	size_t high = maps->entries.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct map_entry *entry = vec_at(&maps->entries, middle);

		if (address < entry->start)
			high = middle;
		else if (address >= entry->end)
			low = middle + 1;
		else
			return entry;
	}
	return NULL;
}

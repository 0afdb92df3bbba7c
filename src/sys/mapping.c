/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mappings of a process; see mapping.h.
 */
#include "sys/mapping.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "sys/identity.h"

/* Linux 6.11, include/uapi/linux/fs.h; the headers may be older. */
struct mapping_query {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_address;
	uint64_t start;
	uint64_t end;
	uint64_t flags;
	uint64_t page_size;
	uint64_t offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t name_size;
	uint32_t build_id_size;
	uint64_t name_address;
	uint64_t build_id_address;
};

/* Descriptors of a process that are looked at for a userfaultfd. */
enum { MAPPING_FILES_MOST = 4096 };

#define MAPPING_QUERY _IOWR('f', 17, struct mapping_query)

enum {
	/* of query_flags: this one or the next */
	QUERY_COVERING_OR_NEXT = 0x10,
	/* of flags: as enum mapping_access has them */
	QUERY_FLAGS = MAPPING_READ | MAPPING_WRITE | MAPPING_EXECUTE |
		      MAPPING_SHARED,
	MAPPING_NAME = 4096,
};

static bool name_begins(const char *name, const char *start)
{
	return strncmp(name, start, strlen(start)) == 0;
}

/* "": it has no name. */
static void mapping_set_name(struct mapping *mapping, const char *name)
{
	mapping->stack = name_begins(name, "[stack]");
	mapping->secret = name_begins(name, "/secretmem");
	mapping->clock = name_begins(name, "[vvar");
}

void mappings_init(struct mappings *mappings, pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/maps",
		 (int)identity_live_thread(pid));
	mappings->fd = open(path, O_RDONLY | O_CLOEXEC);
	mappings->no_query = false;
}

void mappings_deinit(struct mappings *mappings)
{
	if (mappings->fd >= 0)
		close(mappings->fd);
	mappings->fd = -1;
}

/* As one number. */
static uint64_t mapping_device(unsigned int dev_major, unsigned int dev_minor)
{
	return (uint64_t)dev_major << 32 | dev_minor;
}

bool mapping_parse(const char *line, struct mapping *ret)
{
	unsigned long long start, end, offset, inode;
	unsigned int dev_major, dev_minor;
	char flags[5];
	int name = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end,
		   flags, &offset, &dev_major, &dev_minor, &inode,
		   &name) != 7 ||
	    strlen(flags) != 4 || name == 0)
		return false;
	ret->start = start;
	ret->end = end;
	ret->offset = offset;
	ret->device = mapping_device(dev_major, dev_minor);
	ret->inode = inode;
	ret->access = (flags[0] == 'r' ? MAPPING_READ : 0U) |
		      (flags[1] == 'w' ? MAPPING_WRITE : 0U) |
		      (flags[2] == 'x' ? MAPPING_EXECUTE : 0U) |
		      (flags[3] == 's' ? MAPPING_SHARED : 0U);
	mapping_set_name(ret, line + name);
	return true;
}

/* False with errno: ENOENT is that there is no such mapping. */
static bool mappings_ask(const struct mappings *mappings,
			 struct mapping_query *query, struct mapping *ret)
{
	if (ioctl(mappings->fd, MAPPING_QUERY, query) != 0)
		return false;
	ret->start = query->start;
	ret->end = query->end;
	ret->offset = query->offset;
	ret->device = mapping_device(query->dev_major, query->dev_minor);
	ret->inode = query->inode;
	ret->access = (unsigned int)query->flags & QUERY_FLAGS;
	return true;
}

typedef bool mappings_asker(const struct mappings *mappings, uint64_t address,
			    struct mapping *ret);

static bool mappings_query(const struct mappings *mappings, uint64_t address,
			   struct mapping *ret)
{
	char name[MAPPING_NAME] = "";
	struct mapping_query query = {
		.size = sizeof(query),
		.query_flags = QUERY_COVERING_OR_NEXT,
		.query_address = address,
		.name_size = sizeof(name),
		.name_address = (uintptr_t)name,
	};

	if (!mappings_ask(mappings, &query, ret))
		return false;
	mapping_set_name(ret, query.name_size > 0 ? name : "");
	return true;
}

/* The first from the address on that has this access. */
static bool mappings_next(const struct mappings *mappings, unsigned int access,
			  uint64_t address, struct mapping *ret)
{
	struct mapping_query query = {
		.size = sizeof(query),
		/* the bits of the access are those of the kernel */
		.query_flags = QUERY_COVERING_OR_NEXT | access,
		.query_address = address,
	};

	if (!mappings_ask(mappings, &query, ret))
		return false;
	mapping_set_name(ret, "");
	return true;
}

static bool mappings_query_place(const struct mappings *mappings,
				 uint64_t address, struct mapping *ret)
{
	return mappings_next(mappings, 0, address, ret);
}

/* Does the kernel not know the question? */
static bool mappings_cannot_ask(void)
{
	return errno == ENOTTY || errno == EINVAL;
}

/* The lines of the file. */
static struct error *mappings_read(const struct mappings *mappings,
				   mapping_each *each, void *data)
{
	cleanup_fclose FILE *file = NULL;
	cleanup_free char *line = NULL;
	int copy = fcntl(mappings->fd, F_DUPFD_CLOEXEC, 0);
	struct mapping mapping;
	size_t size = 0;

	if (copy < 0)
		return error_os(errno, "read mappings");
	file = fdopen(copy, "r");
	if (!file) {
		close(copy);
		return error_os(errno, "read mappings");
	}
	rewind(file);
	while (getline(&line, &size, file) > 0) {
		if (mapping_parse(line, &mapping) && !each(data, &mapping))
			return NULL;
	}
	return ferror(file) ? error_os(EIO, "read mappings") : NULL;
}

static struct error *mappings_unopened(void)
{
	return error_create(ERROR_REFUSED,
			    "/proc/PID/maps could not be opened");
}

struct mapping_search {
	uint64_t address;
	struct mapping *ret;
	bool found;
};

static bool search_each(void *data, const struct mapping *mapping)
{
	struct mapping_search *search = data;

	search->found = mapping->end > search->address;
	if (search->found)
		*search->ret = *mapping;
	return !search->found;
}

static struct error *mappings_look(struct mappings *mappings, uint64_t address,
				   mappings_asker *ask, struct mapping *ret,
				   bool *ret_found)
{
	struct mapping_search search = { .address = address, .ret = ret };
	struct error *err;

	if (mappings->fd < 0)
		return mappings_unopened();
	if (!mappings->no_query) {
		if (ask(mappings, address, ret)) {
			*ret_found = true;
			return NULL;
		}
		if (errno == ESRCH)
			return error_gone;
		if (errno == ENOENT) {
			*ret_found = false;
			return NULL;
		}
		mappings->no_query = mappings_cannot_ask();
	}
	err = mappings_read(mappings, search_each, &search);
	*ret_found = search.found;
	return err;
}

struct error *mappings_find(struct mappings *mappings, uint64_t address,
			    struct mapping *ret, bool *ret_found)
{
	return mappings_look(mappings, address, mappings_query, ret, ret_found);
}

struct error *mappings_find_place(struct mappings *mappings, uint64_t address,
				  struct mapping *ret, bool *ret_found)
{
	return mappings_look(mappings, address, mappings_query_place, ret,
			     ret_found);
}

struct mapping_filter {
	unsigned int access;
	mapping_each *each;
	void *data;
};

static bool filter_each(void *data, const struct mapping *mapping)
{
	const struct mapping_filter *filter = data;

	return (mapping->access & filter->access) != filter->access ||
	       filter->each(filter->data, mapping);
}

struct error *mappings_walk(struct mappings *mappings, unsigned int access,
			    mapping_each *each, void *data)
{
	struct mapping_filter filter = { access, each, data };
	struct mapping mapping = { .end = 0 };

	if (mappings->fd < 0)
		return mappings_unopened();
	while (!mappings->no_query) {
		if (mappings_next(mappings, access, mapping.end, &mapping)) {
			if (!each(data, &mapping))
				return NULL;
			continue;
		}
		if (errno == ENOENT)
			return NULL;
		if (!mappings_cannot_ask())
			return errno == ESRCH
				       ? error_gone
				       : error_os(errno, "read mappings");
		mappings->no_query = true;
	}
	return mappings_read(mappings, filter_each, &filter);
}

bool mapping_may_be_userfaultfd(pid_t pid, const struct mapping *mapping)
{
	static const char wanted[] = "anon_inode:[userfaultfd]";
	cleanup_closedir DIR *files = NULL;
	char path[32], target[sizeof(wanted)];
	int left = MAPPING_FILES_MOST;
	struct dirent *entry;

	if (mapping->inode != 0 && !(mapping->access & MAPPING_SHARED))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd",
		 (int)identity_live_thread(pid));
	files = opendir(path);
	while (files && left-- > 0 && (entry = readdir(files))) {
		ssize_t length = readlinkat(dirfd(files), entry->d_name, target,
					    sizeof(target));

		if (length == (ssize_t)strlen(wanted) &&
		    memcmp(target, wanted, strlen(wanted)) == 0)
			return true;
	}
	return false;
}

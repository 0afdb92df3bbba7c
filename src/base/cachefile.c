/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that save work; see cachefile.h.
 */
#include "base/cachefile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/vec.h"

/* What each begins with; only this machine reads it. */
struct header {
	char magic[8];
	char version[32]; /* of racewatch */
	uint32_t format, unused;
	uint64_t size; /* of what follows */
	uint64_t checksum;
};

static void header_init(struct header *header, uint32_t format,
			const void *bytes, size_t size)
{
	memset(header, 0, sizeof(*header));
	memcpy(header->magic, "RWCACHE\n", sizeof(header->magic));
	snprintf(header->version, sizeof(header->version), "%s",
		 PACKAGE_VERSION);
	header->format = format;
	header->size = size;
	header->checksum = hash_blocks(bytes, size);
}

/* The folder of caches, as the XDG Base Directory Specification has it. */
static char *caches_path(void)
{
	const char *mode = getenv("RACEWATCH_CACHE");
	const char *caches = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *path;

	if (mode && strcmp(mode, "off") == 0)
		return NULL;
	if (caches && caches[0] == '/')
		return strdup(caches);
	if (!home || home[0] != '/' || asprintf(&path, "%s/.cache", home) < 0)
		return NULL;
	return path;
}

static bool is_ours(const struct stat *status)
{
	return status->st_uid == geteuid() &&
	       (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/*
 * The folder of caches, which is made where its own folder is ours: root with
 * the HOME of somebody else (sudo(8)) leaves nothing there.
 */
static int open_caches(bool create)
{
	cleanup_free char *path = caches_path();
	cleanup_free char *copy = path ? strdup(path) : NULL;
	struct stat status;
	int fd;

	if (!copy)
		return -1;
	if (create && access(path, F_OK) < 0 &&
	    stat(dirname(copy), &status) == 0 && status.st_uid == geteuid() &&
	    mkdir(path, 0700) < 0 && errno != EEXIST)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &status) < 0 || status.st_uid != geteuid())) {
		close(fd);
		return -1;
	}
	return fd;
}

static int open_folder(bool create)
{
	cleanup_close int caches = open_caches(create);
	struct stat status;
	int fd;

	if (caches < 0)
		return -1;
	if (create && mkdirat(caches, "racewatch", 0700) < 0 && errno != EEXIST)
		return -1;
	fd = openat(caches, "racewatch",
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &status) < 0 || !is_ours(&status))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Is it a whole file of ours, as far as its size tells? */
static bool has_size(int fd, size_t *ret_size)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    !is_ours(&status) ||
	    status.st_size < (off_t)sizeof(struct header) ||
	    status.st_size > (off_t)(CACHEFILE_MAX + sizeof(struct header)))
		return false;
	*ret_size = (size_t)status.st_size - sizeof(struct header);
	return true;
}

/* What follows the header; NULL if that is not all as it was written. */
static void *read_whole(int fd, uint32_t format, size_t size)
{
	cleanup_free uint8_t *bytes = malloc(size + 1);
	struct header header, wanted;
	uint8_t *whole;

	if (!bytes ||
	    read(fd, &header, sizeof(header)) != (ssize_t)sizeof(header) ||
	    read(fd, bytes, size) != (ssize_t)size)
		return NULL;
	header_init(&wanted, format, bytes, size);
	if (memcmp(&header, &wanted, sizeof(header)) != 0)
		return NULL;
	whole = bytes;
	bytes = NULL;
	return whole;
}

/* -1: there is none. */
static int open_file(const char *name)
{
	cleanup_close int folder = open_folder(false);

	return folder < 0
		       ? -1
		       : openat(folder, name,
				O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static void log_damaged(const char *name)
{
	log_debug(LOG_IMAGE, "cache: %s is damaged or of another version",
		  name);
}

bool cachefile_read(const char *name, uint32_t format, void **ret,
		    size_t *ret_size)
{
	cleanup_close int fd = open_file(name);
	size_t size;
	void *bytes;

	if (fd < 0 || !has_size(fd, &size))
		return false;
	bytes = read_whole(fd, format, size);
	if (!bytes) {
		log_damaged(name);
		return false;
	}
	*ret = bytes;
	*ret_size = size;
	return true;
}

bool cachefile_map(const char *name, uint32_t format, struct cachefile_map *ret)
{
	cleanup_close int fd = open_file(name);
	struct header wanted;
	size_t size;

	if (fd < 0 || !has_size(fd, &size))
		return false;
	ret->mapping = mmap(NULL, sizeof(wanted) + size, PROT_READ,
			    MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (ret->mapping == MAP_FAILED)
		return false;
	ret->bytes = (const uint8_t *)ret->mapping + sizeof(wanted);
	ret->size = size;
	header_init(&wanted, format, ret->bytes, size);
	if (memcmp(ret->mapping, &wanted, sizeof(wanted)) == 0)
		return true;
	log_damaged(name);
	cachefile_unmap(ret);
	return false;
}

void cachefile_unmap(struct cachefile_map *map)
{
	munmap(map->mapping, sizeof(struct header) + map->size);
}

/* A file of the folder. */
struct cached {
	char name[NAME_MAX + 1];
	struct timespec written;
	uint64_t size;
};

static int compare_age(const void *left, const void *right)
{
	const struct cached *a = left;
	const struct cached *b = right;

	if (a->written.tv_sec != b->written.tv_sec)
		return a->written.tv_sec < b->written.tv_sec ? -1 : 1;
	return a->written.tv_nsec < b->written.tv_nsec
		       ? -1
		       : a->written.tv_nsec > b->written.tv_nsec;
}

/* The bytes of all files; false when out of memory. */
static bool list_files(DIR *directory, struct vec *ret, uint64_t *ret_size)
{
	const struct dirent *entry;
	struct cached file;
	struct stat status;

	*ret_size = 0;
	while ((entry = readdir(directory))) {
		if (fstatat(dirfd(directory), entry->d_name, &status,
			    AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(status.st_mode))
			continue;
		snprintf(file.name, sizeof(file.name), "%s", entry->d_name);
		file.written = status.st_mtim;
		file.size = (uint64_t)status.st_size;
		*ret_size += file.size;
		if (!vec_push(ret, &file))
			return false;
	}
	return true;
}

void cachefile_prune(int folder, uint64_t most)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_closedir DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	struct vec files = VEC_INIT(struct cached);
	uint64_t size;

	if (directory && list_files(directory, &files, &size) && size > most) {
		qsort(files.items, files.count, files.size, compare_age);
		for (size_t i = 0; i < files.count && size > most; i++) {
			const struct cached *file = vec_at(&files, i);

			if (unlinkat(folder, file->name, 0) == 0)
				size -= file->size;
		}
	}
	vec_deinit(&files);
}

/* False leaves a file that is not whole. */
static bool write_whole(int folder, const char *name,
			const struct header *header, const void *bytes)
{
	cleanup_close int fd = openat(
		folder, name,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd >= 0 &&
	       write(fd, header, sizeof(*header)) == (ssize_t)sizeof(*header) &&
	       write(fd, bytes, header->size) == (ssize_t)header->size;
}

void cachefile_write(const char *name, uint32_t format, const void *bytes,
		     size_t size)
{
	cleanup_close int folder = -1;
	struct header header;
	char temporary[64];

	if (size > CACHEFILE_MAX)
		return;
	folder = open_folder(true);
	if (folder < 0)
		return;
	header_init(&header, format, bytes, size);
	/* no other process, and none of before, has that name */
	snprintf(temporary, sizeof(temporary), ".%d-%llx", (int)getpid(),
		 (unsigned long long)clock_now_ns());
	if (!write_whole(folder, temporary, &header, bytes) ||
	    renameat(folder, temporary, folder, name) < 0)
		unlinkat(folder, temporary, 0);
	cachefile_prune(folder, CACHEFILE_ALL_MAX);
}

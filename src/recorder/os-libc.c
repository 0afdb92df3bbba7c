/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorder/os.h by the C library: for tests, and for recorders that have one.
 */
#include "recorder/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void *or_die(void *memory)
{
	if (!memory || memory == MAP_FAILED) {
		fputs("racewatch: no memory for the recording\n", stderr);
		/* exit-allowed: the process is the recorded one, not ours */
		_exit(125);
	}
	return memory;
}

void *os_map(size_t size)
{
	return or_die(mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

void os_unmap(void *bytes, size_t size)
{
	munmap(bytes, size);
}

void *os_map_file(const char *path, size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *bytes = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (ftruncate(fd, (off_t)size) == 0)
		bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			     0);
	close(fd);
	return bytes == MAP_FAILED ? NULL : bytes;
}

void *os_alloc(size_t size)
{
	return or_die(calloc(1, size));
}

void os_free(void *block)
{
	free(block);
}

int os_create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
		      0600);

	if (fd < 0)
		return errno == EEXIST ? -1 : -2;
	return fd;
}

int os_open(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC);
}

void os_close(int fd)
{
	close(fd);
}

bool os_write(int fd, const void *bytes, size_t size)
{
	const char *from = bytes;

	while (size > 0) {
		ssize_t n = write(fd, from, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		from += n;
		size -= (size_t)n;
	}
	return true;
}

bool os_read_at(int fd, uint64_t offset, void *bytes, size_t size)
{
	char *to = bytes;

	while (size > 0) {
		ssize_t n = pread(fd, to, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		to += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return true;
}

bool os_truncate(int fd, uint64_t size)
{
	return ftruncate(fd, (off_t)size) == 0;
}

uint64_t os_size(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 ? (uint64_t)status.st_size : 0;
}

void os_copy(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
}

int os_compare(const void *a, const void *b, size_t size)
{
	return memcmp(a, b, size);
}

size_t os_length(const char *text)
{
	return strlen(text);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t os_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t os_realtime(void)
{
	return read_clock(CLOCK_REALTIME);
}

int os_pid(void)
{
	return getpid();
}

int os_parent_pid(void)
{
	return getppid();
}

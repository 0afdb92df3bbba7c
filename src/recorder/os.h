/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a recorder needs of its surroundings. Recorders run inside another
 * program's process, partly without a C library, so each has its own
 * os-NAME.c.
 */
#ifndef RECORDER_OS_H
#define RECORDER_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Zeroed memory in whole pages. Does not return without memory: the process is
 * the recorded one, and ends with the recorder's message.
 */
void *os_map(size_t size);
void os_unmap(void *bytes, size_t size);

/*
 * Memory that is a file of this size: created if it does not exist, and shared
 * with the processes that map it, too. NULL: it cannot be.
 */
void *os_map_file(const char *path, size_t size);

/* A small, zeroed block; does not return without memory either. */
void *os_alloc(size_t size);
void os_free(void *block);

/* Create a file for appending; -1: it exists, -2: it cannot be created. */
int os_create(const char *path);
/* Open a file for reading; -1: cannot. */
int os_open(const char *path);
void os_close(int fd);
/* Whether all of it was written, or read. */
bool os_write(int fd, const void *bytes, size_t size);
bool os_read_at(int fd, uint64_t offset, void *bytes, size_t size);
/* Whether the file has that size now. */
bool os_truncate(int fd, uint64_t size);
/* The file's size; 0: not known. */
uint64_t os_size(int fd);

void os_copy(void *to, const void *from, size_t size);
int os_compare(const void *a, const void *b, size_t size);
size_t os_length(const char *text);

/* CLOCK_MONOTONIC and CLOCK_REALTIME, in ns. */
uint64_t os_ns(void);
uint64_t os_realtime(void);

int os_pid(void);
int os_parent_pid(void);

#endif

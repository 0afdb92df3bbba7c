/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening files that others name. A path that stands in a program's debug
 * information may be that of a device, whose opening does something, or of a
 * FIFO, whose opening waits. What it leads to is looked at first, and only
 * a regular file is opened: the very one that was looked at.
 */
#ifndef BASE_REGULAR_H
#define BASE_REGULAR_H

#include <sys/stat.h>

struct error;

/*
 * Open path for reading; name is what messages call it. *ret is closed on exec
 * and is the caller's. ERROR_FORMAT for what is no regular file.
 */
struct error *regular_open(const char *path, const char *name, int *ret,
			   struct stat *ret_status);

/* What the path leads to, as stat(2) tells it, of whatever type. */
struct error *regular_stat(const char *path, const char *name,
			   struct stat *ret_status);

/* The error for a file of another type. */
struct error *regular_refuse(const char *name);

#endif

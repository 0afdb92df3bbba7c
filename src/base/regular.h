/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening files that others name. A path in a program's debug information may
 * be that of a device or a FIFO: to open a device may have an effect, and to
 * open a FIFO may block. So the file is checked first, and opened only if it is
 * regular; the file opened is the one checked.
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

/* stat(2) of the path, whatever the type of the file. */
struct error *regular_stat(const char *path, const char *name,
			   struct stat *ret_status);

/* The error for a file of another type. */
struct error *regular_refuse(const char *name);

#endif

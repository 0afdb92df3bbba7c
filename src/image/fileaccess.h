/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the files of an image are opened: by which process, and with whose
 * rights. Private to src/image. A file that a process has mapped is opened with
 * our rights, since device and inode identify it. Files that its files name
 * (debug files, sources) are opened with the rights of the process.
 */
#ifndef IMAGE_FILEACCESS_H
#define IMAGE_FILEACCESS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/rights.h"

struct error;
struct opener;

struct file_access {
	struct opener *opener; /* borrowed; NULL: see base/opener.h */
	pid_t pid; /* 0: a file alone; then all rights are ours */
	struct rights rights; /* of pid, as they were last */
};

/*
 * The rights of the process; NULL: our own, which is so for access NULL too.
 * Those it had last when it has ended.
 */
const struct rights *file_access_rights(struct file_access *access);

/* Open a file that the process has mapped, or that we name; opener_open(). */
struct error *file_access_open_own(struct file_access *access, const char *path,
				   const char *name, int *ret,
				   struct stat *ret_status);
/* Open a file that the process or one of its files names. */
struct error *file_access_open_named(struct file_access *access,
				     const char *path, int *ret,
				     struct stat *ret_status);

/* As stat(2), of a file that the process has mapped. */
struct error *file_access_stat_own(struct file_access *access, const char *path,
				   struct stat *ret);

#endif

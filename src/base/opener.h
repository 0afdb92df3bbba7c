/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens all files that a watched program names: by its mappings, its ELF files,
 * its debug information. A separate process opens them, since a file system may
 * not answer if a process serves it (FUSE); that process may even be the
 * watched program, which is stopped. We wait for the opening process up to a
 * limit, then abandon it. It opens only regular files, with the rights that the
 * caller asks for.
 */
#ifndef BASE_OPENER_H
#define BASE_OPENER_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct error;
struct opener;
struct rights;

struct open_request {
	const char *path;
	const char *name; /* in messages; NULL: the path */
	const struct rights *rights; /* NULL: our own */
};

/*
 * Start the process. limit_ns: how long the first file may take, or any part of
 * a large one. Each file that takes longer halves the limit; after
 * OPENER_LOST_MAX of them no file is opened any more. 0: the default limit.
 */
struct error *opener_create(uint64_t limit_ns, struct opener **ret);
enum { OPENER_LOST_MAX = 8 };
/* The number of the process, for a filter of signals. */
pid_t opener_pid(const struct opener *opener);
/* NULL is fine. Does not wait for a process that hangs. */
void opener_destroy(struct opener *opener);

/*
 * Open a regular file for reading: *ret is the caller's and closed on exec. It
 * is the file itself or, of a file system that a process serves, a copy in
 * memory, so that reading it never waits. *ret_status is the file's in either
 * case. opener NULL: here and now, without a limit, and without a copy.
 */
struct error *opener_open(struct opener *opener,
			  const struct open_request *request, int *ret,
			  struct stat *ret_status);

/* As stat(2). */
struct error *opener_stat(struct opener *opener,
			  const struct open_request *request,
			  struct stat *ret_status);

#endif

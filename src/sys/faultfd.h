/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * userfaultfd(2) for the memory of another process: it makes the descriptor,
 * and its tracer takes that over and serves the pages. An access to a page that
 * is not there, or a write to one that is write-protected, is the signal SIGBUS
 * (UFFD_FEATURE_SIGBUS): nobody ever waits. Needs Linux 5.11, no privilege.
 */
#ifndef SYS_FAULTFD_H
#define SYS_FAULTFD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

/*
 * For the calling process's memory; -1 with errno. No allocation, no output:
 * it may be called between fork(2) and the end of the child.
 */
int faultfd_open(void);

/* Serve the range, which is anonymous memory, page-aligned. */
struct error *faultfd_register(int fd, uint64_t start, uint64_t end);

/*
 * Put one page there, which must not be there yet; `bytes' are a whole page.
 * ERROR_OTHER with the code EEXIST: it is there.
 */
struct error *faultfd_copy(int fd, uint64_t page, const uint8_t *bytes,
			   bool write_protected);

/* Change the protection of a page that is there. */
struct error *faultfd_protect(int fd, uint64_t page, bool write_protected);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What stands behind the pages of a process that are not in memory, so that
 * nobody brings a page in that a program has to serve: the program may be the
 * one that is being held.
 *
 * Anonymous memory may be served too (userfaultfd(2)). That does not need to be
 * known: /proc/PID/mem does not wait for it (memory.c).
 */
#ifndef SYS_BACKING_H
#define SYS_BACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum backing_kind {
	BACKING_NONE, /* nothing is mapped there */
	BACKING_MEMORY, /* anonymous or shared memory */
	BACKING_DISK, /* a file of a local file system */
	/* a file that a process or another machine provides, or unknown */
	BACKING_SERVED,
};

struct backing;

/*
 * tid: a thread of the process that has not ended. NULL without memory:
 * backing_of() then says that all is served.
 */
struct backing *backing_create(pid_t tid);
void backing_destroy(struct backing *backing);

/*
 * From now on what one of the two learns of a file system is known to the other,
 * too. Either may be destroyed first. NULL: nothing is shared.
 */
void backing_share(struct backing *backing, struct backing *other);

/*
 * What is behind the page of this address now. Costs a system call on Linux
 * 6.11, and reading /proc/PID/maps up to there before. What is known of a file
 * system is kept for a second.
 */
enum backing_kind backing_of(struct backing *backing, uint64_t address);

/*
 * The same, of all pages from there to *ret_end: of one where nothing is mapped, or
 * nothing known.
 */
enum backing_kind backing_until(struct backing *backing, uint64_t address,
				uint64_t *ret_end);

/* Will the next question cost a system call and no more? Not so the first one. */
bool backing_is_quick(const struct backing *backing);

/*
 * The kind of files on this device, by a text in the form of
 * /proc/PID/mountinfo. A device that no line has is BACKING_NONE.
 */
enum backing_kind backing_parse_mounts(const char *mounts, uint32_t dev_major,
				       uint32_t dev_minor);

/* Addresses from start up to end that have the same behind them. */
struct backing_range {
	uint64_t start, end;
	bool mapped; /* private memory of no file; else nothing */
};

/*
 * The range around the address, by one system call. False: a file or shared memory is
 * behind it, or it is not known, as always before Linux 6.11.
 */
bool backing_range(struct backing *backing, uint64_t address,
		   struct backing_range *ret);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a process may do with files: its user, groups and capabilities, and
 * taking them on for a while. Files that a program names are opened with the
 * program's rights, so that nothing is read for it that it could not read.
 */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

/* Of more groups the first count: rights are never added. */
enum { RIGHTS_GROUPS_MAX = 256 };

/* All zero: our own. */
struct rights {
	bool foreign; /* what follows is set, and less than ours or others' */
	bool keep_ids; /* ours stay, as we may not change them */
	uid_t uid;
	gid_t gid;
	uint32_t group_count;
	gid_t groups[RIGHTS_GROUPS_MAX];
	uint64_t capabilities; /* effective; see capabilities(7) */
};

/*
 * The rights of a process with files, as /proc/PID/status tells them. They are
 * our own if it runs for our user and we have no privileges. Where ours are
 * privileged but do not allow to change the user, only the privileges go.
 * error_gone when it has ended.
 */
struct error *rights_of(pid_t pid, struct rights *ret);

/* The same from the text of that file; ERROR_FORMAT if it is not that. */
struct error *rights_parse(const char *status, struct rights *ret);

/* Does the process run for another user than we do? */
bool rights_differ(const struct rights *rights);

/* Our own while others are taken on. */
struct rights_saved {
	struct rights own;
	bool taken;
};

/*
 * Take them on, for access to files by this thread, until rights_restore().
 * The process must have one thread. On failure ours are as they were.
 */
struct error *rights_assume(const struct rights *rights,
			    struct rights_saved *ret);
/* False: ours could not be had back, which does not happen to a sane kernel. */
bool rights_restore(const struct rights_saved *saved);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rights of a process with files: its user, groups and capabilities; and
 * assuming them for a while. Files that a program names are opened with the
 * program's rights, so that no file is read that the program could not read.
 */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

/* If there are more groups, the first ones count: rights are never added. */
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
 * our own if it runs as our user and we have no privileges. If we have
 * privileges but may not change the user, the rights are ours without the
 * privileges. error_gone when the process has ended.
 */
struct error *rights_of(pid_t pid, struct rights *ret);

/* The same from the text of that file; ERROR_FORMAT if it is not that. */
struct error *rights_parse(const char *status, struct rights *ret);

/* Does the process run for another user than we do? */
bool rights_differ(const struct rights *rights);

/*
 * Give up for good all capabilities but those of `keep', in all sets of this
 * process, which has one thread. Its user and groups stay. Without CAP_SYS_PTRACE
 * a process can be read only by who has all its capabilities: then the permitted
 * and effective ones stay too, which are no more than those of such a process.
 */
struct error *rights_reduce(uint64_t keep);

/* Our own rights while others are assumed. */
struct rights_saved {
	struct rights own;
	bool taken;
};

/*
 * Assume them, for access to files by this thread, until rights_restore(). The
 * process must have one thread. On failure our rights are unchanged.
 */
struct error *rights_assume(const struct rights *rights,
			    struct rights_saved *ret);
/*
 * False: our rights could not be restored, which a correct kernel does not do.
 */
bool rights_restore(const struct rights_saved *saved);

#endif

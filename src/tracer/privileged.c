/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs with privileges of their own; see privileged.h.
 */
#include "tracer/privileged.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/error.h"
#include "tracee/process.h"
#include "tracer/core.h"

/* Would it have the privileges of others than us? */
static bool privileged_is(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return false;
	return ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
	       ((status.st_mode & S_ISGID) && status.st_gid != getegid()) ||
	       getxattr(path, "security.capability", NULL, 0) > 0;
}

void privileged_check(struct privileged *privileged,
		      const struct process *process)
{
	char link[32], path[PATH_MAX];
	ssize_t length;

	/* what was asked for by name was looked at before; root has them all */
	if (process->parent == 0 || privileged->told || geteuid() == 0)
		return;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)process->pid);
	if (!privileged_is(link))
		return;
	length = readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = '\0';
	privileged->told = true;
	core_note(privileged->core,
		  error_create(ERROR_OTHER,
			       "%s has privileges of its own (set-user-ID or "
			       "capabilities): it runs without them while it "
			       "is watched; --follow none does not watch "
			       "children",
			       length > 0 ? path : "a child"));
}

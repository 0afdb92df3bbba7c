/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a process may be traced, and why not; see checks.h. It is asked by
 * opening its memory, which takes the same rights (ptrace(2), "Ptrace access
 * mode checking") and disturbs nobody.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "doctor/checks-list.h"
#include "sys/identity.h"
#include "sys/policy.h"

/* Not dumpable: the files of its owner belong to root (proc(5)). */
static bool process_undumpable(const struct check_context *context)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)context->live);
	return context->identity->uid != 0 && stat(path, &status) == 0 &&
	       status.st_uid != context->identity->uid;
}

bool check_same_namespace(const struct check_context *context, const char *name)
{
	struct stat ours, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	if (stat(path, &ours) < 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)context->live,
		 name);
	return stat(path, &its) < 0 ||
	       (ours.st_ino == its.st_ino && ours.st_dev == its.st_dev);
}

/* Nothing of the process itself is a reason. */
static void explain_place(const struct check_context *context,
			  struct check *ret)
{
	if (!policy_initial_users()) {
		check_find(ret, CHECK_FAILED,
			   "ptrace(2) is refused: racewatch is in a user "
			   "namespace of its own, or in that of a container");
		check_advise(ret, "run racewatch outside of it");
		return;
	}
	check_find(ret, CHECK_FAILED, "ptrace(2) is refused%s",
		   check_same_namespace(context, "user")
			   ? ", by a container or a security module"
			   : ": it is in another user namespace");
	check_advise(ret, CHECK_CONTAINER ", or run racewatch outside of the "
					  "container");
}

/* Why the kernel says no, most likely first. */
static void explain_access(const struct check_context *context,
			   struct check *ret)
{
	const struct identity *identity = context->identity;
	long scope = policy_number(POLICY_YAMA, 0);
	struct identity own = { .tid = 0 };

	error_free(identity_read(getpid(), &own));
	if (policy_deny_ptrace()) {
		check_find(ret, CHECK_FAILED,
			   "ptrace(2) is refused: SELinux's boolean "
			   "deny_ptrace is on");
		check_advise(ret, "setsebool deny_ptrace 0");
	} else if (scope > 2) {
		check_find(ret, CHECK_FAILED,
			   "ptrace(2) is refused: kernel.yama.ptrace_scope is "
			   "%ld, and nothing may be traced until the next boot",
			   scope);
		check_advise(ret, "take it out of /etc/sysctl.d and boot "
				  "again");
	} else if (own.uid != identity->uid ||
		   own.real_uid != identity->real_uid) {
		check_find(ret, CHECK_FAILED,
			   "ptrace(2) is refused: it belongs to another user "
			   "(%u; racewatch is %u)",
			   (unsigned int)identity->uid, (unsigned int)own.uid);
		check_advise_capability(ret, "", CHECK_OTHERS,
					", or run it as that user");
	} else if (process_undumpable(context)) {
		check_find(ret, CHECK_FAILED,
			   "ptrace(2) is refused: it is not dumpable "
			   "(prctl(PR_SET_DUMPABLE), or privileges gained or "
			   "given up)");
		check_advise_capability(ret, "", CHECK_OTHERS, "");
	} else if (identity->capabilities & ~own.capabilities) {
		check_find(ret, CHECK_FAILED,
			   "ptrace(2) is refused: it has capabilities that "
			   "racewatch has not");
		check_advise_capability(ret, "", CHECK_PTRACE, "");
	} else if (scope > 0) {
		check_find(ret, CHECK_FAILED,
			   "ptrace(2) is refused: kernel.yama.ptrace_scope is "
			   "%ld",
			   scope);
		check_advise_capability(
			ret, "sysctl -w kernel.yama.ptrace_scope=0, or ",
			CHECK_PTRACE, "");
	} else {
		explain_place(context, ret);
	}
}

void check_look_access(struct check_context *context, struct check *ret)
{
	cleanup_close int fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)context->live);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		check_find(ret, CHECK_OK, "user %u's, and it may be traced",
			   (unsigned int)context->identity->uid);
	else if (errno == EACCES || errno == EPERM)
		explain_access(context, ret);
	else
		check_find(ret, CHECK_WARNING, "%s: %s", path, strerror(errno));
}

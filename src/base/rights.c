/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rights with files; see rights.h. setfsuid(2) takes the capabilities that
 * pass permissions out of the effective set only when it leaves user 0, and
 * leaves others, CAP_SYS_PTRACE for one, which opens /proc/PID/root. So the
 * effective set is cut to what the program has; all of it is permitted still,
 * and comes back at the end. System calls and not the C library's functions:
 * its setgroups() is for all threads.
 */
#include "base/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

struct capability_sets {
	uint64_t effective, permitted, inheritable;
};

static bool capabilities_get(struct capability_sets *ret)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	ret->effective = (uint64_t)data[1].effective << 32 | data[0].effective;
	ret->permitted = (uint64_t)data[1].permitted << 32 | data[0].permitted;
	ret->inheritable = (uint64_t)data[1].inheritable << 32 |
			   data[0].inheritable;
	return true;
}

static bool capabilities_set(const struct capability_sets *sets)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	for (int i = 0; i < 2; i++) {
		data[i].effective = (uint32_t)(sets->effective >> 32 * i);
		data[i].permitted = (uint32_t)(sets->permitted >> 32 * i);
		data[i].inheritable = (uint32_t)(sets->inheritable >> 32 * i);
	}
	return syscall(SYS_capset, &header, data) == 0;
}

static bool capabilities_set_effective(uint64_t effective)
{
	struct capability_sets sets;

	if (!capabilities_get(&sets))
		return false;
	effective &= sets.permitted;
	if (effective == sets.effective)
		return true;
	sets.effective = effective;
	return capabilities_set(&sets);
}

static uint64_t capabilities_effective(void)
{
	struct capability_sets sets = { 0 };

	capabilities_get(&sets);
	return sets.effective;
}

/* What follows "\nNAME:\t", or NULL. */
static const char *value_of(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	return line ? line + strlen(name) : NULL;
}

/* The fourth of "Uid:" or "Gid:" is for access to files (proc(5)). */
static bool fourth_number(const char *text, uint32_t *ret)
{
	char *rest;

	for (int i = 0; text && i < 4; i++) {
		errno = 0;
		*ret = (uint32_t)strtoul(text, &rest, 10);
		if (rest == text || errno)
			return false;
		text = rest;
	}
	return text != NULL;
}

static void read_groups(const char *text, struct rights *rights)
{
	while (text && rights->group_count < RIGHTS_GROUPS_MAX) {
		char *rest;
		unsigned long group;

		text += strspn(text, " ");
		if (*text < '0' || *text > '9')
			return;
		group = strtoul(text, &rest, 10);
		rights->groups[rights->group_count++] = (gid_t)group;
		text = rest;
	}
}

struct error *rights_parse(const char *status, struct rights *ret)
{
	const char *capabilities = value_of(status, "\nCapEff:\t");
	struct rights rights = { .foreign = true };

	if (!fourth_number(value_of(status, "\nUid:\t"), &rights.uid) ||
	    !fourth_number(value_of(status, "\nGid:\t"), &rights.gid) ||
	    !capabilities)
		return error_create(ERROR_FORMAT,
				    "/proc/PID/status is malformed");
	read_groups(value_of(status, "\nGroups:\t"), &rights);
	rights.capabilities = strtoull(capabilities, NULL, 16);
	*ret = rights;
	return NULL;
}

static struct error *read_status(pid_t pid, char *text, size_t size)
{
	char path[32];
	size_t done = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_os(errno == ENOENT ? ESRCH : errno, "%s", path);
	for (;;) {
		ssize_t n = read(fd, text + done, size - 1 - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_os(errno, "%s", path);
		if (n == 0 || done + (size_t)n == size - 1) {
			text[done + (size_t)n] = '\0';
			return NULL;
		}
		done += (size_t)n;
	}
}

/* What lets us read what our user may not, or become another. */
static uint64_t privileges(void)
{
	return capabilities_effective() &
	       ((UINT64_C(1) << CAP_DAC_OVERRIDE) |
		(UINT64_C(1) << CAP_DAC_READ_SEARCH) |
		(UINT64_C(1) << CAP_SYS_PTRACE) |
		(UINT64_C(1) << CAP_SYS_ADMIN) | (UINT64_C(1) << CAP_SETUID));
}

static bool may_change_ids(void)
{
	const uint64_t needed = (UINT64_C(1) << CAP_SETUID) |
				(UINT64_C(1) << CAP_SETGID);

	return (capabilities_effective() & needed) == needed;
}

struct error *rights_of(pid_t pid, struct rights *ret)
{
	/* "Groups:" has eleven bytes for each of them */
	enum { STATUS_SIZE = 16 << 10 };
	cleanup_free char *status = malloc(STATUS_SIZE);
	struct rights rights;
	struct error *err;

	if (!status)
		return error_nomem;
	err = read_status(pid, status, STATUS_SIZE);
	if (!err)
		err = rights_parse(status, &rights);
	if (err)
		return err;
	rights.keep_ids = !may_change_ids();
	if ((rights.uid == geteuid() && rights.gid == getegid() &&
	     (privileges() & ~rights.capabilities) == 0) ||
	    (rights.keep_ids && privileges() == 0))
		rights = (struct rights){ .foreign = false };
	*ret = rights;
	return NULL;
}

bool rights_differ(const struct rights *rights)
{
	return rights->foreign && rights->uid != geteuid();
}

static bool set_groups(const struct rights *rights)
{
	return syscall(SYS_setgroups, (size_t)rights->group_count,
		       rights->groups) == 0;
}

/* The identifiers of both are looked at: setfsuid(2) tells no failure. */
static bool set_ids(const struct rights *rights)
{
	if (!set_groups(rights))
		return false;
	setfsgid(rights->gid);
	setfsuid(rights->uid);
	return (gid_t)setfsgid((gid_t)-1) == rights->gid &&
	       (uid_t)setfsuid((uid_t)-1) == rights->uid;
}

/* All our groups must fit: what is lost here could not be given back. */
static bool read_own(struct rights *ret)
{
	struct rights own = { .foreign = true };
	int count = getgroups(RIGHTS_GROUPS_MAX, own.groups);

	if (count < 0)
		return false;
	own.group_count = (uint32_t)count;
	own.uid = (uid_t)setfsuid((uid_t)-1);
	own.gid = (gid_t)setfsgid((gid_t)-1);
	own.capabilities = capabilities_effective();
	*ret = own;
	return true;
}

bool rights_restore(const struct rights_saved *saved)
{
	/* first what allows the rest; leaving or reaching user 0 changes it */
	return !saved->taken ||
	       (capabilities_set_effective(saved->own.capabilities) &&
		(saved->own.keep_ids || set_ids(&saved->own)) &&
		capabilities_set_effective(saved->own.capabilities));
}

struct error *rights_assume(const struct rights *rights,
			    struct rights_saved *ret)
{
	struct rights_saved saved = { .taken = false };

	if (rights && rights->foreign) {
		if (!read_own(&saved.own))
			return error_os(errno, "our own groups");
		saved.taken = true;
		saved.own.keep_ids = rights->keep_ids;
		if ((!rights->keep_ids && !set_ids(rights)) ||
		    !capabilities_set_effective(saved.own.capabilities &
						rights->capabilities)) {
			rights_restore(&saved);
			return error_create(
				ERROR_REFUSED,
				"the rights of user %u cannot be taken on",
				(unsigned int)rights->uid);
		}
	}
	*ret = saved;
	return NULL;
}

struct error *rights_reduce(uint64_t keep)
{
	struct capability_sets sets;

	if (!capabilities_get(&sets))
		return error_os(errno, "our own capabilities");
	if (!(sets.effective >> CAP_SYS_PTRACE & 1))
		keep |= sets.permitted;
	/* the bounding set, where that is allowed: it matters for programs only */
	for (int i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++) {
		if (!(keep >> i & 1))
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	}
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	sets.permitted &= keep;
	sets.effective &= keep;
	sets.inheritable = 0;
	if (!capabilities_set(&sets))
		return error_os(errno, "give up capabilities");
	return NULL;
}

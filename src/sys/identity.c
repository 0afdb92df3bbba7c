/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who a process is; see identity.h.
 */
#include "sys/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/procfs.h"

enum {
	/* include/linux/sched.h, in the flags of /proc/PID/stat */
	FLAG_KERNEL_THREAD = 0x00200000,
	/* fields of /proc/PID/stat, counted behind the name (proc(5)) */
	STAT_FLAGS = 6,
	STAT_START_TIME = 19,
};

/* What follows "\nNAME:\t", or NULL. */
static const char *status_value(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? line + strlen(name) : NULL;
}

static uint64_t status_number(const char *text, const char *name, int base)
{
	const char *value = status_value(text, name);

	return value ? strtoull(value, NULL, base) : 0;
}

/* The n-th field behind the name, which may hold anything: from the end. */
static uint64_t stat_number(const char *text, int n)
{
	const char *at = strrchr(text, ')');

	for (; at && n >= 0; n--) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

struct error *identity_parse(pid_t tid, const char *status, const char *stat,
			     struct identity *ret)
{
	const char *state = status_value(status, "\nState:\t");
	const char *uids = status_value(status, "\nUid:\t");
	struct identity identity = { .tid = tid };
	char *rest;

	if (!state || !uids || strncmp(status, "Name:\t", 6) != 0 ||
	    !strrchr(stat, ')'))
		return error_create(ERROR_FORMAT,
				    "/proc/%d/status is malformed", (int)tid);
	snprintf(identity.name, sizeof(identity.name), "%.*s",
		 (int)strcspn(status + 6, "\n"), status + 6);
	identity.state = *state;
	identity.real_uid = (uid_t)strtoul(uids, &rest, 10);
	identity.uid = (uid_t)strtoul(rest, NULL, 10);
	identity.process = (pid_t)status_number(status, "\nTgid:\t", 10);
	identity.tracer = (pid_t)status_number(status, "\nTracerPid:\t", 10);
	identity.threads =
		(unsigned int)status_number(status, "\nThreads:\t", 10);
	identity.seccomp =
		(unsigned int)status_number(status, "\nSeccomp:\t", 10);
	identity.capabilities = status_number(status, "\nCapEff:\t", 16);
	identity.kernel = stat_number(stat, STAT_FLAGS) & FLAG_KERNEL_THREAD;
	identity.start_time = stat_number(stat, STAT_START_TIME);
	*ret = identity;
	return NULL;
}

struct error *identity_read(pid_t tid, struct identity *ret)
{
	char status[4096];
	char stat[1024];
	struct error *err;

	err = procfs_text(tid, "status", status, sizeof(status));
	if (!err)
		err = procfs_text(tid, "stat", stat, sizeof(stat));
	return err ? err : identity_parse(tid, status, stat, ret);
}

bool identity_has_no_filter(pid_t tid)
{
	struct identity identity;
	struct error *err = identity_read(tid, &identity);

	error_free(err);
	return !err && identity.seccomp == 0;
}

static bool identity_has_ended(pid_t tid)
{
	struct thread_status status;
	struct error *err = procfs_status(tid, &status);
	bool ended = err || status.state == 'Z' || status.state == 'X';

	error_free(err);
	return ended;
}

static bool visit_live(pid_t tid, void *data)
{
	pid_t *found = data;

	if (identity_has_ended(tid))
		return true;
	*found = tid;
	return false;
}

pid_t identity_live_thread(pid_t pid)
{
	pid_t found = 0;

	if (!identity_has_ended(pid))
		return pid;
	error_free(procfs_threads(pid, visit_live, &found));
	return found;
}
